import Testing

@testable import ProxyPolicy

@Suite("The nearest valid name")
struct NearestNameTests {
    private static let names = ["match", "request", "response", "cache", "validate", "on_failure", "max_size", "use_protocol"]

    @Test(
        "A near name is found, regardless of case and dashes",
        arguments: [
            ("mach", "match"), ("Match", "match"), ("macth", "match"), ("respnse", "response"), ("on-failure", "on_failure"),
            ("onfailure", "on_failure"), ("maxsize", "max_size"), ("useprotocol", "use_protocol"), ("validation", "validate"),
        ])
    func near(written: String, meant: String) {
        #expect(NearestName.of(written, among: Self.names) == meant)
    }

    @Test(
        "A distant name gives no suggestion",
        arguments: ["", "x", "upstream", "transform", String(repeating: "match", count: 100)])
    func far(written: String) {
        #expect(NearestName.of(written, among: Self.names) == nil)
    }

    @Test(
        "Edits: insertion, deletion, change, swap of neighbors",
        arguments: [
            ("", "", 0), ("", "ab", 2), ("abc", "abd", 1), ("abcd", "abdc", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
        ])
    func distance(left: String, right: String, edits: Int) {
        #expect(NearestName.editDistance(Array(left.utf8), Array(right.utf8)) == edits)
        #expect(NearestName.editDistance(Array(right.utf8), Array(left.utf8)) == edits)
    }
}
