import HTTPSerialization
import Testing

@Suite("Text with its charset (V14)")
struct TextSerializerTests {
    private func text(_ octets: [UInt8], _ type: String?, _ serializer: TextSerializer = TextSerializer()) throws -> String {
        try serializer.serialize(ReceivedHead(status: 200, contentType: type), octets).get()
    }

    @Test(
        "Text is decoded in the charset of its type",
        arguments: [
            ("text/plain", [0xC3, 0xA9], "é"), ("text/plain; charset=utf-8", [0xC3, 0xA9], "é"),
            ("text/plain;charset=\"UTF-8\"", [0xC3, 0xA9], "é"),
            ("text/plain; x=\"a;charset=b\" ; Charset=ISO-8859-1", [0xE9], "é"),
            ("text/plain; charset=windows-1252", [0x80], "€"),
            ("text/plain; charset=Shift_JIS", [0x93, 0xFA, 0x96, 0x7B], "日本"), ("text/plain; charset=euc-jp", [0xC6, 0xFC], "日"),
            ("text/plain; charset=gb18030", [0xD6, 0xD0], "中"), ("text/plain; charset=koi8-r", [0xF2], "Р"),
            ("text/plain; charset=utf-16", [0x20, 0xAC], "€"),
            ("text/plain; charset=utf-16le", [0xAC, 0x20], "€"),
            ("text/plain; charset=iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "日"),
            ("text/plain; charset=big5", [0xA4, 0xA4], "中"), ("text/plain; charset=euc-kr", [0xC7, 0xD1], "한"),
            ("text/plain; charset=iso-8859-15", [0xA4], "€"),
            ("text/plain; charset=us-ascii", [], ""), ("text/plain; charset=utf-32be", [0, 1, 0xF6, 0x00], "😀"),
        ] as [(String, [UInt8], String)])
    func reads(type: String, octets: [UInt8], expected: String) throws {
        #expect(try text(octets, type) == expected)
    }

    @Test("A byte order mark has precedence over the field, and is not part of the text")
    func readsMarks() throws {
        #expect(try text([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=utf-16") == "a")
        #expect(try text([0xFE, 0xFF, 0x00, 0x61], "text/plain") == "a")
        #expect(try text([0xFF, 0xFE, 0x61, 0x00], "text/plain; charset=utf-16") == "a")
    }

    @Test("Invalid bytes are a fault with their offset, or are replaced if the serializer says so")
    func refusesFaults() throws {
        for (octets, type, offset) in [
            ([0x61, 0xFF], "text/plain", 1), ([0xEF, 0xBB, 0xBF, 0x61, 0xC3], "text/plain", 5),
            ([0x61, 0xE9], "text/plain; charset=us-ascii", 1),
            ([0, 0x61, 0xD8, 0], "text/plain; charset=utf-16", 2), ([0x61, 0x93], "text/plain; charset=shift_jis", 1),
            ([0x61], "text/plain; charset=utf-16", 0),
        ] as [([UInt8], String, Int)] {
            let fault = TextSerializer().serialize(ReceivedHead(status: 200, contentType: type), octets).faults.first
            #expect(fault?.code == .malformedText && fault?.offset == offset, "\(octets) \(type)")
        }
        let replacing = TextSerializer(replacesFaults: true)
        #expect(try text([0x61, 0xFF, 0x62], "text/plain", replacing) == "a\u{FFFD}b")
        #expect(try text([0x61, 0xE9, 0x62], "text/plain; charset=us-ascii", replacing) == "a\u{FFFD}b")
        #expect(try text([0, 0x61, 0xD8, 0, 0, 0x62], "text/plain; charset=utf-16", replacing) == "a\u{FFFD}b")
    }

    @Test("Control characters that begin or end an escape are not encoded in charsets with escapes")
    func writesNoEscapes() throws {
        let japanese = try #require(Charset("iso-2022-jp"))
        #expect(japanese.octets(of: "日a") == [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42, 0x61])
        for control in ["\u{1B}", "\u{0E}", "\u{0F}"] {
            #expect(japanese.octets(of: "a\(control)\"") == nil)
            #expect(Charset("shift_jis")?.octets(of: control) == Array(control.utf8))
        }
    }

    @Test(
        "A charset that is not in the list is not passed to iconv",
        arguments: ["x", "utf-7", "UTF-8//TRANSLIT", "iso-8859-17", "iso-8859-01", "windows-1259", "../x", "IBM037"])
    func knowsAList(label: String) {
        #expect(Charset(label) == nil)
        let fault = TextSerializer().serialize(ReceivedHead(status: 200, contentType: "a/b; charset=\"\(label)\""), [0x61]).faults
            .first
        #expect(fault?.code == .malformedText)
    }

    @Test("Pieces of a long text are joined at character boundaries")
    func joinsPieces() throws {
        let octets = (0..<50_000).flatMap { _ in [0x93, 0xFA, 0x61] as [UInt8] }
        #expect(try text(octets, "text/plain; charset=shift_jis") == String(repeating: "日a", count: 50_000))
    }
}
