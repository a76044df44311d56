import TestSupport
import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Path globs")
struct PathPatternTests {
    struct Row: Sendable {
        let pattern: String
        let path: String
        let matches: Bool

        init(_ pattern: String, _ path: String, _ matches: Bool) {
            self.pattern = pattern
            self.path = path
            self.matches = matches
        }
    }

    private func matches(_ pattern: String, _ path: String) throws -> Bool {
        try PathPattern(pattern).matches(Array(path.utf8).span)
    }

    @Test(
        "One star stays within its segment, two stars cross slashes",
        arguments: [
            Row("/a", "/a", true), Row("/a", "/a/", false), Row("/a", "/A", false), Row("/a", "/ab", false),
            Row("/a", "/", false),
            Row("/", "/", true), Row("/*", "/", true), Row("/*", "/a", true), Row("/*", "/a/", false), Row("/*", "/a/b", false),
            Row("/*.css", "/x.css", true), Row("/*.css", "/.css", true), Row("/*.css", "/a/x.css", false),
            Row("/a/*/c", "/a/b/c", true), Row("/a/*/c", "/a//c", true), Row("/a/*/c", "/a/b/b/c", false),
            Row("/**", "/", true), Row("/**", "/a/b/", true), Row("**", "/a", true), Row("**.css", "/a/b/x.css", true),
            Row("/a/**", "/a/", true), Row("/a/**", "/a", false), Row("/a/**", "/a/b/c", true), Row("/a/**", "/ab", false),
            Row("/a**", "/a", true), Row("/a**", "/a/b", true), Row("/a**", "/ab/c", true),
            Row("/a/**/z", "/a/z", true), Row("/a/**/z", "/a/b/z", true), Row("/a/**/z", "/a/b/c/z", true),
            Row("/a/**/z", "/a/bz", false), Row("/a/**/z", "/az", false), Row("/a/**/z", "/a/zz", false),
            Row("/**/z", "/z", true), Row("/**/z", "/y/z", true), Row("/**/z", "/yz", false), Row("**/z", "/z", true),
            Row("/a/**/**/z", "/a/z", true), Row("/**/*.js", "/x.js", true), Row("/**/*.js", "/a/b/x.js", true),
            Row("/***", "/a/b", true), Row("/a*b*c", "/abbc", true), Row("/a*b*c", "/ab/c", false),
            Row("/%2A", "/%2A", true), Row("/ü", "/ü", true), Row("/*", "/ü", true),
        ])
    func table(row: Row) throws {
        #expect(try matches(row.pattern, row.path) == row.matches)
    }

    @Test(
        "Invalid patterns are refused",
        arguments: [
            ("", PathPattern.Fault.empty), ("a", .noLeadingSlash), ("/a?b", .notInPaths(0x3F)), ("/a#b", .notInPaths(0x23)),
            ("/a b", .notInPaths(0x20)), ("/a\n", .notInPaths(0x0A)), ("/" + String(repeating: "a", count: 511), .tooLong),
        ])
    func refused(text: String, fault: PathPattern.Fault) {
        #expect(throws: fault) { try PathPattern(text) }
    }

    @Test("A pattern may have every byte")
    func everyByte() throws {
        var text = ""
        for byte in UInt8(0x21)...0x7E where !"#*?%".utf8.contains(byte) { text.unicodeScalars.append(UnicodeScalar(byte)) }
        for number in UInt32(0)..<30 { text.unicodeScalars.append(UnicodeScalar((number + 2) << 6 | number) ?? "/") }
        let raw = Set(text.utf8)
        for byte in UInt8.min...UInt8.max where !raw.contains(byte) {
            text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(try matches("/*" + text, "/x" + text))
        #expect(try !matches("/*" + text, "/x" + text + "x"))
        let rules = try ruleSet("[{name: n, match: {path: \"/%01*/%2A/\"}, deny: {}}]")
        var matched = MatchedRules()
        #expect(rules.match(try request("GET http://h/%01a/*/"), into: &matched) == .deny)
    }

    @Test("The longest pattern works, in every machine word of the state set")
    func longest() throws {
        let text = "/*" + String(repeating: "ab", count: 254) + "c"
        #expect(text.utf8.count == PathPattern.longest)
        let path = "/xyz" + text.dropFirst(2)
        #expect(try matches(text, path))
        #expect(try !matches(text, path + "c"))
        #expect(try !matches(text, String(path.dropLast())))
    }

    @Test("T35: patterns that would make a backtracking matcher exponential take one pass")
    func noBacktracking() throws {
        let stars = "/" + String(repeating: "a*", count: 200) + "b"
        let across = "/" + String(repeating: "**/a", count: 100) + "b"
        let path = Array(("/" + String(repeating: "a", count: 16_000)).utf8)
        let slashes = Array(String(repeating: "/a", count: 8_000).utf8)
        #expect(try !PathPattern(stars).matches(path.span))
        #expect(try !PathPattern(across).matches(slashes.span))
    }

    @Test(
        "Patterns that match every path are recognized",
        arguments: [("/**", true), ("**", true), ("/*", false), ("/a**", false), ("*", false)])
    func everyPath(text: String, expected: Bool) throws {
        #expect(try PathPattern(text).matchesEveryPath == expected)
    }

    @Test("Short patterns and paths over few letters match as in the recursive definition", arguments: 0..<40 as Range<UInt64>)
    func reference(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let pattern = "/" + Self.text(of: ["a", "b", "/", "*", "**", "/**/"], length: 0...7, &generator)
            let path = "/" + Self.text(of: ["a", "b", "/"], length: 0...9, &generator)
            let expected = Self.reference(Array(pattern.utf8)[...], Array(path.utf8)[...])
            #expect(try matches(pattern, path) == expected, "\(pattern) over \(path)")
        }
    }

    private static func text(of parts: [String], length: ClosedRange<Int>, _ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: length, using: &generator)).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
    }

    /// Exponential, and a direct translation of the definition.
    private static func reference(_ pattern: ArraySlice<UInt8>, _ path: ArraySlice<UInt8>, after last: UInt8 = 0) -> Bool {
        let star = UInt8(ascii: "*")
        let slash = UInt8(ascii: "/")
        guard let first = pattern.first else { return path.isEmpty }
        guard first == star else {
            guard path.first == first else { return false }
            return reference(pattern.dropFirst(), path.dropFirst(), after: first)
        }
        let rest = pattern.drop { $0 == star }
        let isAcross = pattern.count - rest.count > 1
        if isAcross, last == slash, rest.first == slash, reference(rest.dropFirst(), path, after: slash) { return true }
        var left = path
        while true {
            if reference(rest, left, after: star) { return true }
            guard let next = left.first, isAcross || next != slash else { return false }
            left = left.dropFirst()
        }
    }
}
