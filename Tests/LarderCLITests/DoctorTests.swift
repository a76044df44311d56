import Foundation
import TestSupport
import Testing

@Suite("larder doctor")
struct DoctorTests {
    /// A user with a CA and settings for interception, and a Larder that runs during the script.
    private static func outcome(of script: String, _ further: [String: String] = [:]) throws -> CommandLineTests.Outcome {
        let folder = try TemporaryFolder()
        _ = try folder.write(
            """
            listen: ["127.0.0.1:0"]
            store: {path: ":memory:"}
            log: {access: {format: off}}
            tls: {default: {connect: intercept}}

            """, to: ".config/larder/config.yaml")
        try FileManager.default.createDirectory(atPath: "\(folder.path)/tmp", withIntermediateDirectories: true)
        return try CommandLineTests.shell(
            """
            trap 'kill $(jobs -p) 2> /dev/null' EXIT
            mkdir $HOME/tools && ln -s $larder $HOME/tools/larder && PATH=$HOME/tools:$PATH
            sudo() { "$@"; }
            config=$HOME/.config/larder/config.yaml
            ca=$HOME/.local/share/larder/ca
            # Whoever edits a file does this to it.
            editing() {
                printf '#!/bin/sh\\nsed -i "%s" "$1"\\n' "$1" > $HOME/editor
                chmod 755 $HOME/editor
                export EDITOR=$HOME/editor
            }
            again() { larder stop > $HOME/said 2>&1; serve; }
            serve() {
                rm -f $HOME/port
                larder serve --quiet --port-file $HOME/port "$@" &
                until test -s $HOME/port; do kill -0 $! || exit 1; sleep 0.02; done
            }
            # What is wrong, and what is said to mend it.
            named() { larder doctor --client curl | grep -A1 "^bad " | grep -v "^--"; }
            mend() { eval "$(larder doctor --client curl | sed -n 's/^ *fix: //p')" > $HOME/said 2>&1; }
            well() { larder doctor --client curl > $HOME/last && echo "all is well" || cat $HOME/last; }
            larder ca init > $HOME/said 2>&1
            serve
            eval "$(larder env)"
            \(script)
            larder stop > $HOME/said 2>&1
            ls $TMPDIR
            """, ["HOME": folder.path, "TMPDIR": "\(folder.path)/tmp", "XDG_RUNTIME_DIR": folder.path].merging(further) { $1 })
    }

    @Test(
        "doctor finds a root that was replaced on disk while the running Larder uses the former one, and larder reload fixes it",
        arguments: [
            "",
            "sed -i '/^tls:/d' $config; larder stop > $HOME/said 2>&1; serve --set 'tls.default={connect: intercept}'; eval \"$(larder env)\"",
        ])
    func findsReplacedRoots(setUp: String) throws {
        let outcome = try Self.outcome(
            of: """
                \(setUp)
                mv $ca $ca.before && larder ca init > $HOME/said 2>&1
                named; mend; eval "$(larder env)"; well
                """)
        #expect(outcome.output.contains("was replaced; the running Larder still uses the former root certificate"), "\(outcome)")
        #expect(outcome.output.contains("fix: larder reload && eval"), "\(outcome)")
        #expect(outcome.output.hasSuffix("all is well\n"), "\(outcome)")
    }

    @Test("If everything works, each check says so, the exit code is 0, and no file is left")
    func isContent() throws {
        let outcome = try Self.outcome(
            of: "larder doctor --client curl; echo $?; larder doctor --client curl -o json | grep -c '\"good\"'")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.dropLast(2).allSatisfy { $0.hasPrefix("good ") }, "\(outcome)")
        #expect(lines.contains("good     curl, http: uses Larder"))
        #expect(lines.contains("good     curl, https: trusts Larder's root certificate"))
        #expect(lines.suffix(2) == ["0", "\(lines.count - 2)"])
    }

    @Test(
        "Each problem is reported with a command, and the command fixes it",
        arguments: [
            (
                "export http_proxy=http://127.0.0.1:1",
                "bad      proxy variables: http_proxy is http://127.0.0.1:1, but Larder listens on"
            ),
            ("export NO_PROXY=localhost,corp.test", "bad      NO_PROXY: NO_PROXY=localhost,corp.test: these hosts bypass Larder"),
            (
                "export SSL_CERT_FILE=/etc/passwd",
                "bad      trust variables: SSL_CERT_FILE is /etc/passwd, which lacks Larder's root certificate"
            ),
            (
                "cp $SSL_CERT_FILE $HOME/bundle; export SSL_CERT_FILE=$HOME/bundle; larder ca init --folder $HOME/corp > $HOME/said 2>&1; larder ca export --folder $HOME/corp > $HOME/corp.pem; sed -i \"s|tls: {|&hosts: {a.test: {anchors: {bundle: $HOME/corp.pem}}}, |\" $config; larder reload > $HOME/said",
                "which lacks the CA certificate "
            ),
            ("chmod 644 $HOME/.local/share/larder/ca/current/root.key", "root.key: other users can access this file"),
            ("chmod 755 $HOME/.local/share/larder/ca", "ca: other users can access this folder"),
            ("rm -r $HOME/.local/share/larder/ca", "bad      authority: there is no CA in"),
            ("echo > $HOME/.local/share/larder/ca/current/root.key", "root.key is not a private key in PEM"),
            ("echo 'proxy = 127.0.0.1:1' > $HOME/.curlrc", "bad      curl, http: no request arrived"),
            (
                "editing s/stroe/store/; sed -i s/store/stroe/ $config",
                "bad      settings: $config:2:1: unknown key `stroe`; did you mean `store`?"
            ),
            ("rm $ca/current/root.key", "root.key: No such file or directory"),
            (
                "sed -i 's/tls: {/&authority: {passphrase_file: none}, /' $config; editing 's/authority: {[^}]*}, //'",
                "bad      authority: "
            ),
            ("\(Self.locked); chmod 644 $HOME/pass", "pass: other users can access the file"),
            ("\(Self.locked); echo wrong > $HOME/pass; editing s/wrong/secret/", "the passphrase is wrong"),
            (
                "\(Self.locked); sed -i 's/authority: {[^}]*}, //' $config; editing 's,tls: {,&authority: {passphrase_file: '$HOME'/pass}\\, ,'",
                "root.key is encrypted"
            ),
            ("echo 'clients: {passwords: none}' >> $config; editing /clients/d", "bad      settings: $config:5:"),
            ("sed -i 's/tls: {/&pins_from: none, /' $config; editing 's/pins_from: none, //'", "bad      settings: $config:4:"),
            (
                "sed -i 's/tls: {/&hosts: {a.test: {anchors: {bundle: none}}}, /' $config; editing 's/hosts: {[^}]*}}}, //'",
                "bad      settings: $config:4:"
            ),
        ])
    func namesAndMends(breaking: String, named: String) throws {
        // The shell knows a recreated root only the second time, hence two calls of `mend`.
        let outcome = try Self.outcome(of: "\(breaking)\nnamed | sed \"s|$config|\\$config|\"\nmend\nmend\nwell")
        #expect(outcome.output.contains(named), "\(outcome)")
        #expect(!outcome.output.contains("rm "), "nothing that may still be good is deleted")
        #expect(outcome.output.hasSuffix("all is well\n"), "\(outcome)")
    }

    /// A key with a passphrase.
    private static let locked = """
        rm -r $ca; echo secret > $HOME/pass; chmod 600 $HOME/pass; larder ca init --passphrase-file $HOME/pass > $HOME/said 2>&1
        sed -i "s,tls: {,&authority: {passphrase_file: $HOME/pass}\\, ," $config; larder reload > $HOME/said; eval "$(larder env)"
        """

    @Test(
        "The fix for a key of another user makes the current user its owner",
        .enabled(if: getuid() == 0, "only root gives files away"))
    func takesTheKeyBack() throws {
        let outcome = try Self.outcome(of: "chown nobody $ca/current/root.key\nnamed\nmend\nwell")
        #expect(
            outcome.output.contains("root.key belongs to another user") && outcome.output.hasSuffix("all is well\n"),
            "\(outcome)")
    }

    @Test("The fix for a damaged CA moves it aside without deleting it")
    func keepsWhatIsDamaged() throws {
        let outcome = try Self.outcome(of: "for n in 1 2; do echo > $ca/current/root.key; mend; done; ls -d $ca* | sed s,.*/,,")
        #expect(outcome.output == "ca\nca.bad\nca.bad2\n", "\(outcome)")
    }

    @Test("If another program uses the port, doctor reports this, and another port fixes it")
    func namesTheTakenPort() throws {
        let outcome = try Self.outcome(
            of: """
                larder stop > $HOME/said
                XDG_RUNTIME_DIR=$HOME/other serve
                other=$!
                sed -i "s/127.0.0.1:0/127.0.0.1:$(cat $HOME/port)/" $config
                named
                mend
                until larder status > $HOME/said 2>&1; do sleep 0.02; done
                eval "$(larder env)"
                well
                kill $other
                """)
        #expect(outcome.output.contains("could not start: cannot listen on 127.0.0.1:"), "\(outcome)")
        #expect(outcome.output.hasSuffix("all is well\n"), "\(outcome)")
    }

    @Test(
        "Intended settings are reported as such, stop no Larder, and are fixed by changing the settings",
        arguments: [
            (
                "larder stop > $HOME/said; echo 'admin: {socket: off}' >> $config; editing /admin/d",
                "notable  larder: admin.socket is off", "${EDITOR:-vi} $config"
            ),
            (
                "sed -i 's/^listen.*/listen: [{address: \"127.0.0.1:0\", tls: {certificate: authority}}]/' $config; again",
                "notable  larder: the running Larder has no listener for plain HTTP", "${EDITOR:-vi} $config"
            ),
            (
                "echo 'a:$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy' > $HOME/pass; chmod 600 $HOME/pass; echo \"clients: {passwords: $HOME/pass, authenticate: all}\" >> $config; again; eval \"$(larder env)\"",
                "bad      request: clients.authenticate requires every client to authenticate",
                "${EDITOR:-vi} $config && larder reload"
            ),
            ("echo 'mode: offline' >> $config; again; eval \"$(larder env)\"", "skipped  request: Larder is offline", ""),
        ])
    func respectsChoices(choice: String, told: String, remedy: String) throws {
        let outcome = try Self.outcome(of: "\(choice)\nlarder doctor --client curl | sed \"s|$config|\\$config|\"")
        #expect(outcome.output.contains(told), "\(outcome)")
        #expect(!outcome.output.contains("larder stop"))
        if !remedy.isEmpty { #expect(outcome.output.contains("fix: \(remedy)\n")) }
    }

    @Test("doctor contacts no other host, neither a configured proxy nor a package index, and prints no password")
    func staysHere() throws {
        let other = ScriptedOrigin.answering { _, connection in connection.respond(body: "other") }
        defer { other.stop() }
        let outcome = try Self.outcome(
            of: """
                export PIP_EXTRA_INDEX_URL=http://$other/simple GOPRIVATE=larder.test PIP_FIND_LINKS=http://$other/links
                larder doctor --client pip --client go > $HOME/said
                echo "upstream: {proxy: 'http://bob:hunter2@$other'}" >> $config
                again
                http_proxy=http://bob:hunter2@$other https_proxy=bob:hun/ter2@$other larder doctor -o json
                """, ["other": "127.0.0.1:\(other.port)"])
        #expect(
            outcome.output.contains("larder doctor tries no programs, because their test requests")
                && outcome.output.contains("http://127.0.0.1:\(other.port),")
        )
        #expect(outcome.output.contains("requests take the way proxy (http://127.0.0.1"), "\(outcome)")
        #expect(!outcome.output.contains("ter2"), "\(outcome)")
        #expect(other.connectionCount == 0)
    }

    /// A replacement for a program that may not be installed.
    private static func npm(_ script: String) -> String {
        """
        mkdir $HOME/bin
        printf '#!/bin/sh\\n%s\\n' '\(script)' > $HOME/bin/npm
        chmod 755 $HOME/bin/npm
        PATH=$HOME/bin:$PATH
        """
    }

    @Test(
        "Folder names that contain words of error messages are ignored; a requested program that is not installed is reported"
    )
    func readsPastPaths() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("", to: "tls ssl certificate/x509")
        let script = Self.npm("curl -sS \"$4\"; echo \"npm error 502, see $TMPDIR/tls/certificate and $8\"")
        let outcome = try Self.outcome(
            of:
                "\(script)\nlarder doctor --client npm | tail -2\nPATH=$HOME/bin:$HOME/tools $larder doctor --client ruby | tail -1",
            ["TMPDIR": "\(folder.path)/tls ssl certificate"])
        let lines = outcome.output.split(separator: "\n")
        #expect(
            lines.prefix(2) == [
                "good     npm, http: uses Larder", "good     npm, https: trusts Larder's root certificate",
            ],
            "\(outcome)")
        #expect(lines.dropFirst(2).first == "skipped  ruby: ruby or timeout (of coreutils) is not installed")
    }

    @Test(
        "If another program listens on port 443, Larder's error about that server shows that the client trusts Larder",
        arguments: [
            "{\"type\":\"about:blank\",\"title\":\"The certificate is not trusted.\",\"code\":\"certificate_not_trusted\"}",
            "  Proxy-Status: larder-00112233; error=tls_certificate_error; details=\"untrusted_root\"",
        ])
    func passesOtherServers(answer: String) throws {
        let script = Self.npm("case $4 in http:*) curl -sS \"$4\" ;; *) cat $HOME/answer ;; esac")
        let outcome = try Self.outcome(
            of: "\(script)\nprintf '%s\\n' \"$answer\" > $HOME/answer\nlarder doctor --client npm | tail -2", ["answer": answer])
        #expect(
            outcome.output.hasSuffix("good     npm, https: trusts Larder's root certificate\n"), "\(outcome)")
    }

    @Test("When a signal ends doctor, it leaves neither files nor processes", arguments: [("INT", 130), ("TERM", 143)])
    func sweepsWhenEnded(name: String, code: Int) throws {
        let script = Self.npm("echo $$ > $HOME/npm; sleep 60")
        let outcome = try Self.outcome(
            of: """
                \(script)
                perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$larder" doctor --client npm &
                until test -s $HOME/npm; do sleep 0.02; done
                kill -\(name) $!
                wait $!
                echo $?
                until ! kill -0 $(cat $HOME/npm) 2> $HOME/said; do sleep 0.02; done
                """)
        #expect(outcome.output == "\(code)\n", "\(outcome)")
    }

    @Test("Without a running Larder, doctor reports this as the problem")
    func missesTheServer() throws {
        let outcome = try Self.outcome(of: "larder stop > $HOME/said; named; serve; eval \"$(larder env)\"; well")
        #expect(outcome.output.hasPrefix("bad      larder: Larder is not running: no process answers on"), "\(outcome)")
        #expect(outcome.output.contains("fix: larder serve &\n") && outcome.output.hasSuffix("all is well\n"))
    }

    @Test(
        "Proxy variables have the level of what is wrong: other spellings of Larder's address are good, and each wrong one is named",
        arguments: [
            ("http_proxy=localhost:$port HTTPS_PROXY=HTTP://127.0.0.1:$port/", "good     proxy variables: set to $url"),
            ("HTTP_PROXY=http://127.0.0.1:1", "bad      proxy variables: HTTP_PROXY is http://127.0.0.1:1, but Larder"),
            (
                "HTTP_PROXY=http://127.0.0.1:1 HTTPS_PROXY=http://127.0.0.1:2",
                "bad      proxy variables: HTTP_PROXY is http://127.0.0.1:1, HTTPS_PROXY is http://127.0.0.1:2, but Larder"
            ),
            ("all_proxy=http://127.0.0.1:1", "notable  proxy variables: all_proxy is http://127.0.0.1:1, but Larder"),
            (
                "http_proxy= HTTP_PROXY=$url",
                "notable  proxy variables: http_proxy not set in this shell: programs that read only"
            ),
            ("NO_PROXY=, no_proxy=", "good     NO_PROXY: "),
            ("NO_PROXY= no_proxy=a.test", "bad      NO_PROXY: no_proxy=a.test: "),
        ])
    func levelsOfVariables(setting: String, line: String) throws {
        let outcome = try Self.outcome(
            of: "url=$http_proxy; port=$(cat $HOME/port); export \(setting); larder doctor --client curl | sed \"s|$url|\\$url|\""
        )
        #expect(outcome.output.split(separator: "\n").contains { $0.hasPrefix(line) }, "\(outcome)")
    }

    @Test("An unknown program is a usage error")
    func knowsItsPrograms() throws {
        let outcome = try CommandLineTests.larder("doctor", "--client", "netscape")
        #expect(outcome.code == 2 && outcome.talk.contains("'netscape' is not one of the programs that doctor can try: curl, "))
    }
}
