import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Ranges of a complete response (RFC 9110 §14.2, §13.1.5)")
struct PartialContentTests {
    static func select(_ request: RequestHead, _ fields: [String] = [], status: UInt16 = 200, length: UInt64 = 10)
        -> RangeSelection
    {
        var head = response(status, "Cache-Control: max-age=60")
        for field in fields {
            let parts = field.split(separator: ": ", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: String(parts[1]))
        }
        return PartialContent.select(request, directives: RequestDirectives(request), of: head, length: length)
    }

    @Test(
        "One range is cut from ten octets",
        arguments: [
            ("bytes=0-3", RangeSelection.part(0..<4)), ("bytes=-3", .part(7..<10)), ("bytes=9-", .part(9..<10)),
            ("bytes=5-100", .part(5..<10)), ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=10-, 11-", .unsatisfiable),
            // Several at once, another unit and nonsense: the whole (T26).
            ("bytes=0-1,3-4", .whole), ("items=0-1", .whole), ("bytes=x", .whole), ("bytes=4-3", .whole),
        ])
    func cuts(value: String, expected: RangeSelection) {
        #expect(Self.select(get("Range: \(value)")) == expected)
    }

    @Test("Range is for GET and a stored 200 alone")
    func onlyForGET() {
        #expect(Self.select(request("HEAD", "http://example.com/a", "Range: bytes=0-3")) == .whole)
        #expect(Self.select(get("Range: bytes=0-3"), status: 404) == .whole)
        #expect(Self.select(get("Range: bytes=0-3", "Range: bytes=4-5")) == .whole)
        #expect(Self.select(request()) == .whole)
    }

    @Test(
        "If-Range holds by strong comparison",
        arguments: [
            (#""x""#, #"ETag: "x""#, true), (#""y""#, #"ETag: "x""#, false), (#"W/"x""#, #"ETag: W/"x""#, false),
            (#""x""#, #"ETag: W/"x""#, false), ("nonsense", #"ETag: "x""#, false),
            (date(-100), "Last-Modified: " + date(-100), true), (date(-99), "Last-Modified: " + date(-100), false),
            // Modified in the second of the Date: a weak validator.
            (date(0), "Last-Modified: " + date(0), false),
        ])
    func ifRange(condition: String, field: String, holds: Bool) {
        let expected: RangeSelection = holds ? .part(0..<4) : .whole
        #expect(Self.select(get("Range: bytes=0-3", "If-Range: \(condition)"), [field]) == expected)
    }

    @Test("Without content there is no part: the whole is sent", arguments: ["bytes=0-", "bytes=-5", "bytes=0-0"])
    func emptyContent(value: String) {
        #expect(Self.select(get("Range: \(value)"), length: 0) == .whole)
    }
}
