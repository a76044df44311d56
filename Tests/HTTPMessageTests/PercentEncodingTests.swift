import Testing

@testable import HTTPMessage

@Suite("Percent-encoding (RFC 3986 §2.1)")
struct PercentEncodingTests {
    @Test(
        "What encodes a byte is decoded, in either case; all else stays",
        arguments: [
            ("", ""), ("a%20b", "a b"), ("%2f%2F", "//"), ("%", "%"), ("%2", "%2"), ("%2x%x2", "%2x%x2"), ("%%41", "%A"),
            ("%2541", "%41"), ("a+b", "a+b"), ("%41", "A"),
        ])
    func decodes(text: String, expected: String) {
        #expect(PercentEncoding.decode(Array(text.utf8).span) == Array(expected.utf8))
    }

    @Test("In forms a plus sign is a space, and an encoded one is a plus sign")
    func decodesForms() {
        #expect(PercentEncoding.decode(Array("a+b%2B".utf8).span, isForm: true) == Array("a b+".utf8))
    }

    @Test("Strictly, a percent sign that encodes no byte is an error", arguments: ["%", "%2", "a%2x", "%41%"])
    func rejects(text: String) {
        #expect(PercentEncoding.decodeStrictly(Array(text.utf8).span) == nil)
        #expect(PercentEncoding.decodeStrictly(Array("%41b".utf8).span) == Array("Ab".utf8))
    }

    @Test("Every byte is written with two digits in upper case, and read again")
    func writes() {
        for byte in UInt8.min...UInt8.max {
            var text: [UInt8] = []
            PercentEncoding.append(encoded: byte, into: &text)
            #expect(text.count == 3 && PercentEncoding.byte(in: text.span, at: 0) == byte)
        }
        var text: [UInt8] = []
        PercentEncoding.append(encoded: 0xAF, into: &text)
        #expect(text == Array("%AF".utf8))
    }

    @Test("Numbers are written in as many hexadecimal digits as their type has")
    func pads() {
        #expect(Hexadecimal.encode(padded: UInt64(0xAB)) == "00000000000000ab")
        #expect(Hexadecimal.encode(padded: UInt32.max) == "ffffffff")
        #expect(Hexadecimal.encode(padded: UInt16(0)) == "0000")
    }
}
