import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("stale-if-error (RFC 5861 §4)")
struct StaleIfErrorTests {
    /// The decision after an error, this many seconds after a response with a lifetime of 60 seconds arrived.
    static func decide(
        _ control: String, _ field: String = "X: 1", _ failure: OriginFailure = .error, after seconds: Int64 = 100
    ) throws -> ReuseDecision? {
        let facts = try facts(response(200, "Cache-Control: max-age=60\(control)", ReuseTests.tag))
        return Reuse.staleAfterFailure(
            failure, facts, for: RequestDirectives(get(field)), overrides: .none, at: arrival.advanced(seconds: seconds))
    }

    @Test("429, 500, 502, 503 and 504 are errors", arguments: 200...599)
    func errors(status: UInt16) { #expect(Reuse.isError(Status(status)) == [429, 500, 502, 503, 504].contains(status)) }

    @Test(
        "Either side can allow it, up to its limit; if both do, both limits apply",
        arguments: [
            (", stale-if-error=40", "X: 1", true), (", stale-if-error=39", "X: 1", false), ("", "X: 1", false),
            ("", "Cache-Control: stale-if-error=40", true), ("", "Cache-Control: stale-if-error=39", false),
            (", stale-if-error=40", "Cache-Control: stale-if-error=39", false),
            (", stale-if-error=39", "Cache-Control: stale-if-error=40", false),
            (", stale-if-error=40", "Cache-Control: stale-if-error=40", true),
            (", stale-if-error=\"40\"", "X: 1", true), (", STALE-IF-ERROR=40", "X: 1", true),
            // An invalid value allows nothing.
            (", stale-if-error", "X: 1", false), (", stale-if-error=x", "X: 1", false), (", stale-if-error=-1", "X: 1", false),
            (", stale-if-error=100, stale-if-error=50", "X: 1", false), ("", "Cache-Control: stale-if-error", false),
            (", stale-if-error=99999999999", "X: 1", true), (", stale-if-error=0", "X: 1", false),
            // Of several in a request, the strictest applies.
            ("", "Cache-Control: stale-if-error=100, stale-if-error=39", false),
        ])
    func bounds(control: String, field: String, isAllowed: Bool) throws {
        let decision = try Self.decide(control, field)
        #expect(decision?.staleReason == (isAllowed ? .staleIfError : nil))
        if isAllowed { #expect(decision?.terms?.remaining == -40 && decision?.terms?.age.seconds == 100) }
    }

    @Test(
        "A prohibition of the origin server takes precedence (RFC 9111 §4.2.4)",
        arguments: [", must-revalidate", ", proxy-revalidate", ", s-maxage=60", ", no-cache"])
    func obeysOrigin(control: String) throws {
        #expect(try Self.decide(control + ", stale-if-error=100") == nil)
        #expect(try Self.decide(control, "Cache-Control: stale-if-error=100") == nil)
        #expect(try Self.decide(control, .disconnected) == nil)
    }

    @Test(
        "The request's other directives take precedence, unless it has stale-if-error itself (RFC 9111 §5.2.1)",
        arguments: [
            ("no-cache", false), ("max-age=0", false), ("max-age=1000", false), ("max-age=1000, max-stale", true),
            ("max-stale=40", true), ("max-stale=39", false), ("min-fresh=1", false), ("max-age=10, stale-if-error=40", true),
            ("no-cache, stale-if-error=40", false),
        ])
    func obeysRequest(value: String, isAllowed: Bool) throws {
        let decision = try Self.decide(", stale-if-error=100", "Cache-Control: \(value)")
        #expect(decision?.staleReason == (isAllowed ? .staleIfError : nil))
    }

    @Test("A disconnected cache needs no permission, but keeps to the limits (RFC 9111 §4.2.4)")
    func disconnected() throws {
        #expect(try Self.decide("", .disconnected)?.staleReason == .failure)
        #expect(try Self.decide(", stale-if-error=40", .disconnected)?.staleReason == .staleIfError)
        #expect(try Self.decide(", stale-if-error=39", .disconnected) == nil)
        #expect(try Self.decide("", "Cache-Control: stale-if-error=39", .disconnected) == nil)
        #expect(try Self.decide("", "Cache-Control: max-age=5", .disconnected) == nil)
        #expect(try Self.decide("", "Pragma: no-cache", .disconnected) == nil)
    }

    @Test("An unsafe rule overrides the origin's directives, and the decision reports it")
    func unsafeRule() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60, must-revalidate, stale-if-error=100", ReuseTests.tag))
        let now = arrival.advanced(seconds: 100)
        let overrides = CacheOverrides(policy: .useProtocol, unsafe: true)
        let decision = Reuse.staleAfterFailure(
            .error, facts, for: RequestDirectives(get()), overrides: overrides, at: now)
        #expect(decision?.terms?.usedUnsafe == true)
    }

    private static func decide(_ control: String, _ failure: OriginFailure) throws -> ReuseDecision? {
        try decide(control, "X: 1", failure)
    }
}

@Suite("Serving a stale response instead of one that a rule refused (RFC 9111 §4.2.4)")
struct StaleInsteadOfRefusedTests {
    @Test(
        "The origin server's directives can forbid it",
        arguments: [
            ("max-age=60", true), ("max-age=60, must-revalidate", false), ("max-age=60, proxy-revalidate", false),
            ("s-maxage=60", false), ("max-age=60, no-cache", false),
        ])
    func obeysOrigin(control: String, isAllowed: Bool) throws {
        let facts = try facts(response(200, "Cache-Control: \(control)", ReuseTests.tag))
        let now = arrival.advanced(seconds: 100)
        let request = RequestDirectives(get())
        #expect(
            Reuse.staleInsteadOfRefused(facts, for: request, overrides: .none, at: now)?.staleReason
                == (isAllowed ? .failure : nil))
        let byUnsafe = Reuse.staleInsteadOfRefused(
            facts, for: request, overrides: CacheOverrides(policy: .useProtocol, unsafe: true), at: now)
        #expect(byUnsafe?.terms?.usedUnsafe == !isAllowed)
    }
}

@Suite("stale-while-revalidate (RFC 5861 §3)")
struct StaleWhileRevalidateTests {
    static func decide(_ control: String, _ field: String = "X: 1", after seconds: Int64) throws -> ReuseDecision {
        let facts = try facts(response(200, "Cache-Control: max-age=60\(control)", ReuseTests.tag))
        return reuse(facts, for: get(field), after: seconds)
    }

    @Test(
        "A response is served within the period, and validated after it",
        arguments: [
            (", stale-while-revalidate=30", 59, false), (", stale-while-revalidate=30", 60, true),
            (", stale-while-revalidate=30", 90, true), (", stale-while-revalidate=30", 91, false), ("", 60, false),
            (", stale-while-revalidate=0", 60, false), (", stale-while-revalidate", 61, false),
            (", stale-while-revalidate=x", 61, false), (", stale-while-revalidate=30, stale-while-revalidate=40", 61, false),
            (", Stale-While-Revalidate=\"30\"", 61, true), (", stale-while-revalidate=99999999999", 1_000_000, true),
        ] as [(String, Int64, Bool)])
    func keepsToWindow(control: String, age: Int64, isServed: Bool) throws {
        let decision = try Self.decide(control, after: age)
        #expect(decision.staleReason == (isServed ? .staleWhileRevalidate : nil))
        if isServed { #expect(decision.terms?.remaining == 60 - age) }
        if !isServed, age > 60 { #expect(decision == .validate(.stale)) }
    }

    @Test(
        "The origin's other directives take precedence",
        arguments: [
            (", must-revalidate", ForwardReason.mustRevalidate), (", proxy-revalidate", .proxyRevalidate),
            (", s-maxage=60", .sMaxAge), (", no-cache", .noCache),
        ])
    func obeysOrigin(control: String, reason: ForwardReason) throws {
        #expect(try Self.decide(control + ", stale-while-revalidate=30", after: 61) == .validate(reason))
    }

    @Test(
        "The request's directives take precedence",
        arguments: [
            "no-cache", "max-age=0", "max-age=1000", "min-fresh=1", "max-stale=5",
        ])
    func obeysRequest(value: String) throws {
        let decision = try Self.decide(", stale-while-revalidate=30", "Cache-Control: \(value)", after: 70)
        #expect(decision == .validate(.stale))
        #expect(
            try Self.decide(", stale-while-revalidate=30", "Cache-Control: max-stale=50", after: 70).staleReason
                == .staleWhileRevalidate)
    }

    @Test(
        "A response at the end of its lifetime is stale, and is not served to a client that limits the age or wants a fresh one (RFC 9111 §5.2.1)",
        arguments: ["max-age=60", "min-fresh=0"])
    func endOfLifetime(value: String) throws {
        #expect(try Self.decide(", stale-while-revalidate=30", "Cache-Control: \(value)", after: 60) == .validate(.stale))
        #expect(
            try Self.decide(", stale-while-revalidate=30", "Cache-Control: max-age=60, max-stale=0", after: 60).staleReason
                == .staleWhileRevalidate)
    }

    @Test("immutable has no effect once the response is stale (RFC 8246 §2)")
    func staleImmutable() throws {
        #expect(try Self.decide(", immutable", after: 61) == .validate(.stale))
        #expect(try Self.decide(", immutable", after: 59).isFresh)
    }
}

@Suite("A rule's grace")
struct GraceTests {
    private static func overrides(_ seconds: Int64) -> CacheOverrides {
        var overrides = CacheOverrides()
        overrides.grace = DeltaSeconds(seconds)
        return overrides
    }

    @Test(
        "Within the grace a response is served while it is validated, and after errors, unless origin or client forbid it",
        arguments: [
            ("", "X: 1", 60, true), ("", "X: 1", 39, false), (", must-revalidate", "X: 1", 60, false),
            ("", "Cache-Control: max-age=90", 60, false), ("", "Cache-Control: max-stale=10", 60, false),
            // A rule is a source other than the limits of the origin (RFC 5861 §4).
            (", stale-if-error=1, stale-while-revalidate=1", "X: 1", 60, true),
        ])
    func serves(control: String, field: String, grace: Int64, isServed: Bool) throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60\(control)", ReuseTests.tag))
        let decision = reuse(facts, for: get(field), overrides: Self.overrides(grace), after: 100)
        #expect(decision.staleReason == (isServed ? .grace : nil))
        for failure in [OriginFailure.error, .disconnected] where isServed || failure == .error {
            let afterwards = Reuse.staleAfterFailure(
                failure, facts, for: RequestDirectives(get(field)), overrides: Self.overrides(grace),
                at: arrival.advanced(seconds: 100))
            #expect(afterwards?.staleReason == (isServed ? .grace : nil))
        }
    }
}
