import ServerTrust
import Testing
import UpstreamTransport

@testable import LarderSettings

@Suite("Rules that look at requests, and tunnels that hide them")
struct TunnelConsistencyTests {
    private func consistency(_ yaml: String, intercepts: [String] = [], fallback: ConnectWay = .tunnel) throws
        -> TunnelConsistency
    {
        var connect = ConnectPolicy(fallback: fallback)
        for host in intercepts { connect.insert(.intercept, for: try #require(HostScope(host: host, labels: .all))) }
        if fallback == .intercept {
            connect.exceptFromInterception(try #require(HostScope(host: "*.bank.example", labels: .all)))
        }
        let origin = SettingsReader.Origin(layer: "larder.yaml", place: .none)
        return TunnelConsistency(try settings(yaml), connect, rulesFrom: origin)
    }

    @Test(
        "Under default: deny, a host whose rules all look at its https requests must be intercepted",
        arguments: [
            ("{host: a.example, path: /x}", "a.example"), ("{host: a.example, method: GET}", "a.example"),
            ("{host: '*.a.example', path: /x}", "\"*.a.example\""), ("{path: /x}", "hosts without a policy of their own"),
            ("{host: a.example, scheme: https, port: 443, path: /x}", "a.example"),
            ("{host: [b.example, a.example], path: /x}", "a.example"), ("{host: 192.0.2.1, path: /x}", "192.0.2.1"),
        ])
    func rejects(match: String, name: String) throws {
        let yaml = "{egress: {default: deny}, rules: [{name: r, match: \(match), allow: {}}]}"
        let problems = try consistency(yaml, intercepts: ["b.example"]).problems.map(\.description)
        try #require(problems.count == 1 && problems[0].hasPrefix("larder.yaml:1:"), "\(problems)")
        #expect(problems[0].contains("rules[0].match: the rule `r` looks at requests, but Larder does not intercept \(name), "))
        #expect(problems[0].contains("connect: intercept}") && problems[0].contains("or remove path, method and query"))
    }

    @Test(
        "There is no contradiction where the host is intercepted, where the rule is for http, and where CONNECT is denied anyway",
        arguments: [
            "{host: b.example, path: /x}", "{host: a.b.example, path: /x}", "{host: '*.b.example', method: GET}",
            "{host: a.example, scheme: http, path: /x}", "{host: a.example, port: 80, path: /x}",
            "{host: a.example, port: 8080, path: /x}", "{host: a.example}", "{host: a.example, path: /**}",
        ])
    func accepts(match: String) throws {
        let yaml = "{egress: {default: deny}, rules: [{name: r, match: \(match), allow: {}}]}"
        let found = try consistency(yaml, intercepts: ["b.example", "*.b.example"])
        #expect(found.problems.isEmpty && found.warnings.isEmpty, "\(found)")
    }

    @Test("If every host is intercepted, only the excepted hosts are reported")
    func goesByTheFallback() throws {
        func problems(_ host: String) throws -> Int {
            let yaml = "{egress: {default: deny}, rules: [{name: r, match: {host: '\(host)', path: /x}, allow: {}}]}"
            return try consistency(yaml, fallback: .intercept).problems.count
        }
        #expect(try problems("a.example") == 0)
        #expect(try problems("www.bank.example") == 1)
        #expect(try problems("*.bank.example") == 1)
        #expect(try problems("192.0.2.1") == 0)
    }

    @Test("A host with both kinds of rule may be tunnelled: the warning names both rules")
    func warnsOfBoth() throws {
        let yaml = """
            {egress: {default: deny}, rules: [
            {name: one path, match: {host: a.example, path: /x}, allow: {}}, {name: whole, match: {host: '*.example'}, allow: {}}]}
            """
        let found = try consistency(yaml)
        #expect(found.problems.isEmpty)
        #expect(
            found.warnings == [
                "larder.yaml:2:43: the rule `one path` inspects requests, but the rule `whole` allows tunnels to a.example, which "
                    + "hide the requests"
            ])
    }

    @Test(
        "A rule that denies by path or method has a warning where another rule allows a tunnel to its host",
        arguments: [
            ("{host: a.example, path: /x}", "{host: a.example}", "a.example"),
            ("{host: a.example, method: POST}", "{host: '*.example'}", "a.example"),
            ("{path: /x}", "{host: a.example}", "a.example"),
            ("{host: '*.example', path: /x}", "{host: a.b.example}", "a.b.example"),
            ("{path: /x}", "{}", "every host"),
        ])
    func warnsOfHiddenDenials(denied: String, allowed: String, host: String) throws {
        let match = allowed == "{}" ? "" : "match: \(allowed), "
        let yaml = "{egress: {default: deny}, rules: [{name: no, match: \(denied), deny: {}}, {name: whole, \(match)allow: {}}]}"
        let found = try consistency(yaml, intercepts: ["c.example"])
        #expect(found.problems.isEmpty)
        try #require(found.warnings.count == 1, "\(found.warnings)")
        #expect(
            found.warnings[0].hasSuffix(
                "the rule `no` inspects requests, but the rule `whole` allows tunnels to \(host), which hide the requests"))
    }

    @Test(
        "A rule that denies has no warning where no tunnel hides its requests",
        arguments: [
            // The host is intercepted, is another one, or has no tunnel.
            "{name: no, match: {path: /x}, deny: {}}, {name: a, match: {host: c.example}, allow: {}}",
            "{name: no, match: {host: b.example, path: /x}, deny: {}}, {name: a, match: {host: a.example}, allow: {}}",
            "{name: no, match: {host: a.example, path: /x}, deny: {}}, {name: a, match: {scheme: http}, allow: {}}",
            // The rule, or another one, denies the CONNECT.
            "{name: no, match: {host: a.example, method: [CONNECT, POST]}, deny: {}}, {name: a, match: {host: a.example}, allow: {}}",
            "{name: no, match: {host: a.example, path: /x}, deny: {}}, {name: a, allow: {}}, {name: all, match: {host: a.example}, deny: {}}",
            "{name: no, match: {host: a.example}, deny: {}}, {name: a, allow: {}}",
            "{name: no, match: {host: a.example, path: /x}, enforce: report, deny: {}}, {name: a, allow: {}}",
        ])
    func acceptsSeenDenials(rules: String) throws {
        let found = try consistency("{egress: {default: deny}, rules: [\(rules)]}", intercepts: ["c.example"])
        #expect(found.problems.isEmpty && found.warnings.isEmpty, "\(found.warnings)")
    }

    @Test("Under default: allow, a rule for https requests to a host that is not intercepted has a warning")
    func warnsUnderAllow() throws {
        func warnings(_ scheme: String, _ intercepts: [String] = []) throws -> [String] {
            try consistency(
                "rules: [{name: r, match: {host: a.example, scheme: \(scheme), path: /x}, deny: {}}]", intercepts: intercepts
            ).warnings
        }
        #expect(
            try warnings("https") == [
                "larder.yaml:1:59: the rule `r` looks at https requests, but Larder does not intercept a.example, so Larder does not see these requests"
            ])
        #expect(try warnings("http").isEmpty && warnings("https", ["a.example"]).isEmpty)
    }

    @Test("At most 20 rules are reported")
    func isLimited() throws {
        let rules = (0..<40).map { "{name: r\($0), match: {host: h\($0).example, path: /x}, allow: {}}" }.joined(separator: ", ")
        #expect(try consistency("{egress: {default: deny}, rules: [\(rules)]}").problems.count == 20)
    }
}
