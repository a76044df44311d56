import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Rules for an origin before a request is known")
struct OriginRulesTests {
    private func found(
        _ rules: String, _ scheme: RequestTarget.Scheme = .https, host: String = "one.test", kind: RequestTarget.HostKind = .name,
        port: UInt16 = 443, isNamedInside: Bool = false
    ) throws -> OriginRules {
        try ruleSet(rules).rules(
            for: TunnelAuthority(scheme: scheme, host: Array(host.utf8), kind: kind, port: port, isNamedInside: isNamedInside))
    }

    @Test(
        "A rule that can block a request to the host is found, for any method and path it matches",
        arguments: [
            "[{name: r, match: {host: one.test}, deny: {reason: no}}]",
            "[{name: r, match: {host: \"*.test\", method: POST}, deny: {reason: no}}]",
            "[{name: r, match: {path: \"/admin*\"}, deny: {reason: no}}]",
            "[{name: r, match: {method: DELETE, scheme: https, port: 443}, deny: {reason: no}}]",
            "[{name: other, match: {host: two.test}, mode: offline}, {name: r, match: {host: ONE.test, path: /a}, mode: offline}]",
            "[{name: r, match: {host: one.test}, mode: replay}]", "[{name: r, match: {host: one.test}, mode: record_missing}]",
            "[{name: r, match: {host: one.test}, cache: {policy: stored_only}}]",
            "[{name: r, match: {host: one.test}, request: {set: {Cache-Control: only-if-cached}}}]",
        ])
    func findsWithholding(rules: String) throws {
        #expect(try found(rules).withholding?.name == "r")
    }

    @Test(
        "Rules for other hosts, schemes and ports, and rules that permit every request, block nothing",
        arguments: [
            "[]", "[{name: r, match: {host: two.test}, deny: {reason: no}}]",
            "[{name: r, match: {host: \"*.one.test\"}, deny: {reason: no}}]",
            "[{name: r, match: {scheme: http}, deny: {reason: no}}]",
            "[{name: r, match: {host: one.test, port: 8443}, deny: {reason: no}}]",
            "[{name: r, match: {host: one.test}, cache: {policy: stored_else_load}}]",
            "[{name: r, match: {host: one.test}, cache: {store: never}, request: {set: {X: a}, remove: [Cache-Control]}}]",
            "[{name: r, match: {host: one.test}, mode: record}]", "[{name: r, match: {host: one.test}, mode: live}]",
        ])
    func findsNoWithholding(rules: String) throws {
        #expect(try found(rules).withholding == nil)
    }

    @Test("A rule that names the host is distinguished from one for every host, and a mode that forwards nothing from a denial")
    func tellsApart() throws {
        let named = try found("[{name: all, cache: {store: never}}, {name: r, match: {host: one.test}, cache: {store: never}}]")
        #expect(named.naming?.name == "r" && named.closing == nil)
        #expect(try found("[{name: all, cache: {store: never}}]").naming == nil)
        let closed = try found(
            "[{name: d, deny: {reason: no}, match: {method: POST}}, {name: c, match: {path: /a}, mode: replay}]")
        #expect(closed.withholding?.name == "d" && closed.closing?.name == "c")
    }

    @Test("Addresses are found in every spelling; if requests name the host themselves, each rule with a host counts")
    func findsAddresses() throws {
        let rules = "[{name: r, match: {host: \"192.0.2.1\"}, mode: offline}, {name: n, match: {host: one.test}, mode: offline}]"
        #expect(try found(rules, host: "192.0.2.1", kind: .ipv4).closing?.name == "r")
        #expect(try found(rules, host: "::ffff:192.0.2.1", kind: .ipv6).closing?.name == "r")
        #expect(try found(rules, host: "192.0.2.2", kind: .ipv4).closing == nil)
        #expect(try found(rules, host: "192.0.2.2", kind: .ipv4, isNamedInside: true).naming?.name == "r")
    }
}
