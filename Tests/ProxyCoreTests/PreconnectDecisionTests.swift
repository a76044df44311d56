import HTTPMessage
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("Connecting to an origin before its first request is known")
struct PreconnectDecisionTests {
    private static let origin = TunnelAuthority(scheme: .https, host: Array("one.test".utf8), kind: .name, port: 443)

    @Test("Larder waits for the request if the mode forwards nothing or looks up recordings first")
    func goesByMode() {
        for mode in [ExchangeContext.Mode.offline, .replay, .recordMissing] {
            let context = ExchangeContext(rules: .empty, mode: mode)
            #expect(context.preconnectDecision(for: Self.origin) == .wait(.mode(mode)))
        }
        for mode in [ExchangeContext.Mode.live, .record, .refresh, .diff] {
            #expect(ExchangeContext(rules: .empty, mode: mode).preconnectDecision(for: Self.origin) == .connect)
        }
    }

    @Test("Larder waits if a rule can keep a request from being forwarded, and names the rule")
    func goesByRules() throws {
        let denying = try Setting.rules([["match": ["host": "one.test", "method": "POST"], "deny": ["reason": "no"]]])
        #expect(ExchangeContext(rules: denying).preconnectDecision(for: Self.origin) == .wait(.rule("rule 0")))
        let storing = try Setting.rules([["match": ["host": "one.test"], "cache": ["store": "never"]]])
        #expect(ExchangeContext(rules: storing).preconnectDecision(for: Self.origin) == .connect)
    }

    @Test("If no rule allows every request to the host, Larder waits")
    func goesByDefault() throws {
        for (match, decision) in [
            (["host": "one.test", "path": "/a"], PreconnectDecision.wait(.egressDefault)), (["host": "one.test"], .connect),
            (["host": "two.test"], .wait(.egressDefault)),
        ] as [([String: Setting], PreconnectDecision)] {
            let rules = try Setting.rules([["match": .mapping(match.map { ($0.key, $0.value) }), "allow": [:]]]).under(
                EgressTerms(.deny))
            #expect(ExchangeContext(rules: rules).preconnectDecision(for: Self.origin) == decision)
        }
    }
}
