import Foundation
import Glibc
import LarderSettings
import TestSupport
import Testing

@testable import AdminClient
@testable import LarderCLI

@Suite("Finding the running Larder")
struct AdminSocketTests {
    private static let user = ["HOME": "/home/me", "XDG_RUNTIME_DIR": "/run/user/7"]

    @Test("The socket is named after the port, and is in the user's runtime folder, in /run for root, or in the state folder")
    func choosesItsPlace() throws {
        func path(
            _ yaml: String, _ environment: [String: String], isRoot: Bool, listener: String = "127.0.0.1:3181"
        ) throws -> String? {
            AdminSocketPath.of(try settings(yaml), environment, listener: try #require(ListenAddress(listener)), isRoot: isRoot)
        }
        #expect(try path("", Self.user, isRoot: false) == "/run/user/7/larder/admin-3181.sock")
        let root = ["HOME": "/home/me"]
        #expect(try path("", root, isRoot: true) == "/run/larder/admin-3181.sock")
        #expect(try path("", root, isRoot: false) == "/home/me/.local/state/larder/admin-3181.sock")
        #expect(try path("", [:], isRoot: false) == nil)
        for (listener, name) in [
            ("0.0.0.0:3181", "admin-3181.sock"), ("127.0.0.2:3181", "admin-3181-127.0.0.2.sock"),
            ("[::1]:3181", "admin-3181-::1.sock"),
        ] {
            #expect(try path("", root, isRoot: true, listener: listener) == "/run/larder/\(name)")
        }
        #expect(try path("admin: {socket: off}", Self.user, isRoot: true) == nil)
        #expect(try path("admin: {socket: /a/b.sock}", Self.user, isRoot: true) == "/a/b.sock")
    }

    /// The settings, the sockets in the folder with a running Larder, other sockets, and the one that is found.
    @Test(
        "A command contacts the Larder on the port in the settings, else the only running one",
        arguments: [
            ("", [], ["admin-4000.sock"], .path("admin-3180.sock")),
            ("", ["admin-4000.sock"], ["admin-5000.sock", "admin-4000.sock.lock"], .path("admin-4000.sock")),
            ("", ["admin-4000.sock", "admin-3180.sock"], [], .path("admin-3180.sock")),
            ("", ["admin-4000.sock", "admin-500.sock"], [], .several(["admin-500.sock", "admin-4000.sock"])),
            ("", ["admin.sock"], [], .path("admin.sock")),
            ("", ["admin.sock", "admin-4000.sock"], [], .several(["admin-4000.sock", "admin.sock"])),
            ("", ["admin-04000.sock", "admin-x.sock", "admin-.sock", "admin"], [], .path("admin-3180.sock")),
            ("listen: ['127.0.0.1:4000']", ["admin-4000.sock", "admin-5000.sock"], [], .path("admin-4000.sock")),
            // It may have been started with --listen.
            ("listen: ['127.0.0.1:4000']", ["admin-5000.sock"], [], .path("admin-5000.sock")),
            ("listen: ['127.0.0.1:4000']", ["admin.sock"], [], .path("admin.sock")),
            ("listen: ['127.0.0.1:0']", ["admin-5000.sock"], [], .path("admin-5000.sock")),
            ("listen: ['[::1]:4000']", ["admin-4000-::1.sock", "admin-4000.sock"], [], .path("admin-4000-::1.sock")),
            ("", ["admin-4000-127.0.0.2.sock"], ["admin-4000-x.sock"], .path("admin-4000-127.0.0.2.sock")),
            ("", ["admin-4000-127.0.0.1.sock"], [], .path("admin-3180.sock")),
            ("admin: {socket: off}", ["admin-5000.sock"], [], .none),
        ] as [(String, [String], [String], AdminSocketPath.Found)])
    func findsTheLarder(yaml: String, running: [String], others: [String], expected: AdminSocketPath.Found) throws {
        let home = try TemporaryFolder()
        let folder = "\(home.path)/larder"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in running + others { _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil) }
        let paths = Set(running.map { "\(folder)/\($0)" })
        let found = AdminSocketPath.find(try settings(yaml), ["XDG_RUNTIME_DIR": home.path]) { paths.contains($0) }
        let whole: AdminSocketPath.Found =
            switch expected {
            case .none: .none
            case .path(let name): .path("\(folder)/\(name)")
            case .several(let names): .several(names.map { "\(folder)/\($0)" })
            }
        #expect(found == whole)
    }

    /// A `larder serve` with the default socket; it ends with the test.
    private final class Served {
        let ports: [String]
        var port: String { ports[0] }
        private let process = Process()

        init(
            in folder: TemporaryFolder, name: String, _ environment: [String: String], listening: String = "127.0.0.1:0",
            further: [String] = []
        ) throws {
            let ports = "\(folder.path)/\(name)"
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "larder")
            process.arguments =
                [
                    "serve", "--listen", listening, "--store", ":memory:", "--set", "log.access.path=/dev/null", "--port-file",
                    ports,
                ] + further.flatMap { ["--listen", $0] }
            process.environment = CleanEnvironment.variables.merging(environment) { $1 }
            process.standardOutput = FileHandle.nullDevice
            let talk = ServeTests.Talk()
            process.standardError = talk.pipe
            try process.run()
            talk.collect()
            try #require(talk.wait(for: "export http_proxy="), "\(talk.text)")
            self.ports = try String(contentsOfFile: ports, encoding: .utf8).split(separator: "\n").map(String.init)
        }

        deinit { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }

        func kill() {
            Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    private func environment(_ folder: TemporaryFolder) -> [String: String] {
        ["folder": folder.path, "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "TMPDIR": folder.path]
    }

    @Test("A Larder that starts removes the sockets of those that were killed, and no other")
    func removesLeftOvers() throws {
        let folder = try TemporaryFolder()
        let killed = try Served(in: folder, name: "killed", environment(folder))
        let running = try Served(in: folder, name: "running", environment(folder))
        killed.kill()
        let another = "\(folder.path)/larder/admin-1.sock"
        #expect(FileManager.default.createFile(atPath: another, contents: nil))
        let started = try Served(in: folder, name: "started", environment(folder))
        defer { withExtendedLifetime((running, started)) {} }
        let sockets = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/larder").filter {
            $0.hasSuffix(".sock")
        }
        #expect(Set(sockets) == ["admin-\(running.port).sock", "admin-\(started.port).sock", "admin-1.sock"])
    }

    @Test("status names the settings file that the latest reload read")
    func namesTheFileOfTheReload() throws {
        let folder = try TemporaryFolder()
        let served = try Served(in: folder, name: "one", environment(folder))
        defer { withExtendedLifetime(served) {} }
        let outcome = try CommandLineTests.shell(
            """
            $larder status | grep settings
            mkdir -p $folder/.config/larder; echo 'limits: {fields: 50}' > $folder/.config/larder/config.yaml
            $larder reload
            $larder status | grep settings
            """, environment(folder))
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.first?.hasSuffix(" no file") == true, "\(outcome)")
        #expect(lines.last?.hasSuffix(" \(folder.path)/.config/larder/config.yaml") == true, "\(outcome)")
    }

    @Test("Two Larders have the same port on different addresses; commands select one by its address")
    func servesOnePortTwice() throws {
        let folder = try TemporaryFolder()
        let one = try Served(in: folder, name: "one", environment(folder))
        let two = try Served(in: folder, name: "two", environment(folder), listening: "127.0.0.2:\(one.port)")
        defer { withExtendedLifetime((one, two)) {} }
        let outcome = try CommandLineTests.shell(
            """
            asked() { $larder status "$@" | grep -o '127.0.0.[12]:[0-9]*' | head -1; }
            asked --listen 127.0.0.1:$port
            asked --listen 127.0.0.2:$port
            asked --listen $port
            $larder stop --listen 127.0.0.1:$port
            asked --listen $port
            """, environment(folder).merging(["port": one.port]) { $1 })
        let (first, second) = ("127.0.0.1:\(one.port)\n", "127.0.0.2:\(one.port)\n")
        #expect(outcome.output == "\(first)\(second)\(first)stopping\n\(second)", "\(outcome)")
    }

    @Test("Commands find a Larder by the address or the port of any of its listeners")
    func findsSecondListeners() throws {
        let folder = try TemporaryFolder()
        let one = try Served(in: folder, name: "one", environment(folder), further: ["127.0.0.2:0", "127.0.0.3:0"])
        let two = try Served(in: folder, name: "two", environment(folder))
        defer { withExtendedLifetime((one, two)) {} }
        try #require(one.ports.count == 3)
        let outcome = try CommandLineTests.shell(
            """
            asked() { $larder status "$@" | grep -o '127.0.0.1:[0-9]*' | head -1; }
            asked --listen 127.0.0.2:$second
            asked --listen $second
            asked --listen 127.0.0.3:$third
            asked --listen 127.0.0.1:$other
            $larder status --listen 127.0.0.1:$second; echo $?
            $larder stop --listen 127.0.0.2:$second
            $larder status --listen 127.0.0.2:$second; echo $?
            """, environment(folder).merging(["second": one.ports[1], "third": one.ports[2], "other": two.port]) { $1 })
        let first = "127.0.0.1:\(one.port)\n"
        #expect(outcome.output == "\(first)\(first)\(first)127.0.0.1:\(two.port)\n1\nstopping\n1\n", "\(outcome)")
        let advice = "; if the Larder on 127.0.0.1:\(one.ports[1]) has another admin socket, give --socket\n"
        #expect(outcome.talk.contains(advice), "\(outcome)")
    }

    @Test(
        "A command that names the running Larder works although the settings file has a mistake",
        arguments: ["--socket", "--listen"])
    func ignoresMistakes(option: String) throws {
        let folder = try TemporaryFolder()
        let served = try Served(in: folder, name: "one", environment(folder))
        defer { withExtendedLifetime(served) {} }
        let outcome = try CommandLineTests.shell(
            """
            mkdir -p $folder/.config/larder; echo 'stroe: {}' > $folder/.config/larder/config.yaml
            for words in status mode env 'cache ls' 'top --once -n 0.1' 'explain http://a.example/' 'pins audit' stop; do
              $larder $words $option $value > $folder/said; echo "$words $?"
            done
            $larder status; echo "status $?"
            """,
            environment(folder).merging([
                "option": option, "value": option == "--listen" ? served.port : "\(folder.path)/larder/admin-\(served.port).sock",
            ]) { $1 })
        #expect(
            outcome.output
                == """
                status 0
                mode 0
                env 0
                cache ls 0
                top --once -n 0.1 0
                explain http://a.example/ 0
                pins audit 0
                stop 0
                status 2

                """, "\(outcome)")
    }

    @Test("Two Larders of one user run side by side; commands select one by its port, or find the only one")
    func servesTwo() throws {
        let folder = try TemporaryFolder()
        let one = try Served(in: folder, name: "one", environment(folder))
        let two = try Served(in: folder, name: "two", environment(folder))
        defer { withExtendedLifetime((one, two)) {} }
        let (first, second) = (one.port, two.port)
        let sockets = [first, second].map { "\(folder.path)/larder/admin-\($0).sock" }
        for path in sockets { #expect(FileManager.default.fileExists(atPath: path)) }
        let outcome = try CommandLineTests.shell(
            """
            cd $folder
            larder() { $larder "$@" 2>> said; }
            asked() { larder "$@" | grep -o '127.0.0.1:[0-9]*' | head -1; }
            larder status; echo "none $?"
            asked status --listen 127.0.0.1:$second
            asked status --listen $second
            asked status --socket $folder/larder/admin-$second.sock
            LARDER_ADMIN_SOCKET=$folder/larder/admin-$first.sock asked status
            LARDER_ADMIN_SOCKET=$folder/larder/admin-$first.sock asked status --listen $second
            asked env --listen $first
            larder mode --listen $second
            larder explain --listen $second --id 0123456789abcdef; echo "no trace $?"
            larder cache ls --listen $second; echo "listed $?"
            larder run --join --set listen=[127.0.0.1:$second] -- sh -c 'echo $http_proxy'
            larder reload --listen $second
            larder stop --listen $second; echo "stopped $?"
            larder status --listen $second; echo "gone $?"
            asked status
            larder run --join -- sh -c 'echo $http_proxy'
            larder doctor --client curl | grep larder:
            larder stop; echo "stopped $?"
            larder status; echo "gone $?"
            cat said
            """, environment(folder).merging(["first": first, "second": second]) { $1 })
        #expect(
            outcome.output == """
                none 1
                127.0.0.1:\(second)
                127.0.0.1:\(second)
                127.0.0.1:\(second)
                127.0.0.1:\(first)
                127.0.0.1:\(second)
                127.0.0.1:\(first)
                live
                no trace 1
                listed 0
                http://127.0.0.1:\(second)
                the settings were reloaded
                stopping
                stopped 0
                gone 1
                127.0.0.1:\(first)
                http://127.0.0.1:\(first)
                good     larder: Larder is running on 127.0.0.1:\(first); https is tunneled
                stopping
                stopped 0
                gone 1
                larder: several Larders are running, at \([first, second].sorted { Int($0) ?? 0 < Int($1) ?? 0 }.map { "\(folder.path)/larder/admin-\($0).sock" }.joined(separator: ", ")); choose one with LARDER_ADMIN_SOCKET=PATH, or with --socket or --listen if the command has these options
                larder: Larder has no record of a request with this id; the request may be too old.
                larder: Larder is not running: no process answers on \(sockets[1]); if the Larder on \(second) has another admin socket, give --socket
                larder: Larder is not running: no process answers on \(folder.path)/larder/admin-3180.sock

                """, "\(outcome)")
    }

    @Test(
        "Invalid values of --listen and --socket are usage errors",
        arguments: [["--listen", "a"], ["--listen", "0"], ["--listen", "1", "--socket", "a"]])
    func refusesWords(words: [String]) throws {
        #expect(try CommandLineTests.larder(["status"] + words).code == 2)
    }
}
