import Foundation
import Glibc
import ProxyAdmin
import ProxyServer
import TestSupport
import Testing

@testable import LarderCLI

@Suite("larder serve under a service manager (sd_listen_fds, sd_notify)")
struct ServiceManagerTests {
    /// The socket on which a service manager receives messages.
    final class Receiver {
        let name: String
        private let descriptor: Int32

        /// - Parameter name: a path, or `@` and a name in the abstract namespace.
        init(_ name: String) throws {
            self.name = name
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let parsed = name.hasPrefix("@") ? UnixAddress(abstract: String(name.dropFirst())) : UnixAddress(path: name)
            let address = try #require(parsed)
            #expect(address.withAddress { bind(descriptor, $0, $1) } == 0)
            var limit = timeval(tv_sec: Deadline.seconds, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }

        deinit { close(descriptor) }

        /// The next message, as lines.
        func next() throws -> [String] {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            try #require(count > 0, "no message")
            return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// A `larder serve` that gets descriptor 3, as from a service manager.
    final class Started {
        let process: pid_t
        private let output: String
        private var status: Int32?

        /// - Parameter assignments: shell words before the command, such as `LISTEN_FDS=1`; `$$` is the process.
        init(passing descriptor: Int32?, _ assignments: String, settings: String, in folder: TemporaryFolder) throws {
            let larder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
                path: "larder"
            )
            .path
            output = "\(folder.path)/output"
            let file = try folder.write(settings, to: "larder.yaml")
            let script = "\(assignments) exec \"$0\" serve -c \"$1\" --store :memory: --set \"admin.socket=$2\" 2> \"$3\""
            let words = ["/bin/sh", "-c", script, larder, file, "\(folder.path)/admin.sock", output]
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 3) }
            var arguments = words.map { strdup($0) } + [nil]
            var variables = CleanEnvironment.variables.map { strdup("\($0)=\($1)") } + [strdup("PATH=/usr/bin:/bin"), nil]
            defer { for pointer in arguments + variables { free(pointer) } }
            var started: pid_t = 0
            try #require(posix_spawn(&started, "/bin/sh", &actions, nil, &arguments, &variables) == 0)
            process = started
        }

        deinit { if status == nil { kill(process, SIGKILL); _ = exitCode() } }

        var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

        func exitCode() -> Int32 {
            var ended: Int32 = 0
            while waitpid(process, &ended, 0) < 0, errno == EINTR {}
            status = ended
            return (ended >> 8) & 0xFF
        }
    }

    private func listener() throws -> ListeningSocket { try ListeningSocket(host: "127.0.0.1", port: 0) }

    @Test(
        "Larder serves on a passed socket, and reports when it is ready, reloads and stops", arguments: [true, false])
    func serves(isAbstract: Bool) throws {
        let folder = try TemporaryFolder()
        let receiver = try Receiver(isAbstract ? "@larder-\(getpid())-\(UInt64.random(in: 0 ... .max))" : "\(folder.path)/notify")
        let origin = ScriptedOrigin.answering { $1.respond(body: "page") }
        defer { origin.stop() }
        let passed = try listener()
        defer { passed.close() }
        let port = passed.address.port
        // The client connects before Larder starts, and waits for it.
        let client = try RawClient(port: port)
        client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
        let started = try Started(
            passing: passed.descriptor, "LISTEN_PID=$$ LISTEN_FDS=1 NOTIFY_SOCKET=\(receiver.name)",
            settings: "listen: [\"127.0.0.1:\(port)\", \"127.0.0.1:0\"]\n", in: folder)
        let ready = try receiver.next()
        #expect(ready.first == "READY=1" && ready.last?.hasPrefix("STATUS=listens on 127.0.0.1:\(port) and 127.0.0.1:") == true)
        #expect(try client.readResponse().text == "page")
        kill(started.process, SIGHUP)
        let reloading = try receiver.next()
        #expect(reloading.first == "RELOADING=1" && reloading.last?.hasPrefix("MONOTONIC_USEC=") == true)
        #expect(try receiver.next().first == "READY=1")
        kill(started.process, SIGTERM)
        #expect(try receiver.next() == ["STOPPING=1"])
        client.close()
        #expect(started.exitCode() == 0)
        // The service manager's socket still listens: a client waits for the next start.
        _ = try RawClient(port: port)
    }

    @Test("A passed socket that the settings do not name, or that is no TCP listener, ends the start with its reason")
    func rejectsSockets() throws {
        let other = try listener()
        defer { other.close() }
        let pipe = Pipe()
        let cases: [(Int32?, String, String)] = [
            (
                other.descriptor, "LISTEN_PID=$$ LISTEN_FDS=1",
                "the service manager passed a socket for 127.0.0.1:\(other.address.port), which the setting listen does not name"
            ),
            (
                pipe.fileHandleForReading.fileDescriptor, "LISTEN_PID=$$ LISTEN_FDS=1",
                "descriptor 3, which LISTEN_FDS includes, is not a listening TCP socket"
            ),
            (nil, "LISTEN_PID=$$ LISTEN_FDS=2000", "LISTEN_FDS is not a number from 0 to 64"),
            (nil, "LISTEN_PID=$$ LISTEN_FDS=", "LISTEN_FDS is not a number from 0 to 64"),
            (nil, "NOTIFY_SOCKET=@", "NOTIFY_SOCKET is not the address of a Unix socket"),
        ]
        for (descriptor, assignments, reason) in cases {
            let folder = try TemporaryFolder()
            let started = try Started(passing: descriptor, assignments, settings: "listen: [\"127.0.0.1:0\"]\n", in: folder)
            #expect(started.exitCode() == 1)
            #expect(started.text.contains(reason), "\(started.text)")
        }
    }

    @Test("Sockets that were passed to another process are not used, and a missing receiver does not stop Larder")
    func ignoresOthersSockets() throws {
        let folder = try TemporaryFolder()
        let other = try listener()
        defer { other.close() }
        let started = try Started(
            passing: other.descriptor, "LISTEN_PID=1 LISTEN_FDS=1 NOTIFY_SOCKET=\(folder.path)/nothing",
            settings: "listen: [\"127.0.0.1:0\"]\n", in: folder)
        try eventually { started.text.contains("Larder could not tell the service manager that it is ready") }
        #expect(started.text.contains("export http_proxy="))
        kill(started.process, SIGTERM)
        #expect(started.exitCode() == 0)
    }
}
