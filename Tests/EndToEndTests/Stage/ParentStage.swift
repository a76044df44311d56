import Foundation
import HTTPMessage
import ProxyServer
import ServerTrust
import TestSupport
import Testing
import UpstreamTransport

/// Parents with TLS listeners, and an origin that speaks TLS. All trust one CA.
final class ParentStage {
    let authority = TestAuthority()
    let origin: ScriptedOrigin
    private(set) var parents: [TestProxy] = []
    private var children: [TestProxy] = []
    let trust: TrustPolicySet

    static let names = ["one.test", "own.test", "pinned.test"]
    private static let resolve = "resolve: {one.test: 127.0.0.1, own.test: 127.0.0.1, pinned.test: 127.0.0.1}"

    init(
        parents count: Int, yaml: String = "",
        answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = InterceptingStage.answersPath
    ) throws {
        let identity = authority.identity(names: Self.names.map { "DNS:\($0)" }.joined(separator: ",") + ",IP:127.0.0.1")
        origin = ScriptedOrigin(identity: identity) { connection in
            while let head = connection.readHead() { if !answer(OriginRequest(head: head), connection) { return } }
        }
        trust = try Self.trust(authority, pins: identity.pins())
        for number in 0..<count {
            let tls = try ListenerStage.tls(authority)
            let parentTrust = try authority.policies()
            parents.append(
                try TestProxy(
                    "tunnel: {ports: any}\n\(Self.resolve)\n\(yaml)",
                    change: {
                        $0.listenerTLS = [tls]
                        $0.transport.trust = parentTrust
                        $0.pseudonym = "parent-\(number)"
                    }))
        }
    }

    deinit {
        for proxy in children + parents { proxy.stop() }
        origin.stop()
    }

    /// The child's policies: one host has an entry, another one has pins; the other hosts have neither.
    private static func trust(_ authority: TestAuthority, pins: PinSet) throws -> TrustPolicySet {
        try TrustPolicySet(
            [
                .init(host: "own.test", policy: try authority.policy()),
                .init(host: "pinned.test", policy: try authority.policy(pins: pins)),
            ], fallback: .policy(try authority.policy()))
    }

    /// A Larder that sends its requests to the parents.
    func child(_ rules: String = "", loops: Int = 1) throws -> TestProxy {
        let members = parents.map { "'https://127.0.0.1:\($0.port)'" }.joined(separator: ", ")
        let proxy = try TestProxy(
            "tunnel: {ports: any}\nupstream: {way: farm, ways: [{name: farm, parents: {members: [\(members)], hash: key}}]}\n\(rules)",
            loops: loops,
            change: {
                $0.transport.trust = trust
                $0.pseudonym = "child"
            })
        children.append(proxy)
        return proxy
    }

    func fetch(
        _ path: String, of host: String = "one.test", through proxy: TestProxy, fields: String = ""
    ) throws -> ReceivedResponse {
        try Self.fetch(path, of: "\(host):\(origin.port)", through: proxy.port, fields: fields)
    }

    /// - Parameter authority: the host and port of the origin.
    static func fetch(
        _ path: String, of authority: String, through port: UInt16, fields: String = ""
    ) throws -> ReceivedResponse {
        let client = try RawClient(port: port, owner: nil)
        client.send("GET https://\(authority)\(path) HTTP/1.1\r\nHost: \(authority)\r\n\(fields)Connection: close\r\n\r\n")
        return try client.readResponse()
    }

    /// The methods that the parents' logs have. Stops the parents.
    func parentMethods() throws -> [String] {
        try parents.flatMap { try $0.logLines() }.compactMap { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["method"] as? String
        }.filter { $0 != "OPTIONS" }
    }
}
