import Foundation
import Testing

@Suite("larder serve")
struct ServeTests {
    /// A `larder serve` of its own, with a settings file that may change; it ends with the test.
    final class Served {
        let folder: TemporaryFolder
        let settings: String
        let process = Process()
        let talk: String

        init(_ yaml: String = "", arguments: [String] = []) throws {
            folder = try TemporaryFolder()
            settings = try folder.write(yaml, to: "larder.yaml")
            talk = try folder.write("", to: "talk")
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "larder")
            process.arguments =
                [
                    "serve", "-c", settings, "--listen", "127.0.0.1:0", "--listen", "127.0.0.2:0", "--store", ":memory:",
                    "--port-file", "\(folder.path)/ports", "--set", "log.access.path=\(folder.path)/access.log",
                ] + arguments
            process.environment = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle(forWritingAtPath: talk)
            try process.run()
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        /// Waits for something that the process does; it has long enough on a busy machine.
        func wait(until condition: () throws -> Bool) rethrows -> Bool {
            for _ in 0..<3000 {
                if try condition() { return true }
                usleep(10_000)
            }
            return false
        }

        func ports() -> [Int] {
            let text = try? String(contentsOfFile: "\(folder.path)/ports", encoding: .utf8)  // not there yet
            return text?.split(separator: "\n").compactMap { Int($0) } ?? []
        }

        func said() throws -> String { try String(contentsOfFile: talk, encoding: .utf8) }

        func signal(_ number: Int32) { kill(process.processIdentifier, number) }
    }

    @Test("It writes the ports that were chosen, says where it listens, and ends by SIGTERM with 0")
    func serves() throws {
        let served = try Served()
        #expect(served.wait { served.ports().count == 2 })
        let ports = served.ports()
        #expect(try served.wait { try served.said().contains("export http_proxy=http://127.0.0.1:\(ports[0])") })
        #expect(try served.said().contains("127.0.0.2:\(ports[1])"))
        // Standard error is a file here: no colours.
        #expect(try !served.said().contains("\u{1B}"))
        served.signal(SIGTERM)
        #expect(served.wait { !served.process.isRunning })
        #expect(served.process.terminationStatus == 0)
    }

    @Test("SIGHUP reads the settings again; bad ones are refused, and those in force stay")
    func readsAgain() throws {
        let served = try Served(arguments: ["--quiet"])
        #expect(served.wait { !served.ports().isEmpty })
        _ = try served.folder.write("stroe: {}\n", to: "larder.yaml")
        served.signal(SIGHUP)
        #expect(try served.wait { try served.said().contains("those in force stay") })
        #expect(try served.said().contains("larder.yaml:1:1: unknown key `stroe`; did you mean `store`?"))
        _ = try served.folder.write("log: {level: debug}\n", to: "larder.yaml")
        served.signal(SIGHUP)
        #expect(try served.wait { try served.said().contains("the settings were read again") })
        #expect(served.process.isRunning)
    }

    @Test("SIGUSR1 opens the access log again")
    func reopensLogs() throws {
        let served = try Served(arguments: ["--quiet"])
        #expect(served.wait { !served.ports().isEmpty })
        let log = "\(served.folder.path)/access.log"
        try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
        served.signal(SIGUSR1)
        #expect(served.wait { FileManager.default.fileExists(atPath: log) })
    }

    @Test("A port that is taken is a failure with its reason")
    func refusesATakenPort() throws {
        let served = try Served(arguments: ["--quiet"])
        #expect(served.wait { !served.ports().isEmpty })
        let port = try #require(served.ports().first)
        let second = try CommandLineTests.larder("serve", "--listen", "127.0.0.1:\(port)", "--store", ":memory:")
        #expect(second.code == 1)
        #expect(second.talk.contains("cannot listen on 127.0.0.1:\(port): Address already in use"))
    }
}
