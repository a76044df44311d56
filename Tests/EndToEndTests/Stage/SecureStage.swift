import ServerTrust
import TestSupport
import Testing

/// A proxy in front of an origin that speaks TLS.
final class SecureStage {
    let authority = TestAuthority()
    let identity: TLSIdentity
    let origin: ScriptedOrigin
    let proxy: TestProxy

    /// - Parameters:
    ///   - names: the names in the origin's certificate.
    ///   - pins: the pins that the settings have for the origin.
    init(
        _ yaml: String = "", loops: Int = 1, names: String = "IP:127.0.0.1,DNS:one.test", pins: PinSet? = nil,
        storePath: String? = ":memory:", answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool
    ) throws {
        let identity = authority.identity(names: names)
        self.identity = identity
        origin = ScriptedOrigin(identity: identity) { connection in
            while let head = connection.readHead() {
                if !answer(OriginRequest(head: head), connection) { return }
            }
        }
        let trust = try Self.trust(authority, pins: pins)
        proxy = try TestProxy(yaml, loops: loops, storePath: storePath, change: { $0.transport.trust = trust })
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    /// Trusts every server with a certificate of the CA and, where there are pins, a pinned key.
    static func trust(_ authority: TestAuthority, pins: PinSet? = nil) throws -> TrustPolicySet {
        let anchors = try TrustAnchors([try #require(Certificate(der: authority.der))])
        let policy = try TrustPolicy(anchors: .given(anchors), pins: pins, source: "/etc/settings/larder.yaml:14:5")
        return try TrustPolicySet([], fallback: .policy(policy))
    }

    static func pins(
        _ identity: TLSIdentity, enforcement: PinSet.Enforcement = .enforced
    ) throws -> PinSet {
        try PinSet(.publicKey, [Pin(certificate: try #require(Certificate(der: identity.der)))], enforcement: enforcement)
    }

    func reload(_ yaml: String = "", pins: PinSet?) throws {
        let trust = try Self.trust(authority, pins: pins)
        try proxy.reload(yaml) { $0.transport.trust = trust }
    }

    func fetch(
        _ path: String, scheme: String = "https", method: String = "GET", fields: String = "", body: String = ""
    ) throws -> ReceivedResponse {
        let client = try RawClient(port: proxy.port, owner: self)
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        client.send(
            "\(method) \(scheme)://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n"
                + "\(fields)\(length)\r\n\(body)")
        return try client.readResponse(to: method)
    }
}
