import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Choosing parts for several ranges (RFC 9110 §14.2, §15.3.7.2, §17.15)")
struct MultipartRangesTests {
    private func choice(_ ranges: String, of whole: UInt64 = 10_000) throws -> String {
        let value = Array("bytes=\(ranges)".utf8)
        let set = ByteRangeSet(value.span)
        switch MultipartRanges.choose(try #require(set), of: whole) {
        case .one(let range): return "\(range)"
        case .several(let multipart): return multipart.parts.map { "\($0)" }.joined(separator: " ")
        case .whole: return "whole"
        case .unsatisfiable: return "unsatisfiable"
        }
    }

    @Test(
        "Ranges that overlap or nearly touch are joined, at the position of the first",
        arguments: [
            ("0-99,1000-1099", "0..<100 1000..<1100"),
            ("1000-1099,0-99", "1000..<1100 0..<100"),
            ("0-99,50-149", "0..<150"),
            ("0-99,100-199,200-299", "0..<300"),
            // The gap is shorter than a part's head.
            ("0-99,227-300,5000-5001", "0..<301 5000..<5002"),
            ("0-99,228-300", "0..<100 228..<301"),
            // A later range joins two separate ones.
            ("0-99,9000-9099,1000-1099,100-999", "0..<1100 9000..<9100"),
            ("0-0,0-0,0-0", "0..<1"),
            // An unsatisfiable range is left out.
            ("20000-,5-6", "5..<7"),
            ("-1,-2", "9998..<10000"),
        ])
    func joins(ranges: String, expected: String) throws {
        #expect(try choice(ranges) == expected)
    }

    @Test("If the parts would be longer than the complete body, the complete body is sent")
    func answersWhole() throws {
        #expect(try choice("0-4999,5000-") == "whole")
        #expect(try choice("0-4900,5100-9990,9999-") == "whole")
        #expect(try choice("0-,0-") == "whole")
        // Four heads cost 512 bytes: still less than 601.
        #expect(try choice("0-0,200-200,400-400,600-600", of: 601) == "0..<1 200..<201 400..<401 600..<601")
        #expect(try choice("0-0,128-128,257-257,386-386", of: 500) == "whole")
    }

    @Test(
        "Unsatisfiable ranges differ from ranges that cover everything",
        arguments: [("10000-,-0", "unsatisfiable"), ("0-", "0..<10000")])
    func knowsNothing(ranges: String, expected: String) throws {
        #expect(try choice(ranges) == expected)
    }
}
