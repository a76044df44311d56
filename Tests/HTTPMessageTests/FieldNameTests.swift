import HTTPMessage
import Testing

@Suite("Field names and values that Larder writes (RFC 9110 §5.1, §5.5)")
struct FieldNameTests {
    @Test("T16: only tokens are field names", arguments: ["", " X", "X ", "X:", "X\r\nY", "X\0", "Ä", "a b", "a(b"])
    func refused(text: String) {
        #expect(FieldName(text) == nil)
    }

    @Test("Known and other names are compared case-insensitively")
    func equality() {
        #expect(FieldName("ETag") == FieldName("etag"))
        #expect(FieldName("X-One") == FieldName("x-one"))
        #expect(FieldName("X-One") != FieldName("X-Two"))
        #expect(FieldName("Host")?.known == .host)
    }

    @Test("T16: a value with CR, LF, NUL or another control is rejected", arguments: ["\r", "\n", "\0", "\u{1B}", "\u{7F}"])
    func controls(control: String) {
        #expect(throws: FieldValue.Fault.control(control.utf8.first ?? 0)) { try FieldValue("a\(control)b") }
    }

    @Test("Blanks inside a value are kept; a value with blanks at an end is rejected")
    func blanks() throws {
        #expect(try FieldValue("a\t b").bytes == Array("a\t b".utf8))
        #expect(try FieldValue("").bytes.isEmpty)
        #expect(throws: FieldValue.Fault.outerBlank) { try FieldValue(" a") }
        #expect(throws: FieldValue.Fault.outerBlank) { try FieldValue("a\t") }
    }
}
