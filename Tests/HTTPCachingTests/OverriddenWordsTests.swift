import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Directives that a decision overrode")
struct OverriddenWordsTests {
    private static let ignoring = CacheOverrides(timeToLive: DeltaSeconds(60), setCookie: .always, ignored: [.noStore, .private])

    @Test(
        "Storing may override no-store, private, and the absence of a lifetime for cookies",
        arguments: [
            ("Cache-Control: no-store", "X: y", [.noStore]), ("Cache-Control: private, no-store", "X: y", [.noStore, .private]),
            ("X: y", "Set-Cookie: a=b", [.setCookie]), ("Cache-Control: max-age=9", "Set-Cookie: a=b", []), ("X: y", "X: z", []),
        ] as [(String, String, OverriddenWords)])
    func storing(first: String, second: String, expected: OverriddenWords) throws {
        let facts = try facts(response(200, first, second), overrides: Self.ignoring)
        #expect(OverriddenWords(storing: facts) == expected)
        let decision = reuse(facts, overrides: Self.ignoring, after: 1)
        #expect(OverriddenWords(using: facts, by: decision) == expected)
        #expect(decision.terms?.usedUnsafe == !expected.isEmpty)
    }

    @Test(
        "Using a response overrides only the directives that contradict the lifetime or policy applied",
        arguments: [
            ("max-age=5", Int64(1), [.lifetime]), ("max-age=5, must-revalidate", 1, [.lifetime, .mustRevalidate]),
            ("no-cache", 1, [.noCache]), ("s-maxage=5", 1, [.lifetime]), ("s-maxage=5", 70, [.lifetime, .sMaxAge]),
            ("must-revalidate", 70, [.mustRevalidate]),
        ] as [(String, Int64, OverriddenWords)])
    func using(value: String, age: Int64, expected: OverriddenWords) throws {
        let overrides = CacheOverrides(policy: .storedElseLoad, timeToLive: DeltaSeconds(60), unsafe: true)
        let facts = try facts(response(200, "Cache-Control: \(value)", #"ETag: "v""#), overrides: overrides)
        #expect(OverriddenWords(using: facts, by: reuse(facts, overrides: overrides, after: age)) == expected)
        #expect(OverriddenWords(using: facts, by: reuse(facts, after: age)) == [])
    }
}
