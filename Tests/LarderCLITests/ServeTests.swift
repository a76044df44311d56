import Foundation
import TestSupport
import Testing

@testable import LarderCLI
@testable import LarderSettings

@Suite("larder serve")
struct ServeTests {
    /// A separate `larder serve`, with a settings file that may change; it ends with the test.
    final class Served {
        let folder: TemporaryFolder
        let settings: String
        let process = Process()
        private let talk = Talk()
        private let ended = DispatchSemaphore(value: 0)

        /// - Parameters:
        ///   - store: the name of its file in the folder; in memory if `nil`.
        ///   - descriptors: its descriptor limit, if lower than that of the tests.
        ///   - environment: variables beside those of `CleanEnvironment`.
        init(
            _ yaml: String = "", in place: TemporaryFolder? = nil, store: String? = nil, descriptors: Int? = nil,
            listensAsWritten: Bool = false, environment: [String: String] = [:]
        ) throws {
            folder = try place ?? TemporaryFolder()
            let storePath = store.map { [folder] in "\(folder.path)/\($0)" } ?? ":memory:"
            settings = try folder.write(yaml, to: "larder.yaml")
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "larder")
            process.arguments = [
                "serve", "-c", settings, "--listen", "127.0.0.1:0", "--listen", "127.0.0.2:0", "--store", storePath,
                "--port-file", "\(folder.path)/ports", "--set", "log.access.path=\(folder.path)/access.log",
                "--set", "admin.socket=\(folder.path)/admin.sock",
            ]
            if listensAsWritten { process.arguments?.removeAll { $0 == "--listen" || $0.hasPrefix("127.0.0.") } }
            if let descriptors, let larder = process.executableURL?.path {
                process.arguments = ["-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\"", larder] + (process.arguments ?? [])
                process.executableURL = URL(filePath: "/bin/sh")
            }
            process.environment = CleanEnvironment.variables.merging(environment) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = talk.pipe
            process.terminationHandler = { [ended] _ in ended.signal() }
            try process.run()
            talk.collect()
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        /// Waits until the process has printed this, long enough for a busy machine.
        func says(_ text: String) -> Bool { talk.wait(for: text) }

        /// The ports, once it serves.
        func ports() throws -> [Int] {
            #expect(says("export http_proxy="))
            return try String(contentsOfFile: "\(folder.path)/ports", encoding: .utf8).split(separator: "\n").compactMap {
                Int($0)
            }
        }

        /// Waits for the end.
        func hasEnded() -> Bool { ended.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success }

        var said: String { talk.text }

        func signal(_ number: Int32) { kill(process.processIdentifier, number) }
    }

    /// A process's standard error, as it arrives.
    final class Talk: Sendable {
        let pipe = Pipe()
        private let condition = NSCondition()
        // Guarded by `condition`.
        nonisolated(unsafe) private var bytes = Data()

        var text: String { condition.withLock { String(decoding: bytes, as: UTF8.self) } }

        /// Reads until the process has ended, on its own thread.
        func collect() {
            let reading = pipe.fileHandleForReading
            try? pipe.fileHandleForWriting.close()  // the process has its own
            Thread {
                while true {
                    let piece = reading.availableData
                    if piece.isEmpty { return }
                    self.condition.withLock {
                        self.bytes += piece
                        self.condition.broadcast()
                    }
                }
            }.start()
        }

        func wait(for text: String) -> Bool {
            let limit = Date(timeIntervalSinceNow: Double(Deadline.seconds))
            return condition.withLock {
                while !String(decoding: bytes, as: UTF8.self).contains(text) {
                    if !condition.wait(until: limit) { return false }
                }
                return true
            }
        }
    }

    @Test("serve writes the chosen ports, prints its addresses, and exits with 0 on SIGTERM")
    func serves() throws {
        let served = try Served()
        let ports = try served.ports()
        #expect(ports.count == 2)
        #expect(served.said.contains("export http_proxy=http://127.0.0.1:\(ports[0])"))
        #expect(served.said.contains("127.0.0.2:\(ports[1])"))
        // Standard error is not a terminal here: no colors.
        #expect(!served.said.contains("\u{1B}"))
        served.signal(SIGTERM)
        #expect(served.hasEnded())
        #expect(served.process.terminationStatus == 0)
    }

    @Test("serve leaves no core file, and the user's other processes cannot inspect it")
    func keepsItsMemory() throws {
        let served = try Served()
        _ = try served.ports()
        let limits = try String(contentsOfFile: "/proc/\(served.process.processIdentifier)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").filter { $0 == "0" }.count == 2)
        // The memory file of a process that cannot be inspected belongs to root, whoever runs it; if root runs the test, this proves
        // nothing.
        let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(served.process.processIdentifier)/mem")
        #expect(owner[.ownerAccountID] as? Int == 0)
    }

    @Test(
        "SIGHUP reloads the settings; invalid ones are refused, the active ones stay, and changes that need a restart are named")
    func readsAgain() throws {
        let served = try Served()
        _ = try served.ports()
        _ = try served.folder.write("stroe: {}\n", to: "larder.yaml")
        served.signal(SIGHUP)
        #expect(served.says("the active settings are unchanged"))
        #expect(served.said.contains("larder.yaml:1:1: unknown key `stroe`; did you mean `store`?"))
        _ = try served.folder.write(
            "log: {level: debug}\nloops: 7\nstore: {disk: {high: 3GiB}}\nlimits: {fields: 50}\n", to: "larder.yaml")
        served.signal(SIGHUP)
        #expect(served.says("the settings were reloaded"))
        #expect(served.said.contains("warning: loops has changed; the change takes effect at the next start"))
        #expect(served.said.contains("warning: store.disk.high has changed"))
        #expect(!served.said.contains("log.level has changed") && !served.said.contains("limits.fields has changed"))
        #expect(served.process.isRunning)
    }

    @Test("SIGUSR1 reopens the access log")
    func reopensLogs() throws {
        let served = try Served()
        _ = try served.ports()
        let log = "\(served.folder.path)/access.log"
        try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
        // Of two pending signals, the one with the lower number is delivered first.
        served.signal(SIGUSR1)
        served.signal(SIGTERM)
        #expect(served.hasEnded())
        #expect(FileManager.default.fileExists(atPath: log))
    }

    @Test(
        "SIGTERM waits for an exchange in flight, until a second one, or the drain limit", arguments: [true, false])
    func endsWithAnExchangeUnderWay(bySecondSignal: Bool) throws {
        let origin = ScriptedOrigin { connection in _ = connection.readToEnd() }
        defer { origin.stop() }
        let served = try Served("loops: 1\n" + (bySecondSignal ? "" : "timeouts: {drain: 100ms}\n"))
        let port = try #require(try served.ports().first)
        let waiting = try RawClient(port: UInt16(port))
        let idle = try RawClient(port: UInt16(port))
        waiting.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        // Answered by the same loop, so the request before it has been read.
        idle.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try idle.readResponse().status == 200)
        served.signal(SIGTERM)
        // The drain has begun once it has closed idle connections.
        #expect(idle.isClosedByPeer())
        if bySecondSignal { served.signal(SIGTERM) } else { #expect(served.says("closing the connections that are still open")) }
        #expect(served.hasEnded())
        #expect(served.process.terminationStatus == 0)
    }

    @Test("Clients that use all of their descriptors leave those that are reserved for origins")
    func keepsDescriptorsForOrigins() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        defer { origin.stop() }
        let served = try Served("loops: 2\n", descriptors: 112)
        let port = try #require(try served.ports().first)
        let clients = try (0..<200).map { _ in try RawClient(port: UInt16(port)) }
        #expect(served.says("connections are open, the maximum: Larder refuses further connections"))
        for number in 0..<5 {
            clients[number].send("GET http://127.0.0.1:\(origin.port)/\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try clients[number].readResponse().text == "/\(number)")
        }
        #expect(served.said.split(separator: "\n").count { $0.contains("cannot accept") } <= 1)
    }

    @Test("The mode is a setting, reported at the start; a reload changes it, and a flag overrides the file")
    func takesMode() throws {
        let served = try Served("mode: offline\n")
        let port = try #require(try served.ports().first)
        #expect(served.said.contains("mode      offline"))
        func code() throws -> String? {
            let client = try RawClient(port: UInt16(port))
            client.send("GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: a\r\n\r\n")
            let json = try JSONSerialization.jsonObject(with: Data(try client.readResponse().body)) as? [String: Any]
            return json?["code"] as? String
        }
        #expect(try code() == "offline_miss")
        let status = try CommandLineTests.larder("status", "--set", "admin.socket=\(served.folder.path)/admin.sock")
        #expect(status.output.contains("mode         offline\n"))
        _ = try served.folder.write("mode: live\n", to: "larder.yaml")
        served.signal(SIGHUP)
        #expect(served.says("the settings were reloaded"))
        #expect(try code() == "connection_refused")
    }

    @Test(
        "--offline, --mode and LARDER_MODE are the same setting, and contradictory flags are refused",
        arguments: [
            (["--offline"], [:], "mode: offline"), (["-m", "offline"], ["LARDER_MODE": "live"], "mode: offline"),
            ([], ["LARDER_MODE": "offline"], "mode: offline"), (["--mode", "ofline"], [:], "did you mean `offline`?"),
            (["--offline", "-m", "live"], [:], "contradict each other"),
        ] as [([String], [String: String], String)])
    func takesModeFlags(flags: [String], environment: [String: String], expected: String) throws {
        if expected.hasPrefix("mode:") {
            let sources = SettingsSources(
                flags: try ServeCommand.parse(flags).flags, environment: environment.merging(["HOME": "/nowhere"]) { $1 })
            guard case .settings(let settings) = sources.load().outcome else {
                Issue.record("they are good")
                return
            }
            #expect(settings.mode == .offline)
        } else {
            let outcome = try CommandLineTests.larder(["serve"] + flags, environment: environment)
            #expect(outcome.code != 0 && outcome.talk.contains(expected), "\(outcome.talk)")
        }
    }

    @Test(
        "A store that another process has open is an error with a fix; a failed start leaves no admin socket and no lock file"
    )
    func failsCleanly() throws {
        let served = try Served(store: "store.sqlite")
        _ = try served.ports()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME; mkdir run; echo 'Buy milk.' > notes.txt
            $larder serve --listen 127.0.0.1:0 --store store.sqlite; echo $?
            $larder serve --listen 127.0.0.1:0 --store notes.txt; echo $?
            $larder serve --listen 127.0.0.1:0 --store :memory: --set mode=record --set record.file=$HOME/none/a.larder; echo $?
            ls notes*; find run -name '*.sock'
            """, ["HOME": served.folder.path, "XDG_RUNTIME_DIR": "\(served.folder.path)/run"])
        #expect(outcome.output == "1\n1\n1\nnotes.txt\n", "\(outcome)")
        let remedy =
            "the store is in use by process \(served.process.processIdentifier); give this one its own store (--store FILE), or none (--store :memory:)\n"
        #expect(outcome.talk.contains(remedy), "\(outcome.talk)")
        #expect(outcome.talk.contains("notes.txt: the file is not a Larder store"), "\(outcome.talk)")
    }

    @Test("A port that is in use is a failure with its reason")
    func refusesATakenPort() throws {
        let served = try Served()
        let port = try #require(try served.ports().first)
        let second = try CommandLineTests.larder("serve", "--listen", "127.0.0.1:\(port)", "--store", ":memory:")
        #expect(second.code == 1)
        #expect(second.talk.contains("cannot listen on 127.0.0.1:\(port): Address already in use"))
    }
}
