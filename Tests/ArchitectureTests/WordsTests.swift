import Testing

/// Words that stand in Cache-Status, Proxy-Status, errors and logs without being escaped.
@Suite("Words that clients are told")
struct WordsTests {
    /// The literals of every `word`, `reason` and `forwardToken` of the sources, with their place.
    private static let words = Repository.sources.flatMap(words(in:))

    private static let openings = ["word", "reason", "forwardToken"].map { "var \($0): StaticString {" }

    private static func words(in file: Repository.SourceFile) -> [(word: String, place: String)] {
        var words: [(word: String, place: String)] = []
        var isInside = false
        for line in file.lines {
            if openings.contains(where: line.hasSuffix) { isInside = true }
            if line.hasPrefix("    }") { isInside = false }
            if isInside, let literal = line.firstMatch(of: /"([^"]*)"/) { words.append((String(literal.1), file.path)) }
        }
        return words
    }

    @Test("Each is a token that needs no quotes, and no escapes within them")
    func areTokens() {
        #expect(Self.words.count > 80)
        for (word, place) in Self.words { #expect(word.wholeMatch(of: /[a-z][a-z0-9_-]*/) != nil, "\(place): \(word)") }
    }
}
