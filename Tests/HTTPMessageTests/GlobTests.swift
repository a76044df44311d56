import HTTPMessage
import Testing

@Suite("Patterns with stars")
struct GlobTests {
    @Test(
        "A star matches any bytes, including none",
        arguments: [
            ("", "", true), ("", "a", false), ("a", "a", true), ("a", "", false), ("*", "", true), ("*", "a/b", true),
            ("a*", "ab", true), ("a*", "ba", false), ("*b", "ab", true), ("*b", "ba", false), ("a*c", "abbc", true),
            ("a*c", "abcb", false), ("a**c", "ac", true), ("*ab*ab", "abab", true), ("*ab*ab", "aab", false),
            ("*aab", "aaab", true), ("a?c", "abc", false),
        ])
    func matches(pattern: String, text: String, isMatch: Bool) {
        let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
        #expect(Glob.matches(pattern.span, text.span) == isMatch)
    }
}
