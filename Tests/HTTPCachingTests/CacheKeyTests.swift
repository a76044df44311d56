import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Cache key (RFC 9111 §2)")
struct CacheKeyTests {
    @Test(
        "Each target has one key, whatever its spelling",
        arguments: [
            ("http://example.com/a?b=1", "http://example.com:80/a?b=1"), ("http://EXAMPLE.com/A", "http://example.com:80/A"),
            ("http://example.com:80/a", "http://example.com:80/a"), ("http://example.com", "http://example.com:80/"),
            ("http://example.com?q", "http://example.com:80/?q"), ("http://example.com:8080/", "http://example.com:8080/"),
            ("http://[2001:DB8::1]/", "http://[2001:db8::1]:80/"), ("http://example.com/a?", "http://example.com:80/a?"),
            ("http://example.com/%7Ea", "http://example.com:80/%7Ea"),
        ])
    func writesKey(target: String, key: String) {
        #expect(text(CacheKey(of: request("GET", target)).bytes) == key)
    }

    @Test("T19: http and https have separate keys")
    func schemesAreApart() {
        let plain = CacheKey(of: request("GET", "http://example.com:443/"))
        #expect(plain != CacheKey(of: request("GET", "https://example.com/")))
    }

    @Test("T17, T18: no field changes the key, and every part of the target does")
    func onlyTheTargetCounts() {
        let plain = CacheKey(of: request())
        for field in ["Host: evil.example", "X-Forwarded-Host: evil.example", "X-Original-URL: /b", "Cookie: a=b"] {
            #expect(CacheKey(of: get(field)) == plain)
        }
        let others = ["http://example.com/b", "http://example.com/a?x", "http://example.org/a", "http://example.com:81/a"]
        for target in others { #expect(CacheKey(of: request("GET", target)) != plain) }
        // Queries that differ in order or repetition name different resources.
        #expect(CacheKey(of: request("GET", "http://e/?a=1&a=2")) != CacheKey(of: request("GET", "http://e/?a=2&a=1")))
    }

    @Test("GET and HEAD share the key")
    func sharesHead() {
        #expect(CacheKey(of: request("HEAD")) == CacheKey(of: request("GET")))
    }

    @Test("Writing a key reuses the storage")
    func reusesStorage() {
        var bytes: [UInt8] = Array(repeating: 0x78, count: 300)
        CacheKey.write(request(), into: &bytes)
        #expect(text(bytes) == "http://example.com:80/a")
    }
}

@Suite("Overrides of the cache's behavior")
struct CacheOverridesTests {
    @Test("A later value replaces an earlier one, and unset options change nothing")
    func merges() {
        var overrides = CacheOverrides(policy: .reload, timeToLive: DeltaSeconds(10), maximumBodyLength: 5, setCookie: .never)
        overrides.merge(.none)
        #expect(
            overrides == CacheOverrides(policy: .reload, timeToLive: DeltaSeconds(10), maximumBodyLength: 5, setCookie: .never))
        overrides.merge(CacheOverrides(policy: .storedOnly, storeNever: true, maximumBodyLength: 9, setCookie: .explicit))
        let expected = CacheOverrides(
            policy: .storedOnly, storeNever: true, timeToLive: DeltaSeconds(10), maximumBodyLength: 9, setCookie: .explicit)
        #expect(overrides == expected)
    }

    @Test("unsafe applies only to the options set together with it")
    func unsafeDoesNotSpread() throws {
        var overrides = CacheOverrides(policy: .storedElseLoad, unsafe: true)
        overrides.merge(CacheOverrides(timeToLive: DeltaSeconds(600)))
        let facts = try facts(response(200, "Cache-Control: max-age=60, must-revalidate", #"ETag: "x""#))
        // The policy may override must-revalidate, but the lifetime must not override max-age.
        #expect(reuse(facts, overrides: overrides, after: 61).staleReason == .storedElseLoad)
        overrides.merge(CacheOverrides(policy: .useProtocol))
        #expect(reuse(facts, overrides: overrides, after: 61) == .validate(.mustRevalidate))
        #expect(!overrides.unsafe)
    }
}
