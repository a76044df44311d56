import Testing

@testable import HTTPMessage

@Suite("Percent-encoding (RFC 3986 §2.1)")
struct PercentEncodingTests {
    @Test(
        "Percent-encoded bytes are decoded in either case; everything else is unchanged",
        arguments: [
            ("", ""), ("a%20b", "a b"), ("%2f%2F", "//"), ("%", "%"), ("%2", "%2"), ("%2x%x2", "%2x%x2"), ("%%41", "%A"),
            ("%2541", "%41"), ("a+b", "a+b"), ("%41", "A"),
        ])
    func decodes(text: String, expected: String) {
        #expect(PercentEncoding.decode(Array(text.utf8).span) == Array(expected.utf8))
    }

    @Test("In forms a plus sign is a space, and an encoded plus sign is a plus sign")
    func decodesForms() {
        #expect(PercentEncoding.decode(Array("a+b%2B".utf8).span, isForm: true) == Array("a b+".utf8))
    }

    @Test("Strict decoding rejects a percent sign that does not encode a byte", arguments: ["%", "%2", "a%2x", "%41%"])
    func rejects(text: String) {
        #expect(PercentEncoding.decodeStrictly(Array(text.utf8).span) == nil)
        #expect(PercentEncoding.decodeStrictly(Array("%41b".utf8).span) == Array("Ab".utf8))
    }

    @Test("Every byte is encoded with two upper-case digits, and decoded again")
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

    @Test("A number is written in as many hexadecimal digits as its type has")
    func pads() {
        #expect(Hexadecimal.encode(padded: UInt64(0xAB)) == "00000000000000ab")
        #expect(Hexadecimal.encode(padded: UInt32.max) == "ffffffff")
        #expect(Hexadecimal.encode(padded: UInt16(0)) == "0000")
    }
}
