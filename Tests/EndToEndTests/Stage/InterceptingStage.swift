import CertificateAuthority
import Foundation
import ProxyServer
import ServerTrust
import TestSupport
import Testing
import UpstreamTransport

/// A proxy that intercepts TLS, and an origin that speaks TLS.
final class InterceptingStage {
    /// The CA of the origins.
    let authority = TestAuthority()
    /// The proxy's CA, whose root certificate the clients trust.
    let ours: LocalAuthority
    let origin: ScriptedOrigin
    let proxy: TestProxy

    static let yaml = """
        tunnel: {ports: any}
        resolve: {one.test: 127.0.0.1, two.test: 127.0.0.1, tunnel.test: 127.0.0.1, denied.test: 127.0.0.1}
        """

    init(
        _ yaml: String = "", loops: Int = 1, constrainedTo items: [String] = [], days: Int = 30,
        originNames: String = "DNS:one.test,DNS:two.test,DNS:tunnel.test,IP:127.0.0.1",
        connect: (inout ConnectPolicy) -> Void = { _ in },
        change: (inout ServerSettings) -> Void = { _ in },
        http2: (@Sendable (HTTP2Origin, borrowing OriginConnection) -> Void)? = nil,
        answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = InterceptingStage.answersPath
    ) throws {
        let constraint = items.isEmpty ? nil : try NameConstraint(items)
        ours = try LocalAuthority(
            making: RootTerms(user: "tester", host: "here", days: days, constraint: constraint),
            at: POSIXTime(seconds: Int64(Date().timeIntervalSince1970)))
        let identity = authority.identity(names: originNames)
        origin = ScriptedOrigin(identity: http2 == nil ? identity : identity.choosingHTTP2()) { connection in
            if connection.isHTTP2 {
                http2?(HTTP2Origin(), connection)
                return
            }
            while let head = connection.readHead() {
                if !answer(OriginRequest(head: head), connection) { return }
            }
        }
        let policy = Self.policy(connect)
        let trust = try SecureStage.trust(authority)
        proxy = try TestProxy(
            Self.yaml + "\n" + yaml, loops: loops,
            change: { [ours] in
                $0.transport.trust = trust
                $0.transport.connect = policy
                $0.authority = ours
                change(&$0)
            })
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    static func policy(_ change: (inout ConnectPolicy) -> Void) -> ConnectPolicy {
        var policy = ConnectPolicy(fallback: .intercept)
        for (host, way) in [("tunnel.test", ConnectWay.tunnel), ("denied.test", .deny)] {
            HostScope(host: host).map { _ = policy.insert(way, for: $0) }
        }
        change(&policy)
        return policy
    }

    /// A response that stays fresh for long and names the request in its body.
    static let answersPath: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "answer to \(request.method) \(request.target)")
        return true
    }

    /// A client whose CONNECT got a 200.
    func connect(_ host: String = "one.test", port: UInt16? = nil) throws -> RawClient {
        let client = try RawClient(port: proxy.port, owner: self)
        client.send("CONNECT \(host):\(port ?? origin.port) HTTP/1.1\r\nHost: \(host):\(port ?? origin.port)\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        return client
    }

    func terms(_ name: String? = "one.test") -> TLSClient.Terms { TLSClient.Terms(serverName: name, anchor: ours.root.der) }

    /// A client that has finished its TLS handshake with the proxy.
    func secure(_ host: String = "one.test", change: (inout TLSClient.Terms) -> Void = { _ in }) throws -> RawClient {
        let client = try connect(host)
        var terms = terms(host)
        change(&terms)
        #expect(client.startTLS(terms) == .done)
        return client
    }

    func head(_ path: String, method: String = "GET", host: String = "one.test", fields: String = "") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\(fields)\r\n"
    }

    /// Sends one request in a tunnel of its own and returns the response.
    func fetch(_ path: String, host: String = "one.test", fields: String = "") throws -> ReceivedResponse {
        let client = try secure(host)
        client.send(head(path, host: host, fields: fields))
        return try client.readResponse(to: "GET")
    }

    /// Stops the proxy and returns this member of each log line.
    func logged(_ member: String) throws -> [String] {
        try proxy.logLines().map { line in
            line.firstRange(of: "\"\(member)\":\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) } ?? ""
        }
    }
}
