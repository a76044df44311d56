import EventLoop
import HTTP2Wire
import HTTPMessage
import ProxyServer
import ServerTrust
import TestSupport
import Testing

/// A proxy, and an origin with HTTP/2 that answers the first request for some hosts as a test says. All other requests are answered
/// properly.
final class HostileStage {
    /// What the origin does on the first connection for a host. The origin then serves what remains of the connection, unless this returns
    /// `false`.
    typealias Script = @Sendable (inout FrameServer, borrowing OriginConnection) -> Bool

    /// The number of connections for each host.
    private final class Connections: Sendable {
        private let counts = Guarded<[String: Int]>([:])

        func count(_ host: String) -> Int { counts.withLock { $0[host] ?? 0 } }

        func note(_ host: String) -> Int {
            counts.withLock { counts in
                counts[host, default: 0] += 1
                return counts[host] ?? 0
            }
        }
    }

    let proxy: TestProxy
    let origin: ScriptedOrigin
    private let connections: Connections
    static let soundHost = "sound.cases.test"

    /// - Parameter scripts: by host, a name below `cases.test`.
    init(_ scripts: [String: Script], change: (inout ServerSettings) -> Void = { _ in }) throws {
        let authority = TestAuthority()
        let connections = Connections()
        self.connections = connections
        origin = ScriptedOrigin(identity: authority.identity(names: "DNS:*.cases.test").choosingHTTP2()) { connection in
            guard connection.isHTTP2, let name = connection.serverName else { return }
            let number = connections.note(name)
            var server = FrameServer()
            if number == 1, let script = scripts[name] {
                guard script(&server, connection) else { return }
            } else {
                server.begin(on: connection)
            }
            server.serve(connection)
        }
        let addresses = (scripts.keys + [Self.soundHost]).map { "\($0): 127.0.0.1" }.joined(separator: ", ")
        let trust = try SecureStage.trust(authority)
        // Without the rule no response of a case would be stored.
        proxy = try TestProxy(
            "resolve: {\(addresses)}\nrules: [{name: keep, cache: {ttl: 1h}}]",
            change: {
                $0.transport.trust = trust
                change(&$0)
            })
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    func connectionCount(_ host: String) -> Int { connections.count(host) }

    func client(receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(port: proxy.port, owner: self, receiveBuffer: receiveBuffer)
    }

    func head(_ host: String, _ path: String = "/", method: String = "GET", fields: String = "") -> String {
        "\(method) https://\(host):\(origin.port)\(path) HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\(fields)\r\n"
    }

    /// Sends a request on a connection of its own; `nil` if the response is cut off.
    func fetch(_ host: String, _ path: String = "/") throws -> ReceivedResponse? {
        let client = try client()
        client.send(head(host, path))
        return try Self.response(client)
    }

    /// The response; `nil` if it is cut off.
    static func response(_ client: RawClient, to method: String = "GET") throws -> ReceivedResponse? {
        do {
            return try client.readResponse(to: method)
        } catch let fault as ClientFault where fault.reason != .timedOut {
            return nil
        }
    }

    /// Whether a request for the host gets the response of a sound origin.
    func serves(_ client: RawClient, _ host: String = HostileStage.soundHost) throws -> Bool {
        client.send(head(host, "/sound"))
        let response = try client.readResponse()
        return response.status == 200 && response.text == FrameServer.soundContent
    }
}
