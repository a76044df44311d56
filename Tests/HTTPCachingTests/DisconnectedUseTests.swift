import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("A cache that the settings disconnect (RFC 9111 §4.2.4)")
struct DisconnectedUseTests {
    private static func decide(
        _ control: String, for request: RequestHead = get(), policy: CachePolicy? = nil, isUnsafe: Bool = false,
        after: Int64 = 61,
        limit: Int64? = nil
    ) throws -> ReuseDecision {
        var overrides = CacheOverrides(policy: policy, unsafe: isUnsafe)
        overrides.isDisconnected = true
        overrides.offlineStalenessLimit = limit.map { DeltaSeconds($0) }
        return reuse(
            try facts(response(200, "Cache-Control: " + control, ReuseTests.tag)), for: request, overrides: overrides,
            after: after)
    }

    @Test("A stale response is served however old it is, marked as offline", arguments: [61, 86_400 * 3650] as [Int64])
    func usesStale(after: Int64) throws {
        let decision = try Self.decide("max-age=60", after: after)
        #expect(decision.staleReason == .offline && decision.terms?.remaining == 60 - after)
        #expect(try CacheStatusTests.write(#require(CacheStatus(decision))) == "Larder; hit; ttl=\(60 - after); detail=offline")
        #expect(!decision.asksOrigin)
    }

    @Test(
        "With a limit, a response that is stale for longer is a miss, even with an unsafe rule; a fresh one is served (mode: auto)"
    )
    func keepsToBound() throws {
        for isUnsafe in [false, true] {
            let control = isUnsafe ? "max-age=60, must-revalidate" : "max-age=60"
            func decide(after: Int64) throws -> ReuseDecision {
                try Self.decide(control, policy: isUnsafe ? .storedOnly : nil, isUnsafe: isUnsafe, after: after, limit: 3600)
            }
            #expect(try decide(after: 10).isFresh)
            #expect(try decide(after: 3660).staleReason == .offline)
            #expect(try decide(after: 3661) == .offlineMiss(.maxStaleOffline))
        }
        // A prohibition of the origin server is reported first.
        #expect(try Self.decide("max-age=60, must-revalidate", after: 9999, limit: 3600) == .offlineMiss(.mustRevalidate))
        #expect(try Self.decide("max-age=3600", after: 3600, limit: 0).staleReason == .offline)
        #expect(try Self.decide("max-age=3600", after: 3601, limit: 0) == .offlineMiss(.maxStaleOffline))
    }

    @Test("The limit also applies if the cache becomes disconnected during a request")
    func boundsFailure() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60", ReuseTests.tag))
        var overrides = CacheOverrides.none
        func decide(after: Int64) -> ReuseDecision? {
            Reuse.staleAfterFailure(
                .disconnected, facts, for: RequestDirectives(get()), overrides: overrides, at: arrival.advanced(seconds: after))
        }
        #expect(decide(after: 9999)?.staleReason == .failure)
        overrides.offlineStalenessLimit = DeltaSeconds(3600)
        #expect(decide(after: 3660)?.staleReason == .failure && decide(after: 3661) == nil)
    }

    @Test(
        "The limits of RFC 5861 do not apply to a cache that is disconnected by setting",
        arguments: ["max-age=60, stale-if-error=1", "max-age=60, stale-while-revalidate=1", "max-age=60, immutable"])
    func goesPastExtensions(control: String) throws {
        #expect(try Self.decide(control, after: 4000).staleReason == .offline)
    }

    @Test(
        "The request's directives about age are ignored (§5.2.1: advice), and Cache-Control reports it",
        arguments: [
            "Cache-Control: no-cache", "Cache-Control: max-age=0", "Cache-Control: min-fresh=3600", "Pragma: no-cache",
            "Cache-Control: only-if-cached, max-age=0", "Cache-Control: stale-if-error=1", "Cache-Control: max-stale=1",
        ])
    func passesOverRequest(field: String) throws {
        #expect(try Self.decide("max-age=60", for: get(field), after: 4000).staleReason == .offline)
        let fresh = try Self.decide("max-age=60", for: get(field), after: 10)
        let objects = !field.contains("stale")
        #expect(fresh.isFresh && fresh.terms?.isPastObjection == objects)
        let told = try CacheStatusTests.write(#require(CacheStatus(fresh)))
        #expect(told == "Larder; hit; ttl=50" + (objects ? "; detail=offline" : ""))
    }

    @Test("A fresh response that the request accepts is an ordinary hit, also for a request with no-store")
    func usesFresh() throws {
        for request in [get(), get("Cache-Control: no-store")] {
            let decision = try Self.decide("max-age=60", for: request, after: 10)
            #expect(try CacheStatusTests.write(#require(CacheStatus(decision))) == "Larder; hit; ttl=50")
        }
    }

    @Test(
        "The origin server's prohibition is obeyed (§5.2.2.2): an error instead of a stale response, while a fresh one is served",
        arguments: [
            ("max-age=60, must-revalidate", ForwardReason.mustRevalidate), ("max-age=60, proxy-revalidate", .proxyRevalidate),
            ("s-maxage=60", .sMaxAge),
        ])
    func obeysOrigin(control: String, reason: ForwardReason) throws {
        #expect(try Self.decide(control) == .offlineMiss(reason))
        #expect(try Self.decide(control, after: 10).isFresh)
        #expect(try CacheStatusTests.write(#require(CacheStatus(Self.decide(control)))) == "Larder; detail=offline_miss")
    }

    @Test("A response with no-cache is not served, however fresh it is (§5.2.2.4)")
    func obeysNoCache() throws {
        #expect(try Self.decide("max-age=60, no-cache", after: 0) == .offlineMiss(.noCache))
    }

    @Test(
        "Only an unsafe rule overrides these directives, and the decision reports it",
        arguments: ["max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60", "max-age=60, no-cache"])
    func needsUnsafe(control: String) throws {
        let decision = try Self.decide(control, policy: .storedOnly, isUnsafe: true)
        #expect(decision.staleReason == .offline && decision.terms?.usedUnsafe == true)
        #expect(try Self.decide(control, policy: .storedOnly).terms == nil)
    }

    @Test("A rule's policy that would contact the origin is ignored", arguments: CachePolicy.allCases)
    func passesOverPolicy(policy: CachePolicy) throws {
        #expect(try Self.decide("max-age=60", policy: policy).staleReason == .offline)
        let fresh = try Self.decide("max-age=60", policy: policy, after: 10)
        let asks = [.reload, .reloadAll, .revalidate].contains(policy)
        #expect(fresh.isFresh && fresh.terms?.isPastObjection == asks)
        var overrides = CacheOverrides(policy: policy)
        overrides.isDisconnected = true
        #expect(Reuse.decideBeforeLookUp(for: RequestDirectives(get()), overrides: overrides) == nil)
    }

    @Test("A request that only the origin server can answer is a miss with its reason")
    func missesWithReason() throws {
        var overrides = CacheOverrides.none
        overrides.isDisconnected = true
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
            let directives = RequestDirectives(request(method))
            #expect(Reuse.decideBeforeLookUp(for: directives, overrides: overrides) == .offlineMiss(.method))
        }
        #expect(try Self.decide("max-age=60", for: get("Content-Length: 3"), after: 1) == .offlineMiss(.requestContent))
        #expect(try Self.decide("max-age=60", for: get(#"If-Match: "x""#), after: 1) == .offlineMiss(.originCondition))
        for reason in [ForwardReason.uriMiss, .varyMiss] {
            #expect(Reuse.decideMiss(reason, for: RequestDirectives(get()), overrides: overrides) == .offlineMiss(reason))
        }
    }

    @Test("A response received under another trust policy is a miss, unless its recorded chain is accepted")
    func judgesTrust() throws {
        var facts = try facts(response(200, "Cache-Control: max-age=60", ReuseTests.tag))
        facts.trust = 7
        var directives = RequestDirectives(get())
        directives.trust = 8
        var overrides = CacheOverrides.none
        overrides.isDisconnected = true
        let now = arrival.advanced(seconds: 4000)
        #expect(Reuse.decide(facts, for: directives, overrides: overrides, at: now) == .offlineMiss(.trustChanged))
        let accepted = Reuse.decideByRecordedChain(
            facts, for: directives, overrides: overrides, insteadOf: .disconnected, at: now)
        #expect(accepted.staleReason == .offline && accepted.terms?.isByRecordedChain == true)
        facts = try HTTPCachingTests.facts(response(200, "Cache-Control: max-age=60, must-revalidate", ReuseTests.tag))
        facts.trust = 7
        #expect(
            Reuse.decideByRecordedChain(facts, for: directives, overrides: overrides, insteadOf: .disconnected, at: now)
                == .offlineMiss(.mustRevalidate))
    }
}
