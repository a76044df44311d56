import HTTPMessage
import ProxyServer
import TestSupport
import Testing

/// A proxy, origins that switch protocols, and every way in which a client can reach them.
final class SwitchingStage {
    enum Way: CaseIterable {
        case plain
        /// Plain HTTP in a CONNECT tunnel.
        case tunnelled
        /// TLS that the proxy intercepts, and TLS to the origin.
        case intercepted
        /// Plain text from the client, and TLS to the origin, as a rule says.
        case upgraded
        /// TLS to the listener, and plain text to the origin.
        case secureListener
    }

    let way: Way
    let inner: InterceptingStage
    let origin: ScriptedOrigin
    /// The CA that issued the listener's certificate, where the listener speaks TLS.
    private let listener = TestAuthority()
    var proxy: TestProxy { inner.proxy }

    /// - Parameter rules: items for the settings' list of rules, one a line.
    init(
        _ way: Way, loops: Int = 1, rules: String = "", change: (inout ServerSettings) -> Void = { _ in },
        answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool
    ) throws {
        self.way = way
        let upgrade = "  - {name: up, match: {host: two.test, scheme: http}, request: {upgrade: https}}\n"
        let tls = way == .secureListener ? try ListenerStage.tls(listener) : nil
        inner = try InterceptingStage(
            "rules:\n" + upgrade + rules, loops: loops,
            change: {
                $0.listenerTLS = [tls]
                change(&$0)
            }, answer: answer)
        origin = [.plain, .tunnelled, .secureListener].contains(way) ? ScriptedOrigin.answering(answer) : inner.origin
    }

    deinit { origin.stop() }

    private var host: String { way == .upgraded ? "two.test" : "one.test" }

    func client(receiveBuffer: Int32? = nil) throws -> RawClient {
        switch way {
        case .plain, .upgraded: try RawClient(port: proxy.port, owner: self, receiveBuffer: receiveBuffer)
        case .tunnelled: try inner.connect("one.test", port: origin.port)
        case .intercepted: try inner.secure()
        case .secureListener: try ListenerStage.secure(RawClient(port: proxy.port, owner: self), by: listener)
        }
    }

    func head(_ path: String, fields: String = SwitchingStage.asks) -> String {
        let authority = "\(host):\(origin.port)"
        let isForwarded = [.plain, .upgraded, .secureListener].contains(way)
        let target = isForwarded ? "http://\(authority)\(path)" : path
        return "GET \(target) HTTP/1.1\r\nHost: \(authority)\r\n\(fields)\r\n"
    }

    static let asks =
        "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

    /// The grant for the key of any request.
    static func grant(_ request: OriginRequest) -> String {
        let accept = WebSocketHandshake.accept(Array((request["Sec-WebSocket-Key"] ?? "").utf8).span)
        return grant.replacing("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", with: String(decoding: accept, as: UTF8.self))
    }

    static let grant =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n\r\n"

    /// Switches to a protocol that echoes every byte.
    static let echoes: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        connection.send(grant)
        while let octets = connection.readSome(), connection.send(bytes: octets) {}
        connection.endSending()
        return false
    }

    /// A client that has read its 101.
    func switched(_ path: String = "/ws", early: String = "") throws -> RawClient {
        let client = try client()
        client.send(head(path) + early)
        let response = try client.readHead()
        #expect(response.status == 101)
        #expect(response["Upgrade"] == "websocket" && response["Connection"] == "upgrade")
        #expect(
            response["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" && response["Sec-WebSocket-Protocol"] == "chat")
        #expect(response["Via"] == "1.1 larder" && response["Cache-Status"] == nil)
        return client
    }

    /// Ends the client's side as its way requires: with a close_notify in TLS.
    func end(_ client: RawClient) {
        if way == .intercepted || way == .secureListener { client.endTLS() } else { client.endSending() }
    }
}
