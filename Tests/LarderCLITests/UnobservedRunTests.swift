import Foundation
import TestSupport
import Testing

@Suite("Runs that send no request through Larder")
struct UnobservedRunTests {
    /// Programs that ignore the proxy variables, each with the origin's port as its argument.
    enum Program: String, CaseIterable {
        case perl =
            #"perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("127.0.0.1:$ARGV[0]") or die; print $s "GET /a HTTP/1.0\r\n\r\n"; print <$s> ? "got\n" : "none\n"'"#
        /// Node reads the variables from version 22.21 on.
        case node =
            #"node -e 'fetch("http://127.0.0.1:" + process.argv[1] + "/a").then(r => r.text()).then(() => console.log("got"))'"#

        var isInstalled: Bool {
            switch self {
            case .perl: true
            case .node:
                (try? CommandLineTests.shell("node --version | grep '^v\\(1[89]\\|20\\)\\.'", [:]).code) == 0
            }
        }
    }

    private final class Stage {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        deinit { origin.stop() }

        /// A script in the folder; `$url` and `$port` are the origin's.
        func shell(_ script: String, _ variables: [String: String] = [:]) throws -> CommandLineTests.Outcome {
            let given = [
                "HOME": folder.path, "TMPDIR": folder.path, "port": "\(origin.port)", "url": "http://127.0.0.1:\(origin.port)",
            ]
            return try CommandLineTests.shell("cd $HOME; \(script)", given.merging(variables) { $1 })
        }
    }

    private static let sentence =
        "larder: no request came through Larder: either the command sent no request, or it ignores the proxy variables; --netns runs it in a "
        + "network namespace where it can reach only Larder\n"

    @Test("record and replay report a program that ignores the proxy, and --strict exits with 4", arguments: Program.allCases)
    func reportsTheBypass(program: Program) throws {
        guard program.isInstalled else { return }
        let stage = try Stage()
        func larder(_ words: String) throws -> CommandLineTests.Outcome {
            try stage.shell("$larder \(words) -- \(program.rawValue) $port")
        }
        let lax = try larder("record -o lax.larder")
        #expect(lax.code == 0 && lax.output == "got\n" && lax.talk.contains(Self.sentence), "\(lax)")
        let recorded = try larder("record --strict -o job.larder")
        #expect(recorded.code == 4 && recorded.output == "got\n" && recorded.talk.contains(Self.sentence), "\(recorded)")
        let replayed = try larder("replay --strict job.larder")
        #expect(replayed.code == 4 && replayed.output == "got\n" && replayed.talk.contains(Self.sentence), "\(replayed)")
        let quiet = try larder("replay --quiet --strict job.larder")
        #expect(quiet.code == 4 && quiet.talk == Self.sentence, "\(quiet)")
        #expect(try larder("replay job.larder").code == 0)
        #expect(stage.origin.requestHeads.count == 5)
    }

    @Test("run reports such a program with --summary and with --strict, which exits with 4", arguments: Program.allCases)
    func reportsTheBypassOfRun(program: Program) throws {
        guard program.isInstalled else { return }
        let stage = try Stage()
        for (words, code) in [("--strict", 4), ("--summary", 0), ("--summary --strict", 4), ("--offline --strict", 4)]
            as [(String, Int32)]
        {
            let outcome = try stage.shell("$larder run \(words) -- \(program.rawValue) $port")
            #expect(outcome.code == code && outcome.output == "got\n", "\(words): \(outcome)")
            #expect(outcome.talk.components(separatedBy: Self.sentence).count == 2, "\(words): \(outcome.talk)")
        }
        let plain = try stage.shell("$larder run -- \(program.rawValue) $port")
        #expect(plain.code == 0 && plain.talk.isEmpty)
    }

    @Test("A lock of a command that sent nothing through Larder says so, and so does a run that is compared with a lock")
    func reportsTheBypassOfLocks() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder lock write -o job.lock -- \(Program.perl.rawValue) $port 2> written
            $larder run --locked job.lock -- \(Program.perl.rawValue) $port 2> held
            grep -c 'no request came through Larder' written held
            """)
        #expect(outcome.output == "got\ngot\nwritten:1\nheld:1\n", "\(outcome)")
    }

    @Test("A client that rejects Larder's certificate while it is recorded is reported, and --strict exits with 4")
    func reportsTheRejection() throws {
        let stage = try Stage()
        _ = try stage.folder.write(CertificateText.pem(TestAuthority().der), to: "other.pem")
        let command = "sh -c 'curl -sS --cacert other.pem https://127.0.0.1:$port/ 2> /dev/null; true'"
        for (options, code) in [("", 0), ("--strict", 4)] {
            let recorded = try stage.shell(
                "$larder record \(options) --overwrite --set tunnel.ports=any -o a.larder -- \(command)")
            #expect(recorded.code == code, "\(recorded)")
            #expect(
                recorded.talk.contains("127.0.0.1:\(stage.origin.port): the client sent no request in its tunnel"), "\(recorded)")
        }
    }

    @Test("The command's own exit code takes precedence, and one request through Larder is enough")
    func countsOneRequest() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder record --strict -o a.larder -- sh -c 'exit 3'; echo $?
            $larder record --strict -o b.larder -- curl -sS $url/b; echo " $?"
            """)
        #expect(outcome.output == "3\n/b 0\n", "\(outcome)")
        #expect(outcome.talk.components(separatedBy: Self.sentence).count == 2, "\(outcome.talk)")
    }

    @Test("A command in its own network namespace that sends nothing is reported, and --strict accepts it")
    func acceptsTheOwnNetwork() throws {
        guard NetworkNamespace.canBeMade else { return }
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder record --netns --strict -o a.larder -- true; echo $?
            $larder replay --netns --strict a.larder -- true; echo $?
            """)
        #expect(outcome.output == "0\n0\n", "\(outcome)")
        let sentence =
            "larder: the command sent no request: in its network namespace (--netns) it could reach only Larder\n"
        #expect(outcome.talk.components(separatedBy: sentence).count == 3, "\(outcome.talk)")
    }

    @Test("A WebSocket that record forwards is reported as not recorded, and --strict exits with 4", arguments: [true, false])
    func reportsTheWebSocket(isGranted: Bool) throws {
        let folder = try TemporaryFolder()
        let origin = ScriptedOrigin.answering { request, connection in
            guard isGranted, request.target == "/ws" else { return connection.respond(body: request.target) }
            connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
            connection.endSending()
            return false
        }
        defer { origin.stop() }
        let script =
            """
            cd $HOME
            asks='curl -s -o x -H Connection:Upgrade -H Upgrade:websocket -H Sec-WebSocket-Version:13 -H Sec-WebSocket-Key:dGhlIHNhbXBsZSBub25jZQ== $url/ws?secret'
            $larder record --strict -o job.larder -- sh -c "curl -sS $url/a; $asks; true"; echo " $?"
            """
        let outcome = try CommandLineTests.shell(
            script, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(outcome.output == "/a 4\n", "\(outcome)")
        #expect(outcome.talk.contains("larder: 1 recorded in "), "\(outcome.talk)")
        #expect(
            outcome.talk.contains("larder:   not recorded (websocket): http://127.0.0.1:\(origin.port)/ws\n"), "\(outcome.talk)")
    }

    @Test("larder replay is strict for a project's recording unless --no-strict is given, and not strict for other files")
    func replaysProjectsStrictly() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            mkdir .larder
            $larder record -- curl -sS $url/a
            for words in '' --no-strict .larder/recording.larder '--no-strict .larder/recording.larder'; do
                $larder replay $words -- curl -sS -o x $url/none; echo " $words: $?"
                $larder replay $words -- \(Program.perl.rawValue) $port; echo " $words: $?"
            done
            cp .larder/recording.larder copy.larder
            $larder replay copy.larder -- curl -sS -o x $url/none; echo " $?"
            $larder replay -- curl -sS $url/a; echo " $?"
            """)
        let expected = """
            /a : 4
            got
             : 4
             --no-strict: 0
            got
             --no-strict: 0
             .larder/recording.larder: 4
            got
             .larder/recording.larder: 4
             --no-strict .larder/recording.larder: 0
            got
             --no-strict .larder/recording.larder: 0
             0
            /a 0

            """
        #expect(outcome.output == expected, "\(outcome)")
    }
}
