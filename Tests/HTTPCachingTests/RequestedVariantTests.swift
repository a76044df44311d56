import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Selecting among many variants (RFC 9111 §4.1)")
struct RequestedVariantTests {
    @Test(
        "Selection among many responses gives the same result as comparing them one by one", arguments: 0..<200 as Range<UInt64>)
    func selectsAsOneByOne(seed: UInt64) throws {
        var state = seed &* 2 &+ 1
        func pick<Element>(_ elements: [Element]) -> Element {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return elements[Int(state >> 33) % elements.count]
        }
        let long = String(repeating: "l", count: RequestedVariant.limit)
        let lines = [
            "Accept-Language: de", "Accept-Language: DE", "Accept-Language: de,en", "Accept-Language: de , en", "X-Own: a",
            "X-Own: b",
            "X-Own: a, b", "X-Own:", "X-Own: \(long)", "Accept-Encoding: gzip", "X-None: 1",
        ]
        let nominated = ["Accept-Language", "X-Own", "Accept-Language, X-Own", "X-Own, Accept-Encoding", "Accept-Encoding"]
        let usual = pick(nominated)
        let responses = try (0..<pick([2, 5, 20])).map { _ in
            try stored(
                response(200, "Cache-Control: max-age=60", "Vary: \(pick([usual, usual, pick(nominated)]))"),
                to: get(pick(lines), pick(lines), pick(lines)))
        }
        for _ in 0..<20 {
            let request = get(pick(lines), pick(lines), pick(lines))
            let oneByOne = responses.firstIndex { Vary.matches($0.nominatedFields, request.fields) }
            #expect(Vary.select(among: responses, for: request) == oneByOne)
        }
    }
}
