import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Reusing a stored response (RFC 9111 §4)")
struct ReuseTests {
    static let tag = #"ETag: "x""#

    @Test("A fresh response is served with its age and remaining lifetime")
    func servesFresh() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60", "Age: 5"))
        let terms = try #require(reuse(facts, after: 10).terms)
        #expect(terms == ReuseTerms(age: DeltaSeconds(15), remaining: 45, lifetimeSource: .maxAge, usedUnsafe: false))
    }

    @Test(
        "A stale response is validated if it has a validator; otherwise the request is forwarded",
        arguments: [
            (#"ETag: "x""#, ReuseDecision.validate(.stale)), (#"ETag: W/"x""#, .validate(.stale)),
            ("Last-Modified: " + date(-86_400), .validate(.stale)), ("X: 1", .forward(.stale)),
            ("ETag: unquoted", .forward(.stale)),
            ("Last-Modified: yesterday", .forward(.stale)),
        ])
    func validatesStale(field: String, expected: ReuseDecision) throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60", field))
        #expect(reuse(facts, after: 61) == expected)
    }

    @Test("Only a stored 200 is validated, since a 304 applies to nothing else (RFC 9110 §15.4.5)")
    func validatesOnly200() throws {
        let facts = try facts(response(404, "Cache-Control: max-age=60", Self.tag))
        #expect(reuse(facts, after: 61) == .forward(.stale))
    }

    @Test("A response with no-cache is validated however fresh it is (§5.2.2.4)")
    func obeysNoCache() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60, no-cache", Self.tag))
        #expect(reuse(facts, after: 0) == .validate(.noCache))
        #expect(reuse(facts, for: get("Cache-Control: max-stale"), after: 0) == .validate(.noCache))
    }

    @Test("A response with a qualified no-cache is used without the named fields (§5.2.2.4)")
    func obeysQualifiedNoCache() throws {
        let facts = try facts(response(200, #"Cache-Control: max-age=60, no-cache="X-Own""#, Self.tag))
        #expect(reuse(facts, after: 0).isFresh)
    }

    @Test(
        "Requests with other methods are written through (§4)", arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
    func writesThrough(method: String) throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60"))
        #expect(reuse(facts, for: request(method), after: 1) == .forward(.method))
        // Neither only-if-cached nor a rule changes that.
        let only = request(method, "http://example.com/a", "Cache-Control: only-if-cached")
        #expect(reuse(facts, for: only, overrides: CacheOverrides(policy: .storedOnly), after: 1) == .forward(.method))
    }

    @Test("HEAD is served from a stored GET, and forwarded unchanged if that is stale")
    func servesHead() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60", Self.tag))
        #expect(reuse(facts, for: request("HEAD"), after: 1).isFresh)
        #expect(reuse(facts, for: request("HEAD"), after: 61) == .forward(.stale))
    }

    @Test(
        "The origin server evaluates If-Match and If-Unmodified-Since (§4.3.2)",
        arguments: [#"If-Match: "x""#, "If-Match: *", "If-Unmodified-Since: " + arrivalDate])
    func leavesConditionsToOrigin(field: String) throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60", Self.tag))
        #expect(reuse(facts, for: get(field), after: 1) == .forward(.originCondition))
    }

    @Test("A shared response may answer a request with Authorization")
    func servesAuthorized() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60"))
        #expect(reuse(facts, for: get("Authorization: Basic eDp5"), after: 1).isFresh)
    }
}

@Suite("Request directives (RFC 9111 §5.2.1, §5.4)")
struct RequestedReuseTests {
    /// max-age=60, ten seconds old.
    static func decide(_ field: String, after seconds: Int64 = 10, response control: String = "max-age=60") throws
        -> ReuseDecision
    {
        let facts = try facts(response(200, "Cache-Control: \(control)", ReuseTests.tag))
        return reuse(facts, for: get(field), after: seconds)
    }

    @Test(
        "A fresh response is not used if the request's directives reject it",
        arguments: [
            ("Cache-Control: no-cache", ForwardReason.requestNoCache), ("Pragma: no-cache", .requestPragma),
            ("Cache-Control: max-age=9", .requestMaxAge), ("Cache-Control: max-age=0", .requestMaxAge),
            ("Cache-Control: min-fresh=51", .requestMinFresh), ("Cache-Control: min-fresh=99999999999", .requestMinFresh),
        ])
    func obeys(field: String, reason: ForwardReason) throws {
        #expect(try Self.decide(field) == .validate(reason))
    }

    @Test("max-age=0 forces a validation, even in the millisecond in which the response arrived")
    func validatesAtOnce() throws {
        #expect(try Self.decide("Cache-Control: max-age=0", after: 0) == .validate(.requestMaxAge))
        #expect(try Self.decide("Cache-Control: max-age=1", after: 0).isFresh)
    }

    @Test(
        "A fresh response is used if the request's directives accept it",
        arguments: ["max-age=10", "min-fresh=50", "max-stale", "no-store", "only-if-cached", "max-age=x", "no-transform"])
    func uses(value: String) throws {
        #expect(try Self.decide("Cache-Control: \(value)").isFresh)
    }

    @Test(
        "max-stale limits the staleness (§5.2.1.2)",
        arguments: [
            ("max-stale", 1000, true), ("max-stale=10", 70, true), ("max-stale=10", 71, false), ("max-stale=0", 60, true),
            ("max-stale=0", 61, false), ("max-stale=10, max-age=65", 65, true), ("max-stale=10, max-age=65", 66, false),
            ("max-stale=10, no-cache", 65, false), ("max-stale=10, min-fresh=1", 65, false), ("max-stale=x", 61, false),
        ] as [(String, Int64, Bool)])
    func boundsStaleness(value: String, age: Int64, isServed: Bool) throws {
        let decision = try Self.decide("Cache-Control: \(value)", after: age)
        #expect(decision.staleReason == (isServed ? .maxStale : nil))
        if isServed { #expect(decision.terms?.remaining == 60 - age) } else { #expect(decision == .validate(.stale)) }
    }

    @Test(
        "max-stale never overrides the origin server's directives (§4.2.4)",
        arguments: [
            ("max-age=60, must-revalidate", ForwardReason.mustRevalidate), ("max-age=60, proxy-revalidate", .proxyRevalidate),
            ("s-maxage=60", .sMaxAge), ("max-age=60, no-cache", .noCache), ("s-maxage=x, max-age=60", .sMaxAge),
        ])
    func originForbids(control: String, reason: ForwardReason) throws {
        #expect(try Self.decide("Cache-Control: max-stale", after: 61, response: control) == .validate(reason))
    }

    @Test("only-if-cached gives a stored response or 504 (§5.2.1.7)")
    func onlyIfCached() throws {
        #expect(try Self.decide("Cache-Control: only-if-cached", after: 61) == .notSatisfiable(.stale))
        #expect(try Self.decide("Cache-Control: only-if-cached, max-stale", after: 61).staleReason == .maxStale)
        let only = RequestDirectives(get("Cache-Control: only-if-cached"))
        #expect(Reuse.decideMiss(.uriMiss, for: only, overrides: .none) == .notSatisfiable(.uriMiss))
        #expect(Reuse.decideMiss(.varyMiss, for: RequestDirectives(request()), overrides: .none) == .forward(.varyMiss))
    }
}

@Suite("The six cache policies (C1 to C6)")
struct CachePolicyReuseTests {
    static func decide(_ policy: CachePolicy, _ control: String = "max-age=60", after seconds: Int64, isUnsafe: Bool = false)
        throws -> ReuseDecision
    {
        let facts = try facts(response(200, "Cache-Control: \(control)", ReuseTests.tag))
        return reuse(facts, overrides: CacheOverrides(policy: policy, unsafe: isUnsafe), after: seconds)
    }

    @Test("C1 use_protocol: a fresh response is served, a stale one validated")
    func useProtocol() throws {
        #expect(try Self.decide(.useProtocol, after: 1).isFresh)
        #expect(try Self.decide(.useProtocol, after: 61) == .validate(.stale))
    }

    @Test(
        "C2 reload, C3 reload_all: stored responses are not used, and the new response may be stored",
        arguments: [(CachePolicy.reload, ForwardReason.reload), (.reloadAll, .reloadAll)])
    func reload(policy: CachePolicy, reason: ForwardReason) throws {
        #expect(try Self.decide(policy, after: 1) == .forward(reason))
        let early = Reuse.decideBeforeLookUp(for: RequestDirectives(request()), overrides: CacheOverrides(policy: policy))
        #expect(early == .forward(reason))
        #expect(
            HTTPCachingTests.decide(response(200, "Cache-Control: max-age=60"), overrides: CacheOverrides(policy: policy)).refusal
                == nil)
    }

    @Test("C3 reload_all asks the caches along the path to do the same")
    func reloadAllAsks() {
        var fields = get("Cache-Control: max-age=5").fields
        Validation.addReload(to: &fields)
        #expect(fields.values(of: "cache-control") == ["max-age=5", "no-cache"])
        #expect(fields.values(of: "pragma") == [])
    }

    @Test("C4 stored_else_load: a response of any age is served; without one the request is forwarded")
    func storedElseLoad() throws {
        #expect(try Self.decide(.storedElseLoad, after: 1).isFresh)
        let decision = try Self.decide(.storedElseLoad, after: 1_000_000)
        #expect(decision.staleReason == .storedElseLoad)
        let terms = try #require(decision.terms)
        #expect(!terms.usedUnsafe)
        // Compared without its optional, of which Swift 6.3 makes a copy that is a byte too short (AddressSanitizer).
        #expect(terms.remaining == 60 - 1_000_000)
        #expect(
            Reuse.decideMiss(.uriMiss, for: RequestDirectives(request()), overrides: CacheOverrides(policy: .storedElseLoad))
                == .forward(.uriMiss))
    }

    @Test("C5 stored_only: a response of any age is served; without one the response is 504")
    func storedOnly() throws {
        #expect(try Self.decide(.storedOnly, after: 1_000_000).staleReason == .storedOnly)
        let overrides = CacheOverrides(policy: .storedOnly)
        #expect(Reuse.decideMiss(.uriMiss, for: RequestDirectives(request()), overrides: overrides) == .notSatisfiable(.uriMiss))
    }

    @Test("C6 revalidate: a response is always validated, however fresh")
    func revalidate() throws {
        #expect(try Self.decide(.revalidate, after: 1) == .validate(.revalidate))
        let facts = try facts(response(200, "Cache-Control: max-age=60"))
        #expect(reuse(facts, overrides: CacheOverrides(policy: .revalidate), after: 1) == .forward(.revalidate))
    }

    @Test(
        "No policy overrides the origin server's directives, unless it is unsafe, which is reported",
        arguments: [
            ("max-age=60, must-revalidate", ForwardReason.mustRevalidate), ("max-age=60, proxy-revalidate", .proxyRevalidate),
            ("s-maxage=60", .sMaxAge), ("max-age=60, no-cache", .noCache),
        ])
    func needsUnsafe(control: String, reason: ForwardReason) throws {
        #expect(try Self.decide(.storedElseLoad, control, after: 61) == .validate(reason))
        #expect(try Self.decide(.storedOnly, control, after: 61) == .notSatisfiable(reason))
        for policy in [CachePolicy.storedElseLoad, .storedOnly] {
            let decision = try Self.decide(policy, control, after: 61, isUnsafe: true)
            #expect(decision.terms?.usedUnsafe == true)
            #expect(decision.staleReason != nil)
        }
    }

    @Test(
        "A rule's policy takes precedence over the client's directives",
        arguments: ["Cache-Control: no-cache", "Cache-Control: max-age=0", "Pragma: no-cache"])
    func precedesClient(field: String) throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60"))
        #expect(reuse(facts, for: get(field), overrides: CacheOverrides(policy: .storedElseLoad), after: 1).isFresh)
    }

    @Test("only-if-cached with a policy that must contact the origin gives 504")
    func onlyIfCached() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60", ReuseTests.tag))
        let only = get("Cache-Control: only-if-cached")
        for policy in [CachePolicy.reload, .reloadAll, .revalidate] {
            let decision = reuse(facts, for: only, overrides: CacheOverrides(policy: policy), after: 1)
            guard case .notSatisfiable(let reason) = decision else {
                Issue.record("\(decision)")
                continue
            }
            #expect(reason.word.description == policy.word.description)
        }
    }
}
