import TestSupport
import Testing

@testable import SecretScanning

@Suite("Linear-time patterns (T35)")
struct LinearPatternTests {
    @Test(
        "A pattern finds its matches",
        arguments: [
            ("a+b", "xaabab", "x--"), ("[0-9]{2,3}", "1 22 333 4444", "1 - - -4"), ("^a|b$", "aab", "-a-"),
            ("(?:ab|a)c?", "abc ac a", "- - -"),
            ("\\d+\\.\\w*", "v1.0x 2.", "v- -"), ("[^a-c]+", "abcXYcba", "abc-cba"), ("x*", "axxb", "a-b"),
            ("a{2}", "aaaaa", "--a"),
            ("[]a]", "]a", "--"), ("\\/\\[", "/[", "-"), (".", "a\nb", "-\n-"), ("a|b|c", "cab", "---"), ("a??", "a", "-"),
        ])
    func finds(pattern: String, text: String, expected: String) throws {
        let result = try LinearPattern(pattern).replacingAll(in: Array(text.utf8), by: [UInt8(ascii: "-")])
        #expect(result.text == expected)
    }

    @Test(
        "An invalid pattern is refused",
        arguments: ["(", ")", "a)", "*a", "[", "[b-a]", "a{3,2}", "a{999}", "\\1", "\\", "(a{200}){200}", "+"])
    func refuses(pattern: String) {
        #expect(throws: SecretScanningError.self) { try LinearPattern(pattern) }
    }

    @Test(
        "Patterns that make backtracking matchers run forever take bounded time",
        arguments: ["(a*)*b", "(a|aa)+$x", "a.*b.*c.*d", "(.*)(.*)(.*)x"])
    func isBounded(pattern: String) throws {
        let compiled = try LinearPattern(pattern)
        let taken = cpuTime { _ = compiled.replacingAll(in: [UInt8](repeating: UInt8(ascii: "a"), count: 20_000), by: []) }
        #expect(taken < .seconds(30))
    }
}
