import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Freshness lifetime (RFC 9111 §4.2.1)")
struct FreshnessTests {
    static func lifetime(_ response: ResponseHead) -> Freshness.Lifetime {
        let directives = ResponseDirectives(response.fields)
        let facts = Storability.facts(of: response, directives: directives, requestTime: arrival, responseTime: arrival)
        return Freshness.Lifetime(value: facts.freshnessLifetime, source: facts.lifetimeSource)
    }

    @Test(
        "s-maxage takes precedence over max-age, max-age over Expires, Expires over the heuristic",
        arguments: [
            (["Cache-Control: s-maxage=10, max-age=20", "Expires: " + date(30)], 10, LifetimeSource.sMaxAge),
            (["Cache-Control: max-age=20", "Expires: " + date(30)], 20, .maxAge),
            (["Cache-Control: max-age=20", "Expires: 0"], 20, .maxAge),
            (["Cache-Control: s-maxage=20", "Expires: 0"], 20, .sMaxAge),
            (["Expires: " + date(30), "Last-Modified: " + date(-86_400)], 30, .expires),
            (["Last-Modified: " + date(-1000)], 100, .heuristic),
            (["X: 1"], 0, .none),
        ] as [([String], Int64, LifetimeSource)])
    func followsPrecedence(fields: [String], seconds: Int64, source: LifetimeSource) {
        var head = response()
        for field in fields {
            let parts = field.split(separator: ": ", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: String(parts[1]))
        }
        #expect(Self.lifetime(head) == Freshness.Lifetime(value: DeltaSeconds(seconds), source: source))
    }

    @Test(
        "max-age is parsed in every form in use",
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age=060", 60), ("max-age=60, max-age=60", 60),
            // Invalid, or several different values: stale.
            ("max-age", 0), ("max-age=", 0), ("max-age=a", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=60s", 0),
            ("max-age =60", 0), ("max-age= 60", 0), ("max-age=60 x", 0), ("max-age='60'", 0), ("max-age=60, max-age=61", 0),
            ("max-age=60, max-age=x", 0), (#"max-age="60"#, 0),
        ])
    func readsMaxAge(value: String, seconds: Int64) {
        let expected = Freshness.Lifetime(value: DeltaSeconds(seconds), source: .maxAge)
        #expect(Self.lifetime(response(200, "Cache-Control: \(value)")) == expected)
    }

    @Test("max-age does not replace an invalid s-maxage: the most restrictive reading applies")
    func doesNotFallBack() {
        #expect(Self.lifetime(response(200, "Cache-Control: s-maxage=x, max-age=60")).value == .zero)
    }

    @Test(
        "Numbers that are too large become 2^31 (§1.2.2)",
        arguments: ["2147483648", "2147483649", "4294967296", "99999999999999999999999999"])
    func boundsNumbers(number: String) {
        let expected = Freshness.Lifetime(value: .greatest, source: .maxAge)
        #expect(Self.lifetime(response(200, "Cache-Control: max-age=\(number)")) == expected)
    }

    @Test("Expires counts from Date, not from Larder's clock")
    func countsFromDate() {
        let head = response(200, "Date: " + date(-500), "Expires: " + date(-400))
        #expect(Self.lifetime(head).value == DeltaSeconds(100))
    }

    @Test("Expires without a usable Date counts from the time of reception", arguments: ["Date: x", "X-None: x"])
    func countsFromReception(field: String) {
        let head = response(200, field, "Expires: " + date(100), date: false)
        #expect(Self.lifetime(head).value == DeltaSeconds(100))
    }

    @Test(
        "An invalid Expires counts as past (§5.3)",
        arguments: [
            "0", "-1", "", "now", "Sat, 01 Jun 2124 00:00:00", "Sat, 01 Jun 2124 00:00:00 CEST", "2124-06-01T00:00:00Z",
        ])
    func invalidExpires(value: String) {
        let expected = Freshness.Lifetime(value: .zero, source: .expires)
        #expect(Self.lifetime(response(200, "Expires: \(value)", "Last-Modified: " + date(-86_400))) == expected)
    }

    @Test("An Expires in the past, or several different ones, make a response stale; equal ones count as one")
    func severalExpires() {
        #expect(Self.lifetime(response(200, "Expires: " + date(-1))).value == .zero)
        #expect(Self.lifetime(response(200, "Expires: " + date(60), "Expires: " + date(90))).value == .zero)
        #expect(Self.lifetime(response(200, "Expires: " + date(60), "Expires: " + date(60))).value == DeltaSeconds(60))
    }

    @Test(
        "Obsolete date forms are accepted, in UTC whatever the local time zone",
        arguments: ["Saturday, 01-Jun-24 00:01:00 GMT", "Sat Jun  1 00:01:00 2024"])
    func obsoleteDates(value: String) {
        #expect(Self.lifetime(response(200, "Expires: \(value)")).value == DeltaSeconds(60))
    }
}

@Suite("Heuristic freshness (RFC 9111 §4.2.2)")
struct HeuristicFreshnessTests {
    @Test(
        "The heuristic lifetime is a tenth of the time since the last modification, up to the limit",
        arguments: [
            (1000, 100), (9, 0), (864_000, 86_400), (864_010, 86_400), (864_000_000, 86_400), (0, 0), (-100, 0),
        ] as [(Int64, Int64)])
    func takesATenth(sinceModification: Int64, seconds: Int64) {
        #expect(
            FreshnessTests.lifetime(response(200, "Last-Modified: " + date(-sinceModification))).value == DeltaSeconds(seconds))
    }

    @Test(
        "The heuristic does not apply if there is an explicit lifetime",
        arguments: ["Cache-Control: max-age=0", "Expires: 0", "Cache-Control: max-age=x"])
    func neverBesideExplicit(field: String) {
        #expect(FreshnessTests.lifetime(response(200, field, "Last-Modified: " + date(-86_400))).value == .zero)
    }

    @Test(
        "The heuristic does not apply to a status that is not heuristically cacheable, unless the response is public",
        arguments: [302, 307, 403, 500] as [UInt16])
    func needsStatusOrPublic(status: UInt16) {
        let modified = "Last-Modified: " + date(-1000)
        #expect(FreshnessTests.lifetime(response(status, modified)).source == .none)
        #expect(FreshnessTests.lifetime(response(status, modified, "Cache-Control: public")).value == DeltaSeconds(100))
    }

    @Test("The heuristic ignores an invalid or repeated Last-Modified")
    func needsLastModified() {
        #expect(FreshnessTests.lifetime(response(200, "Last-Modified: yesterday")).source == .none)
        let twice = response(200, "Last-Modified: " + date(-1000), "Last-Modified: " + date(-2000))
        #expect(FreshnessTests.lifetime(twice).source == .none)
    }
}

@Suite("A rule's lifetime")
struct RuleLifetimeTests {
    static let rule = CacheOverrides(timeToLive: DeltaSeconds(600))
    static let unsafeRule = CacheOverrides(timeToLive: DeltaSeconds(600), unsafe: true)

    @Test(
        "A rule's lifetime applies if the origin server gives none, and replaces the heuristic one",
        arguments: ["X: 1", "Last-Modified: " + date(-1000)])
    func standsIn(field: String) throws {
        let facts = try facts(response(200, field), overrides: Self.rule)
        let decision = reuse(facts, overrides: Self.rule, after: 599)
        #expect(decision.isFresh)
        #expect(decision.terms?.lifetimeSource == .rule)
        #expect(decision.terms?.usedUnsafe == false)
        #expect(!reuse(facts, overrides: Self.rule, after: 600).isFresh)
    }

    @Test(
        "A rule's lifetime does not override the origin server's directives, unless it is unsafe, which is reported",
        arguments: [
            "Cache-Control: max-age=60", "Cache-Control: s-maxage=60", "Expires: " + date(60), "Cache-Control: no-cache",
            "Cache-Control: must-revalidate, max-age=60", "Cache-Control: proxy-revalidate, max-age=60",
            "Cache-Control: must-revalidate",
            "Cache-Control: max-age=0", "Expires: 0",
        ])
    func neverPast(field: String) throws {
        let facts = try facts(response(200, field, #"ETag: "x""#))
        #expect(!reuse(facts, overrides: Self.rule, after: 61).isFresh)
        let decision = reuse(facts, overrides: Self.unsafeRule, after: 61)
        #expect(decision.isFresh)
        #expect(decision.terms?.usedUnsafe == true)
    }

    @Test("A rule's lifetime is applied when the response is used, so that a changed rule takes effect at once")
    func isAppliedOnUse() throws {
        let facts = try facts(response(200, #"ETag: "x""#))
        #expect(reuse(facts, after: 1) == .validate(.stale))
        #expect(reuse(facts, overrides: Self.rule, after: 1).isFresh)
    }
}
