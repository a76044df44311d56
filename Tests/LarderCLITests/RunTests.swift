import Foundation
import TestSupport
import Testing

@Suite("larder run")
struct RunTests {
    /// An origin whose responses may be stored for some time.
    private static func keepable() -> ScriptedOrigin {
        ScriptedOrigin.answering { request, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: request.target)
        }
    }

    /// A user's folders below one folder, still empty.
    private static func user(_ folder: TemporaryFolder) throws -> [String: String] {
        try FileManager.default.createDirectory(atPath: "\(folder.path)/tmp", withIntermediateDirectories: true)
        let home = folder.path
        return ["folder": home, "HOME": home, "TMPDIR": "\(home)/tmp", "XDG_RUNTIME_DIR": "\(home)/run"]
    }

    /// The test runner may have blocked signals, which its child processes inherit.
    private static let withSignals =
        "perl -MPOSIX -e 'sigprocmask(SIG_UNBLOCK, POSIX::SigSet->new(1..31, 34..64)); $SIG{$_} = \"DEFAULT\" for qw(INT QUIT); exec @ARGV'"

    private static func isSwept(_ folder: TemporaryFolder) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/tmp").isEmpty
    }

    @Test("A run finds in the store what an earlier run fetched, and neither leaves any other file")
    func keepsTheStore() throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let user = try Self.user(folder)
        let words = ["run", "--summary", "--", "curl", "-sS", "-i", "http://127.0.0.1:\(origin.port)/a"]
        let first = try CommandLineTests.larder(words, environment: user)
        #expect(first.code == 0 && first.output.contains("fwd=uri-miss; stored"), "\(first)")
        #expect(first.talk.hasPrefix("larder: 1 request, 0 hits, 0 B saved of "))
        let second = try CommandLineTests.larder(words, environment: user)
        #expect(second.code == 0 && second.output.contains("Cache-Status: Larder; hit"), "\(second)")
        #expect(second.talk.hasPrefix("larder: 1 request, 1 hit, "))
        #expect(second.talk.contains("larder:   127.0.0.1:\(origin.port) 1 request, 1 hit\n"))
        #expect(origin.connectionCount == 1)
        #expect(try Self.isSwept(folder))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [".cache", "tmp"])
    }

    @Test(
        "The exit code is the command's, as in shells",
        arguments: [
            ("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("exec $folder/nothing", 127),
        ] as [(String, Int32)])
    func handsTheCodeOn(script: String, code: Int32) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            "\(Self.withSignals) $larder run -- sh -c \"$script\"", Self.user(folder).merging(["script": script]) { $1 })
        #expect(outcome.code == code)
        #expect(try Self.isSwept(folder))
    }

    @Test(
        "A command that cannot be run exits with 126, a missing one with 127, and invalid settings with 125",
        arguments: [
            (["run", "--", "no-such-command"], 127, "no-such-command: command not found"),
            (["run", "--", "/no/such/command"], 127, "/no/such/command: command not found"),
            (["run", "--", "/etc/passwd"], 126, "/etc/passwd: not an executable program"),
            (["run", "--", "/tmp"], 126, "/tmp: not an executable program"),
            (["run", "--set", "loops=0", "--", "true"], 125, "--set loops: loops:"),
            (["run", "--policy", "/no/such/file", "--", "true"], 125, "/no/such/file: "),
            (["run", "--store", "/dev/null/store", "--", "true"], 125, "cannot open the store"),
            (["run", "--log", "/no/such/folder/log", "--", "true"], 125, "cannot write the log"),
            (["run", "--join", "--", "true"], 125, "Larder is not running"), (["run"], 2, "Which command?"),
            (["run", "--join", "--strict", "--", "true"], 2, "--summary and --strict cannot be used with --join"),
            (["run", "--join", "--summary", "--", "true"], 2, "does not count one command's requests separately"),
            (["run", "--join", "--store", "x", "--", "true"], 2, "the running Larder has its own"),
        ] as [([String], Int32, String)])
    func saysWhatCannotBe(words: [String], code: Int32, sentence: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.larder(words, environment: Self.user(folder))
        #expect(outcome.code == code && outcome.output.isEmpty)
        #expect(outcome.talk.contains(sentence), "\(outcome.talk)")
        #expect(try Self.isSwept(folder))
    }

    @Test("Arguments and variables reach the command byte by byte, in UTF-8 or not; only the variables that Larder sets differ")
    func handsOctetsOn() throws {
        let folder = try TemporaryFolder()
        let script = """
            odd=$(printf 'a\\351\\377b'); export odd SSLKEYLOGFILE=/keys
            $larder run -- sh -c 'printf %s "$1$odd" | od -An -tx1; echo $SSLKEYLOGFILE; env | sort' sh "$odd" > $folder/with
            sh -c 'printf %s "$1$odd" | od -An -tx1; echo $SSLKEYLOGFILE; env | sort' sh "$odd" > $folder/without
            diff $folder/without $folder/with | grep '^[<>]' | grep -a -v 'http://127\\.0\\.0\\.1:\\|larder-run\\.\\|^> no_proxy=$\\|^> NO_PROXY=$\\|^> RSYNC_PROXY=127\\.0\\.0\\.1:\\|NODE_USE\\|NOPROXY=,\\|noproxy=,\\|^> no_grpc_proxy=$'
            head -2 $folder/with
            """
        let outcome = try CommandLineTests.shell(script, Self.user(folder).merging(["LC_ALL": "C"]) { $1 })
        #expect(outcome.output == " 61 e9 ff 62 61 e9 ff 62\n/keys\n", "\(outcome)")
    }

    @Test("A script without a first line runs in a shell")
    func runsScripts() throws {
        let folder = try TemporaryFolder()
        let script = try folder.write("echo \"$1\" && exit 3\n", to: "script")
        chmod(script, 0o755)
        let outcome = try CommandLineTests.larder(["run", "--", script, "a b"], environment: Self.user(folder))
        #expect(outcome.code == 3 && outcome.output == "a b\n")
    }

    @Test(
        "A signal is forwarded to the command, and no files are left",
        arguments: [
            "TERM", "HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "XCPU", "IO", "PWR", "STKFLT", "WINCH",
            "CONT",
            "RTMIN",
        ])
    func handsSignalsOn(name: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            \(Self.withSignals) $larder run -- perl -e '$SIG{\(name)} = sub { print "got \(name)\\n"; exit 9 }; open F, ">", "$ENV{folder}/ready"; close F; sleep 60' &
            until test -e $folder/ready; do kill -0 $! || exit 1; sleep 0.02; done
            kill -XFSZ $!
            perl -e 'kill "\(name)", '$!
            wait $!
            echo $?
            """, Self.user(folder))
        #expect(outcome.output == "got \(name)\n9\n", "\(outcome)")
        #expect(try Self.isSwept(folder))
    }

    @Test(
        "Before the command starts, a termination signal ends Larder, unless it was started with that signal ignored",
        arguments: [("TERM", "", 143), ("HUP", "", 129), ("HUP", "trap '' HUP;", 5), ("USR1", "", 5)] as [(String, String, Int)])
    func endsBeforeTheCommand(name: String, before: String, code: Int) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            mkfifo $folder/policy
            (\(before) exec \(Self.withSignals) $larder run --policy $folder/policy -- sh -c 'exit 5') &
            run=$!
            exec 8> $folder/policy
            kill -\(name) $run
            # It opens the pipe twice, and may have done so only once.
            if test \(code) = 5; then
                exec 8>&-
                while :; do : > $folder/policy; sleep 0.02; done &
                writer=$!
            fi
            wait $run
            echo $?
            kill $writer 2> $folder/said
            """, Self.user(folder))
        #expect(outcome.output == "\(code)\n", "\(outcome)")
        #expect(try Self.isSwept(folder))
    }

    @Test("A log without a reader, or whose reader stops, is reported, and Larder waits for it only for a limited time")
    func waitsForNoReader() throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            mkfifo $folder/log
            $larder run --log $folder/log -- true
            echo $?
            perl -MFcntl -e 'sysopen F, "$ENV{folder}/log", O_RDONLY | O_NONBLOCK; fcntl(F, 1031, 4096); open R, ">", "$ENV{folder}/ready"; close R; sleep 60' > $folder/said 2>&1 &
            until test -e $folder/ready; do sleep 0.02; done
            $larder run --summary --log $folder/log -- curl -sS -o /dev/null "$url/[1-60]"
            echo $?
            kill $!
            $larder run --log /dev/full -- curl -sS -o /dev/null $url/a
            echo $?
            """, Self.user(folder).merging(["url": "http://127.0.0.1:\(origin.port)"]) { $1 })
        #expect(outcome.output == "125\n0\n0\n", "\(outcome)")
        let lines = outcome.talk.split(separator: "\n")
        #expect(lines.first == "larder: cannot write the log \(folder.path)/log: no process reads the pipe")
        #expect(lines.dropFirst().first == "larder: the log \(folder.path)/log is incomplete: no process reads the pipe")
        #expect(lines.dropFirst(2).first?.hasPrefix("larder: 60 requests, ") == true)
        #expect(lines.last == "larder: the log /dev/full is incomplete: No space left on device")
        #expect(try Self.isSwept(folder))
    }

    @Test("A folder for temporary files whose path is too long for a socket is skipped")
    func needsNoShortName() throws {
        let folder = try TemporaryFolder()
        let long = "\(folder.path)/\(String(repeating: "x", count: 100))"
        try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
        let outcome = try CommandLineTests.larder(
            "run", "--", "sh", "-c", "echo $WGETRC", environment: ["HOME": folder.path, "TMPDIR": long])
        #expect(outcome.code == 0 && outcome.output.hasPrefix("/tmp/larder-run."), "\(outcome)")
    }

    @Test("The command has the limits, the descriptors and the terminal's process group that it would have without Larder")
    func leavesTheCommandAsItWas() throws {
        let folder = try TemporaryFolder()
        let script = """
            ulimit -n 100
            exec 7< /dev/null
            looks='ulimit -n; ulimit -c; ulimit -Hc; ls /proc/self/fd; cut -d" " -f5 /proc/self/stat | sed "s/^$$$/own/"; \
            grep -E "Sig(Blk|Ign)" /proc/self/status'
            sh -c "$looks" > $folder/without
            $larder run -- sh -c "$looks" > $folder/with
            diff $folder/without $folder/with && echo same
            """
        let outcome = try CommandLineTests.shell(script, Self.user(folder))
        #expect(outcome.output == "same\n", "\(outcome)")
    }

    @Test("Inherited descriptors above the limit are passed on too, and none of Larder's own")
    func givesOnlyWhatWasGiven() throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            perl -MPOSIX -e 'POSIX::dup2(0, 251); exec @ARGV' sh -c '
                ulimit -Sn 40
                sh -c "ls /proc/self/fd" > $folder/without
                $larder run -- sh -c "ls /proc/self/fd" > $folder/with'
            diff $folder/without $folder/with && grep 251 $folder/with
            """, Self.user(folder))
        #expect(outcome.output == "251\n", "\(outcome)")
    }

    @Test("Two simultaneous runs work beside a running Larder, and report that they cannot write to the store")
    func worksBesideOthers() throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            $larder serve --quiet --listen 127.0.0.1:0 --port-file $folder/port --set log.access.format=off &
            serve=$!
            until test -s $folder/port; do kill -0 $serve || exit 1; sleep 0.02; done
            for name in a b; do
                $larder run --summary -- curl -sS $url/$name > $folder/$name 2> $folder/$name.talk &
                runs="$runs $!"
            done
            for run in $runs; do wait $run && echo well; done
            $larder run --join -- curl -sS $url/c && echo
            kill $serve
            wait $serve
            cat $folder/a $folder/b
            """, Self.user(folder).merging(["url": "http://127.0.0.1:\(origin.port)"]) { $1 })
        #expect(outcome.output == "well\nwell\n/c\n/a/b", "\(outcome)")
        for name in ["a", "b"] {
            let talk = try String(contentsOfFile: "\(folder.path)/\(name).talk", encoding: .utf8)
            #expect(talk.contains("the store is opened read-only, and new responses are kept in memory only: "), "\(talk)")
        }
    }

    @Test("A damaged store is moved aside, and a run names the new file", arguments: ["", "--summary"])
    func reportsDamagedStore(flags: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME; $larder run --store s.sqlite -- true 2> x
            printf '\\245\\245\\245\\245\\245\\245\\245\\245' | dd of=s.sqlite bs=1 seek=100 conv=notrunc 2> x
            $larder run \(flags) --store s.sqlite -- true; echo $?
            ls s.sqlite.damaged-*
            """, ["HOME": folder.path, "TMPDIR": folder.path])
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.first == "0", "\(outcome)")
        let told = outcome.talk.split(separator: "\n").filter { $0.contains("the store was damaged") }
        #expect(told.count == 1 && told[0].contains("was moved to \(folder.path)/\(lines.last ?? "none");"), "\(outcome.talk)")
    }

    @Test("A run works if the home folder is not writable")
    func needsNoHome() throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let outcome = try CommandLineTests.larder(
            "run", "--summary", "--", "curl", "-sS", "http://127.0.0.1:\(origin.port)/a", environment: ["HOME": "/proc"])
        #expect(outcome.code == 0 && outcome.output == "/a")
        #expect(outcome.talk.contains("larder: new responses are kept in memory only: /proc/.cache"))
    }

    @Test("Another proxy in the variables is not used, excluded hosts are not bypassed, and the summary reports both (T47)")
    func takesNothingFromTheVariables() throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let other = ScriptedOrigin.answering { _, connection in connection.respond(body: "other") }
        defer { other.stop() }
        let proxy = "http://127.0.0.1:\(other.port)"
        let outcome = try CommandLineTests.larder(
            "run", "--summary", "--", "curl", "-sS", "http://127.0.0.1:\(origin.port)/a",
            environment: ["http_proxy": proxy, "HTTP_PROXY": proxy, "all_proxy": proxy, "NO_PROXY": "127.0.0.1"])
        #expect(outcome.output == "/a" && other.connectionCount == 0)
        #expect(outcome.talk.contains("larder: 1 request"))
        #expect(outcome.talk.contains("ignored the variable NO_PROXY") && outcome.talk.contains("set upstream.proxy"))
    }

    @Test(
        "Variables that tools prefer to the usual ones also name Larder; those it cannot set are reported once, before the command runs"
    )
    func isNotPassed() throws {
        let folder = try TemporaryFolder()
        let given = [
            "PIP_PROXY": "http://user:secret@other.test:1", "npm_config_noproxy": "localhost", "NPM_CONFIG_NOPROXY": "localhost",
            "no_grpc_proxy": "localhost", "_JAVA_OPTIONS": "-Dhttp.proxyHost=other.test", "MAVEN_OPTS": "-Xmx1g",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.proxy", "GIT_CONFIG_VALUE_0": "http://other.test:1",
        ]
        let outcome = try CommandLineTests.shell(
            """
            $larder run -- sh -c 'echo "$PIP_PROXY" | sed "s|$http_proxy|same|"; echo "$npm_config_noproxy $NPM_CONFIG_NOPROXY ${no_grpc_proxy-unset}"; echo "$_JAVA_OPTIONS"'
            """, Self.user(folder).merging(given) { $1 })
        #expect(outcome.output == "same\n, , \n-Dhttp.proxyHost=other.test\n", "\(outcome)")
        let lines = outcome.talk.split(separator: "\n")
        #expect(lines.first?.hasPrefix("larder: ignored the proxy in PIP_PROXY: ") == true, "\(outcome.talk)")
        #expect(lines.dropFirst().map { $0.split(separator: " ")[1] } == ["_JAVA_OPTIONS", "GIT_CONFIG_KEY_0"])
    }

    @Test("--strict exits with 4 if a rule denied a request of a command that succeeded; a policy's rules apply")
    func isStrict() throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let user = try Self.user(folder)
        _ = try folder.write("rules:\n  - name: not-this\n    match: {path: /b}\n    deny: {reason: no}\n", to: "policy.yaml")
        func run(_ words: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(["run", "--policy", "\(folder.path)/policy.yaml"] + words, environment: user)
        }
        let url = "http://127.0.0.1:\(origin.port)"
        #expect(try run("--strict", "--", "curl", "-sS", "\(url)/a").code == 0)
        let denied = try run("--strict", "--summary", "--", "curl", "-sS", "\(url)/b")
        #expect(denied.code == 4)
        #expect(denied.talk.contains("1 denied\n") && denied.talk.contains("denied (not-this): GET \(url)/b"))
        #expect(try run("--strict", "--", "curl", "-fsS", "\(url)/b").code == 22)
        #expect(try run("--", "curl", "-sS", "\(url)/b").code == 0)
    }

    @Test(
        "--log writes the access log, with or without a summary; without --log, only the command writes output",
        arguments: [true, false])
    func logs(isCounted: Bool) throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let words = ["run", "--log", "\(folder.path)/log"] + (isCounted ? ["--strict"] : [])
        let outcome = try CommandLineTests.larder(
            words + ["--", "curl", "-sS", "http://127.0.0.1:\(origin.port)/a"], environment: Self.user(folder))
        #expect(outcome.output == "/a" && outcome.talk.isEmpty)
        let log = try String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)
        #expect(log.split(separator: "\n").count == 1 && log.contains("\"cache\":\"miss\""))
    }

    @Test("Within the command, larder status reports the Larder of the run")
    func isAsked() throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell("$larder run -- sh -c '$larder status; echo $http_proxy'", Self.user(folder))
        let address = outcome.output.split(separator: "\n").last?.dropFirst("http://".count) ?? ""
        #expect(address.hasPrefix("127.0.0.1:") && outcome.output.contains("listens on   \(address),"), "\(outcome)")
    }

    @Test(
        "Rules match the name of the run, and the summary names the requests that they denied or would deny",
        arguments: ["deny", "report"])
    func matchesItsName(enforce: String) throws {
        let origin = Self.keepable()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let policy = try folder.write(
            """
            egress: {default: deny, enforce: \(enforce), addresses: {private: allow}}
            rules:
              - {name: builds, match: {run: "build-*", path: /a}, allow: {}}
              - {name: never, match: {path: /no}, deny: {}}
            """, to: "policy.yaml")
        let url = "http://127.0.0.1:\(origin.port)"
        func run(_ name: String) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(
                [
                    "run", "--summary", "--name", name, "--policy", policy, "--", "curl", "-sS", "\(url)/a", "\(url)/b",
                    "\(url)/no",
                ],
                environment: Self.user(folder))
        }
        let (build, other) = (try run("build-7"), try run("deploy"))
        let words = enforce == "deny" ? "denied" : "would be denied"
        #expect(build.talk.contains("larder:   \(words) (never): GET \(url)/no\n"), "\(build.talk)")
        #expect(build.talk.contains("larder:   \(words) (egress_denied): GET \(url)/b\n"), "\(build.talk)")
        #expect(!build.talk.contains("\(words) (egress_denied): GET \(url)/a\n"))
        #expect(build.talk.contains(enforce == "deny" ? ", 2 denied" : ", 0 denied, 2 would be denied"), "\(build.talk)")
        #expect(other.talk.contains("larder:   \(words) (egress_denied): GET \(url)/a\n"), "\(other.talk)")
        #expect(build.output.hasPrefix("/a") && other.output.hasPrefix("/a") == (enforce == "report"))
    }

    @Test("The command cannot reload, stop or change the mode of the Larder of the run")
    func cannotBeChanged() throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            $larder run --offline -- sh -c '$larder reload; echo $?; $larder mode live; echo $?; $larder stop; echo $?; $larder mode'
            """, Self.user(folder))
        #expect(outcome.output == "2\n2\n1\noffline\n", "\(outcome)")
        #expect(outcome.talk.contains("a command cannot reload, stop, answer or change the mode of the Larder that runs it\n"))
    }
}
