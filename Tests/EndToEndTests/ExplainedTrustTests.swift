import HTTPMessage
import HTTPWire
import ProxyAdmin
import ServerTrust
import TestSupport
import Testing
import UpstreamTransport

@Suite("explain for https requests")
struct ExplainedTrustTests {
    @Test(
        "explain names the host's trust policy, for an upgraded request too, and connects to nothing",
        arguments: [
            ("https", PinSet.Enforcement.enforced, "1 pin, enforced"), ("https", .reported, "1 pin, report only"),
            ("http", .enforced, "1 pin, enforced"),
        ])
    func namesPolicy(scheme: String, enforcement: PinSet.Enforcement, pins: String) throws {
        let stage = try SecureStage("rules: [{name: up, request: {upgrade: https}}]") { _, _ in false }
        try stage.reload(
            "rules: [{name: up, request: {upgrade: https}}]", pins: SecureStage.pins(stage.identity, enforcement: enforcement))
        let head = "GET \(scheme)://127.0.0.1:\(stage.origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n"
        let heads = try ExplainedHeads(Array(head.utf8), contentLength: nil, limits: ParseLimits())
        let explained = Explainer.explain(
            heads, context: stage.proxy.server.context, Explainer.Terms(tellsQuery: true), at: Timestamp(seconds: 1_800_000_000)
        ) { _, _ in .found([], partials: [], isComplete: true) }
        guard case .explanation(let explanation) = explained else {
            Issue.record("it waits")
            return
        }
        #expect(
            explanation.text.contains("trust: the policy at /etc/settings/larder.yaml:14:5: 1 anchor, \(pins)"),
            "\(explanation.text)")
        #expect(explanation.text.contains("upgrade: ") == (scheme == "http"))
        #expect(explanation.json.written().contains(#""policy": "/etc/settings/larder.yaml:14:5""#))
        #expect(stage.origin.connectionCount == 0)
    }

    @Test(
        "explain refuses http to a host whose pins forbid it, and https to a host that tls.default: deny denies, as the proxy does"
    )
    func refusesWhatTrustDenies() throws {
        let stage = try SecureStage { _, _ in false }
        try stage.reload("", pins: SecureStage.pins(stage.identity, enforcement: .enforced))
        func code(_ url: String) throws -> String {
            let head = "GET \(url) HTTP/1.1\r\nHost: a\r\n\r\n"
            let heads = try ExplainedHeads(Array(head.utf8), contentLength: nil, limits: ParseLimits())
            let explained = Explainer.explain(
                heads, context: stage.proxy.server.context, Explainer.Terms(tellsQuery: true),
                at: Timestamp(seconds: 1_800_000_000)
            ) { _, _ in .found([], partials: [], isComplete: true) }
            guard case .explanation(let explanation) = explained else { return "it waits" }
            let client = try RawClient(port: stage.proxy.port, owner: stage)
            client.send(head)
            #expect(try client.readResponse().code == explanation.reason)
            return explanation.reason
        }
        #expect(try code("http://127.0.0.1:\(stage.origin.port)/") == "plaintext_to_pinned_host")
        try stage.proxy.reload("") {
            $0.transport.connect = ConnectPolicy(fallback: .deny)
            $0.transport.connect.deniesUnnamedHosts = true
            $0.transport.trust = try? TrustPolicySet([], fallback: .deny)  // the set of no host is valid
        }
        #expect(try code("https://127.0.0.1:\(stage.origin.port)/") == "host_denied")
        #expect(stage.origin.connectionCount == 0)
    }
}
