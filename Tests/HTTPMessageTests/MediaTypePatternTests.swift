import HTTPMessage
import Testing

@Suite("Media type patterns in rules (RFC 9110 §8.3.1, RFC 6839)")
struct MediaTypePatternTests {
    struct Row: Sendable {
        let pattern: String
        let value: String
        let matches: Bool

        init(_ pattern: String, _ value: String, _ matches: Bool) {
            self.pattern = pattern
            self.value = value
            self.matches = matches
        }
    }

    @Test(
        "V2: exact, type/* and structured suffix patterns match; case and parameters do not matter",
        arguments: [
            Row("application/json", "application/json", true),
            Row("application/json", "Application/JSON; charset=x", true),
            Row("Application/Json", "application/json ;charset=x", true),
            Row("application/json", "nonstandard/json", false),
            Row("application/json", "application/json5", false),
            Row("application/json", "application/problem+json", false),
            Row("application/json", "text/html", false),
            Row("text/*", "text/html", true),
            Row("text/*", "texts/html", false),
            Row("*/*", "image/png", true),
            Row("*/*+json", "application/problem+json", true),
            Row("*/*+json", "application/json", false),
            Row("*/*+json", "application/+json", false),
            Row("*/*+json", "application/problem+JSON", true),
            Row("application/*+json", "image/x+json", false),
            // An invalid media type never matches, not even `*/*`.
            Row("*/*", "", false),
            Row("*/*", "json", false),
            Row("*/*", "application/", false),
            Row("*/*", "/json", false),
            Row("*/*", "application/json, text/html", false),
            Row("*/*", "application/json text/html", false),
        ])
    func matches(row: Row) throws {
        let pattern = try #require(MediaTypePattern(row.pattern))
        #expect(pattern.matches(Array(row.value.utf8).span) == row.matches)
    }

    @Test(
        "Text that is not a pattern is rejected",
        arguments: ["", "json", "*", "*/json", "application/", "/json", "a/b/c", "a b/c", "a/b;q=1", "te*/x", "text/h*", "*/*+"])
    func refused(text: String) {
        #expect(MediaTypePattern(text) == nil)
    }

    @Test(
        "A pattern is written as it was parsed",
        arguments: ["application/json", "text/*", "*/*", "*/*+json", "application/*+xml"])
    func description(text: String) {
        #expect(MediaTypePattern(text)?.description == text)
    }
}
