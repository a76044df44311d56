import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Responses received under another trust policy")
struct ChangedTrustTests {
    private static func decide(
        _ request: RequestHead, trust: UInt64, stored: UInt64 = 7, tag: String = ReuseTests.tag, policy: CachePolicy? = nil
    ) throws -> ReuseDecision {
        var facts = try facts(response(200, "Cache-Control: max-age=600", tag))
        facts.trust = stored
        var directives = RequestDirectives(request)
        directives.trust = trust
        return Reuse.decide(
            facts, for: directives, overrides: CacheOverrides(policy: policy, unsafe: policy != nil),
            at: arrival.advanced(seconds: 1))
    }

    @Test(
        "A response is used under the same policy; under another or none, the origin is contacted first",
        arguments: [(7, true), (8, false), (0, false)])
    func asks(trust: UInt64, isSame: Bool) throws {
        #expect(try Self.decide(get(), trust: trust).isFresh == isSame)
        if isSame { return }
        #expect(try Self.decide(get(), trust: trust) == .validate(.trustChanged))
        #expect(try Self.decide(get(), trust: trust, tag: "X: 1") == .forward(.trustChanged))
        #expect(try Self.decide(get("Cache-Control: only-if-cached"), trust: trust) == .notSatisfiable(.trustChanged))
        #expect(try Self.decide(get(), trust: trust, policy: .storedElseLoad) == .validate(.trustChanged))
        #expect(try Self.decide(get(), trust: trust, policy: .storedOnly) == .notSatisfiable(.trustChanged))
    }

    @Test(
        "Under another policy a response replaces neither an origin failure nor a refused response",
        arguments: [(7, true), (8, false)])
    func standsIn(trust: UInt64, isSame: Bool) throws {
        var facts = try facts(response(200, "Cache-Control: max-age=60, stale-if-error=600", ReuseTests.tag))
        facts.trust = 7
        var directives = RequestDirectives(get())
        directives.trust = trust
        let now = arrival.advanced(seconds: 100)
        for failure in [OriginFailure.error, .disconnected] {
            let decision = Reuse.staleAfterFailure(failure, facts, for: directives, overrides: .none, at: now)
            #expect((decision != nil) == isSame)
        }
        #expect((Reuse.staleInsteadOfRefused(facts, for: directives, overrides: .none, at: now) != nil) == isSame)
    }
}
