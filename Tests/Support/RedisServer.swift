import CLarderLinux
import Foundation

/// A `redis-server` process on 127.0.0.1, which ends with this object.
package final class RedisServer {
    package let port: UInt16
    private let process = Process()
    private let folder: TemporaryFolder

    package static let isInstalled = ["/usr/bin", "/usr/local/bin", "/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/redis-server")
    }
    /// The comment for tests that need the program.
    package static let hint = "redis-server is not installed: scripts/setup.sh --test installs it"

    /// - Parameters:
    ///   - port: a port that was used before; `nil` for a free one.
    ///   - options: words of the command line.
    package init(port: UInt16? = nil, _ options: [String] = [], isOfCluster: Bool = false) throws {
        folder = try TemporaryFolder()
        let port = try port ?? Self.freePort()
        self.port = port
        process.executableURL = URL(filePath: "/usr/bin/env")
        var words = [
            "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.path,
            "--loglevel", "warning",
        ]
        if isOfCluster {
            words += ["--cluster-enabled", "yes", "--cluster-port", "\(try Self.freePort())", "--cluster-node-timeout", "2000"]
        }
        process.arguments = words + options
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        try eventually { self.ask("PING").contains("PONG") || self.ask("PING").contains("NOAUTH") }
    }

    deinit { kill() }

    package func kill() {
        guard process.isRunning else { return }
        resume()
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the process without ending its connections: it answers nothing.
    package func pause() { Foundation.kill(process.processIdentifier, SIGSTOP) }
    package func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

    /// Sends a command as a line, and returns what comes back within a second at most; empty if the server is not there.
    @discardableResult
    package func ask(_ line: String) -> String {
        let descriptor = LoopbackAddress.connect(to: port)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        let request = Array("\(line)\r\nQUIT\r\n".utf8)
        guard send(descriptor, request, request.count, larder_msg_nosignal) == request.count else { return "" }
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        // The server closes the connection after its reply to QUIT.
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { break }
            reply += buffer[..<count]
        }
        return String(decoding: reply, as: UTF8.self)
    }

    /// All keys of the server.
    package var keys: [String] {
        ask("KEYS *").split(separator: "\r\n").map(String.init).filter { $0.hasPrefix("larder:") }
    }

    private static func freePort() throws -> UInt16 {
        // Above 32,768 the kernel chooses ports for outgoing connections.
        for _ in 0..<100 {
            let port = UInt16.random(in: 15_000...32_000)
            let descriptor = socket(AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
            defer { close(descriptor) }
            if LoopbackAddress.bind(descriptor, ipv6: false, port: port) { return port }
        }
        throw CocoaError(.fileNoSuchFile)
    }
}

/// Three masters that form a cluster on loopback.
package final class RedisCluster {
    package let servers: [RedisServer]

    package init(_ options: [String] = []) throws {
        servers = try (0..<3).map { _ in try RedisServer(options, isOfCluster: true) }
        let ranges = ["0 5460", "5461 10922", "10923 16383"]
        for (server, range) in zip(servers, ranges) { server.ask("CLUSTER ADDSLOTSRANGE \(range)") }
        for (index, server) in servers.enumerated() {
            server.ask("CLUSTER SET-CONFIG-EPOCH \(index + 1)")
            let busPort = servers[0].busPort
            if index > 0 { server.ask("CLUSTER MEET 127.0.0.1 \(servers[0].port) \(busPort)") }
        }
        try eventually { servers.allSatisfy { $0.ask("CLUSTER INFO").contains("cluster_state:ok") } }
    }
}

extension RedisServer {
    fileprivate var busPort: String {
        let reply = ask("CONFIG GET cluster-port").split(separator: "\r\n").map(String.init)
        return reply.last { UInt16($0) != nil } ?? "0"
    }
}
