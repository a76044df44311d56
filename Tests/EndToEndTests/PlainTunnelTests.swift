import CertificateAuthority
import Foundation
import ProxyServer
import ServerTrust
import TestSupport
import Testing
import UpstreamTransport

@Suite(
    "CONNECT to port 80 if all hosts are intercepted, without HTTP/2",
    .enabled(if: NetworkNamespace.canBeMade, "needs to make network namespaces"))
struct PlainTunnelTests {
    /// A network with a server at port 80 that echoes, and a proxy that intercepts every host.
    private final class Stage {
        let network: NetworkNamespace
        let origin: ScriptedOrigin
        let proxy: TestProxy

        init(
            _ yaml: String = "", connect: (inout ConnectPolicy) -> Void = { _ in }, pinsPlainHost: Bool = false,
            change: (inout ServerSettings) -> Void = { _ in }
        ) throws {
            network = try NetworkNamespace()
            try network.ip("link set lo up")
            let authority = TestAuthority()
            let anchors = TrustPolicy.Anchors.given(try TrustAnchors([try #require(Certificate(der: authority.der))]))
            let pinned = try TrustPolicy(anchors: anchors, pins: SecureStage.pins(authority.identity()))
            let trust = try TrustPolicySet(
                pinsPlainHost ? [.init(host: "plain.test", port: 443, policy: pinned)] : [],
                fallback: .policy(TrustPolicy(anchors: anchors)))
            let ours = try LocalAuthority(
                making: RootTerms(user: "tester", host: "here", days: 30),
                at: POSIXTime(seconds: Int64(Date().timeIntervalSince1970)))
            var policy = ConnectPolicy(fallback: .intercept)
            connect(&policy)
            origin = try network.inside {
                ScriptedOrigin(port: 80) { connection in connection.send(bytes: connection.readToEnd()) }
            }
            proxy = try network.inside { [policy] in
                try TestProxy(
                    "resolve: {plain.test: 127.0.0.1, other.test: 127.0.0.1}\n" + yaml,
                    change: {
                        $0.transport.trust = trust
                        $0.transport.connect = policy
                        $0.authority = ours
                        $0.offersHTTP2 = false
                        change(&$0)
                    })
            }
        }

        deinit {
            proxy.stop()
            origin.stop()
        }

        /// The bytes that a client gets through a tunnel after it begins HTTP/2; empty if the tunnel is closed.
        func send(to host: String = "plain.test") throws -> String {
            let port = proxy.port
            let client = try network.inside { try RawClient(port: port) }
            client.send("CONNECT \(host):80 HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            #expect(try client.readResponse(to: "CONNECT").status == 200)
            client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            client.endSending()
            return String(decoding: try client.readToEnd(), as: UTF8.self)
        }

        func logged(_ member: String) throws -> [String] {
            try proxy.logLines().map { line in
                line.firstRange(of: "\"\(member)\":\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) } ?? ""
            }
        }
    }

    @Test(
        "Cleartext HTTP/2 gets a tunnel if no rule, pin or interception names the host, and the log says that it was not inspected",
        arguments: [
            "", "rules: [{name: r, match: {host: other.test}, deny: {reason: no}}]", "rules: [{name: r, cache: {store: never}}]",
            "rules: [{name: r, match: {host: plain.test, scheme: https}, cache: {store: never}}]",
        ])
    func opensTunnels(yaml: String) throws {
        let stage = try Stage(yaml)
        #expect(try stage.send() == "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        #expect(try stage.logged("connect") == ["tunnel"])
        #expect(try stage.logged("uninspected") == ["not_tls"])
    }

    @Test(
        "A rule that names the host, or that can prevent requests to every host, refuses cleartext HTTP/2; the log has the reason",
        arguments: [
            "{name: r, match: {host: plain.test}, cache: {store: never}}",
            "{name: r, match: {method: DELETE}, deny: {reason: no}}",
            "{name: r, match: {path: \"/a*\"}, mode: offline}",
        ])
    func refusesBehindRules(rule: String) throws {
        let stage = try Stage("rules: [\(rule)]")
        #expect(try stage.send().isEmpty)
        #expect(try stage.logged("detail") == ["hidden_from_rules"])
        stage.origin.stop()
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("A host that an entry intercepts, or whose enforced pins forbid plain text, gets no tunnel for cleartext HTTP/2")
    func refusesBehindEntries() throws {
        let stages = [
            try Stage(connect: { policy in HostScope(host: "plain.test").map { _ = policy.insert(.intercept, for: $0) } }),
            try Stage(pinsPlainHost: true),
        ]
        for stage in stages {
            #expect(try stage.send().isEmpty)
            #expect(try stage.logged("detail") == ["not_tls"])
            stage.origin.stop()
            #expect(stage.origin.connectionCount == 0)
        }
    }

    @Test("An address may stand for any host: it gets a tunnel only if no rule and no entry names a host")
    func goesByAddress() throws {
        #expect(try !Stage().send(to: "127.0.0.1").isEmpty)
        #expect(try Stage("rules: [{name: r, match: {host: other.test}, cache: {store: never}}]").send(to: "127.0.0.1").isEmpty)
        let named = try Stage(connect: { policy in HostScope(host: "other.test").map { _ = policy.insert(.probe, for: $0) } })
        #expect(try named.send(to: "127.0.0.1").isEmpty)
    }

    @Test(
        "Without interception too, a host whose rules look at method or path gets no tunnel at port 80, and its HTTP/1 follows the rules",
        arguments: [
            "rules: [{name: r, match: {host: plain.test, path: /no}, deny: {}}]",
            "rules: [{name: r, match: {method: DELETE}, deny: {}}, {name: s, match: {path: /no}, deny: {}}]",
            "egress: {default: deny}\nrules: [{name: r, match: {host: plain.test, path: /yes}, allow: {}}]",
            "egress: {default: deny}\nrules: [{name: r, match: {host: plain.test, path: /yes}, allow: {}}, {name: t, match: {host: plain.test}, allow: {}}, {name: s, match: {path: /no}, deny: {}}]",
        ])
    func servesPlainHTTP(yaml: String) throws {
        func connect(_ stage: Stage) throws -> RawClient {
            let port = stage.proxy.port
            let client = try stage.network.inside { try RawClient(port: port) }
            client.send("CONNECT plain.test:80 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse(to: "CONNECT").status == 200)
            return client
        }
        // The client has all the time that it needs for its first bytes.
        let stage = try Stage(yaml, connect: { $0 = ConnectPolicy() }, change: { $0.timeouts.clientHandshake = 600_000 })
        #expect(try stage.send().isEmpty)
        let client = try connect(stage)
        client.send("GET /no HTTP/1.1\r\nHost: plain.test\r\n\r\n")
        #expect(try client.readResponse().status == 403)
        // A client that waits for the server, to send HTTP later.
        let hasty = try Stage(yaml, connect: { $0 = ConnectPolicy() }, change: { $0.timeouts.clientHandshake = 1 })
        #expect(try connect(hasty).isClosedByPeer())
        #expect(stage.origin.connectionCount == 0 && hasty.origin.connectionCount == 0)
    }
}
