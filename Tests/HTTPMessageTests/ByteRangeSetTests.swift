import HTTPMessage
import Testing

@Suite("Byte ranges (RFC 9110 §14.1.2, §14.2)")
struct ByteRangeSetTests {
    @Test(
        "Each form of a range is resolved against the length",
        arguments: [
            ("bytes=0-499", 0..<500), ("bytes=500-999", 500..<1000), ("bytes=9500-", 9500..<10_000),
            ("bytes=-500", 9500..<10_000),
            ("bytes=0-0", 0..<1), ("bytes=9999-20000", 9999..<10_000), ("bytes=-20000", 0..<10_000), ("Bytes=0-0", 0..<1),
            ("bytes= 1-2 ", 1..<3), ("bytes=0-99999999999999999999999999", 0..<10_000), ("bytes=,1-1,", 1..<2),
        ] as [(String, Range<UInt64>)])
    func resolves(text: String, expected: Range<UInt64>) throws {
        let parsed = ByteRangeSet(Array(text.utf8).span)
        let set = try #require(parsed)
        #expect(set.count == 1)
        #expect(set[0].resolved(inLength: 10_000) == expected)
    }

    @Test(
        "A range that begins after the end is not satisfiable",
        arguments: ["bytes=10000-", "bytes=10000-10001", "bytes=-0", "bytes=18446744073709551616-"])
    func isUnsatisfiable(text: String) throws {
        let parsed = ByteRangeSet(Array(text.utf8).span)
        let set = try #require(parsed)
        #expect(set[0].resolved(inLength: 10_000) == nil)
    }

    @Test(
        "For empty content only a suffix is satisfiable, and its range is empty",
        arguments: [("bytes=0-", nil), ("bytes=-1", 0..<0), ("bytes=-0", nil)] as [(String, Range<UInt64>?)])
    func resolvesWithoutContent(text: String, expected: Range<UInt64>?) throws {
        let parsed = ByteRangeSet(Array(text.utf8).span)
        let set = try #require(parsed)
        #expect(set[0].resolved(inLength: 0) == expected)
    }

    @Test(
        "An invalid field is ignored (T26)",
        arguments: [
            "", "bytes", "bytes=", "bytes=,", "bytes=a-b", "bytes=5-4", "bytes=--5", "bytes=1", "items=0-1", "bytes 0-1",
            "bytes=0-1;2-3", "bytes=+1-2",
        ])
    func ignores(text: String) {
        #expect(ByteRangeSet(Array(text.utf8).span) == nil)
    }

    @Test("As many ranges as the limit are accepted, one more is not")
    func countsRanges() {
        let ranges = (0..<ByteRangeSet.specifierLimit).map { "\($0)-\($0)" }
        let most = "bytes=" + ranges.joined(separator: ",")
        #expect(ByteRangeSet(Array(most.utf8).span)?.count == ByteRangeSet.specifierLimit)
        #expect(ByteRangeSet(Array((most + ",99-99").utf8).span) == nil)
    }
}

@Suite("Content-Range (RFC 9110 §14.4)")
struct ContentRangeTests {
    @Test(
        "A valid value is written as it was parsed",
        arguments: [
            ("bytes 42-1233/1234", ContentRange.part(42..<1234, of: 1234)), ("bytes 42-1233/*", .part(42..<1234, of: nil)),
            ("bytes */1234", .unsatisfied(length: 1234)), ("bytes 0-0/1", .part(0..<1, of: 1)),
        ])
    func readsAndWrites(text: String, expected: ContentRange) {
        #expect(ContentRange(Array(text.utf8).span) == expected)
        var output: [UInt8] = []
        expected.write(into: &output)
        #expect(String(decoding: output, as: UTF8.self) == text)
    }

    @Test(
        "An invalid value is never combined with a stored response",
        arguments: [
            "bytes 5-4/10", "bytes 0-10/10", "bytes */*", "items 0-1/2", "bytes 0-1", "bytes 0-/5", "bytes -5/10", "bytes=0-1/2",
            "",
            "bytes 0-18446744073709551615/*", "bytes 0-18446744073709551614/*", "bytes 0-4/1152921504606846977",
            "bytes */18446744073709551615",
        ])
    func refuses(text: String) {
        #expect(ContentRange(Array(text.utf8).span) == nil)
    }
}
