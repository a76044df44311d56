import Testing

@testable import SecretScanning

@Suite("Known secret values")
struct KnownSecretsTests {
    @Test("A text is compared with only a few of many known secrets that have the same beginning")
    func comparesFewOfMany() {
        let start = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUi."
        let tokens = (0..<2000).map { "\(start)sig-\($0)-x" }
        var known = KnownSecrets()
        for token in tokens { _ = known.learn(declared: Array(token.utf8)) }
        for token in [tokens[0], tokens[999], tokens[1999]] {
            let text = "say \(token) and \(start)none"
            var comparisons = 0
            let found = known.found(in: Array(text.utf8), &comparisons)
            #expect(found.map { Array(Array(text.utf8)[$0.range]).text } == [token])
            // Two places in the text, with a binary search over the forms at each.
            #expect(comparisons < 100, "\(comparisons)")
        }
    }

    @Test("The longest known secret at a position is found, a short one only as a whole word")
    func findsTheLongest() {
        var known = KnownSecrets()
        for value in ["abc-12", "abc-12-345", "abc-12-345-6789-0123", "abc-12-345-6789-0199"] {
            _ = known.learn(declared: Array(value.utf8))
        }
        func found(_ text: String) -> [String] {
            known.found(in: Array(text.utf8)).map { Array(Array(text.utf8)[$0.range]).text }
        }
        #expect(found("abc-12-345-6789-0123") == ["abc-12-345-6789-0123"])
        #expect(found("abc-12-345-6789-0150") == ["abc-12-345"])
        #expect(found("abc-12-345x") == ["abc-12"])
        #expect(found("abc-12x abc-12") == ["abc-12"])
        #expect(found("abc-1") == [])
    }

    @Test("Values whose forms exceed the limit are not remembered, and use no memory")
    func boundsForms() {
        var known = KnownSecrets(formsLengthLimit: 1000)
        let values = (10..<60).map { "value-\($0)-abc" }
        let learned = values.filter { known.learn(declared: Array($0.utf8)) }
        #expect(!learned.isEmpty && learned.count < values.count)
        let found = values.filter { !known.found(in: Array("a \($0) b".utf8)).isEmpty }
        #expect(found == learned)
    }
}
