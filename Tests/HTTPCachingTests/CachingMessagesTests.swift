import HTTPCaching
import Testing

@Suite("HTTPCaching for other programs: decisions about requests and responses as values")
struct CachingMessagesTests {
    /// 2024-06-01T00:00:00Z.
    private static let now = Duration.seconds(1_717_200_000)
    private static let date = (name: "Date", value: "Sat, 01 Jun 2024 00:00:00 GMT")

    private static func request(
        _ method: String = "GET", _ uri: String = "http://example.com/a", _ fields: [(name: String, value: String)] = []
    ) throws -> CachingRequest { try #require(CachingRequest(method, uri, fields: fields)) }

    private static func response(_ status: Int = 200, _ fields: (name: String, value: String)...) throws -> CachingResponse {
        try #require(CachingResponse(status, fields: [date] + fields, requestTime: now, responseTime: now))
    }

    @Test("The key is the normalized URI; malformed requests and responses have no value")
    func makesKeys() throws {
        #expect(try "\(CacheKey(of: Self.request("GET", "HTTP://Example.com")))" == "http://example.com:80/")
        #expect(try CacheKey(of: Self.request("HEAD")) == CacheKey(of: Self.request("POST")))
        #expect(try CacheKey(of: Self.request()) != CacheKey(of: Self.request("GET", "http://example.com/b")))
        #expect(CachingRequest("GET", "/a") == nil && CachingRequest("G T", "http://a/") == nil)
        #expect(CachingRequest("GET", "http://a/", fields: [("X", "a\r\nY: b")]) == nil)
        for status in [0, 100, 199, 1000] {
            #expect(CachingResponse(status, requestTime: Self.now, responseTime: Self.now) == nil)
        }
        #expect(CachingResponse(200, fields: [("", "a")], requestTime: Self.now, responseTime: Self.now) == nil)
        let far = try #require(CachingResponse(200, requestTime: .seconds(Int64.min), responseTime: .seconds(Int64.max)))
        #expect(Freshness.age(of: far, at: .seconds(Int64.max)) == .greatest)
    }

    @Test("A refusal to store has its reason; a cache of one user ignores `private`")
    func decidesStorage() throws {
        let fresh = try Self.response(200, ("Cache-Control", "max-age=60"))
        #expect(try Storability.refusal(of: fresh, to: Self.request()) == nil)
        #expect(try Storability.refusal(of: fresh, to: Self.request("POST")) == .method)
        let authorized = try Self.request("GET", "http://example.com/a", [("Authorization", "Basic eDp5")])
        #expect(Storability.refusal(of: fresh, to: authorized) == .authorization)
        let own = try Self.response(200, ("Cache-Control", "private, max-age=60"))
        #expect(try Storability.refusal(of: own, to: Self.request()) == .private)
        #expect(try Storability.refusal(of: own, to: Self.request(), overrides: CacheOverrides(ignored: [.private])) == nil)
    }

    @Test("Lifetime and age are those of RFC 9111, with the source of the lifetime")
    func countsTime() throws {
        let fresh = try Self.response(200, ("Cache-Control", "max-age=60"), ("Age", "10"))
        #expect(Freshness.lifetime(of: fresh) == (DeltaSeconds(60), .maxAge))
        #expect(Freshness.age(of: fresh, at: Self.now + .milliseconds(5999)) == DeltaSeconds(15))
        let guessed = try Self.response(200, ("Last-Modified", "Fri, 31 May 2024 23:50:00 GMT"))
        #expect(Freshness.lifetime(of: guessed) == (DeltaSeconds(60), .heuristic))
    }

    @Test("A stored response is reused while it is fresh, for the same key and the same nominated fields")
    func decidesReuse() throws {
        let response = try Self.response(200, ("Cache-Control", "max-age=60"), ("Vary", "Accept-Language"))
        let former = try Self.request("GET", "http://example.com/a", [("Accept-Language", "en")])
        func decide(
            _ fields: [(name: String, value: String)], after seconds: Int64 = 0, _ uri: String = "http://example.com/a",
            _ overrides: CacheOverrides = .none
        ) throws -> ReuseDecision {
            try Reuse.decide(
                response, to: former, for: Self.request("GET", uri, fields), at: Self.now + .seconds(seconds),
                overrides: overrides)
        }
        guard case .fresh(let terms) = try decide([("Accept-Language", "en")], after: 59) else {
            Issue.record("the response is fresh for 60 s")
            return
        }
        #expect(terms.age == DeltaSeconds(59) && terms.remaining == 1 && terms.lifetimeSource == .maxAge)
        #expect(try decide([("Accept-Language", "de")]) == .forward(.varyMiss))
        #expect(try !Vary.matches(response, to: former, for: Self.request()) && Vary.matches(response, to: former, for: former))
        #expect(try decide([("Accept-Language", "en")], after: 0, "http://example.com/b") == .forward(.uriMiss))
        #expect(try decide([("Accept-Language", "en")], after: 60) == .forward(.stale))
        #expect(
            try decide([("Accept-Language", "en"), ("Cache-Control", "only-if-cached")], after: 60) == .notSatisfiable(.stale))
        guard
            case .staleAllowed(_, .maxStale) = try decide(
                [("Accept-Language", "en"), ("Cache-Control", "max-stale")], after: 90)
        else {
            Issue.record("the request accepts a stale response")
            return
        }
        #expect(try decide([], after: 0, "http://example.com/a", CacheOverrides(policy: .reload)) == .forward(.reload))
    }
}
