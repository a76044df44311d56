import HTTPMessage
import Testing

@Suite("Field names and values that we write (RFC 9110 §5.1, §5.5)")
struct FieldNameTests {
    @Test("T16: only tokens are names", arguments: ["", " X", "X ", "X:", "X\r\nY", "X\0", "Ä", "a b", "a(b"])
    func refused(text: String) {
        #expect(FieldName(text) == nil)
    }

    @Test("Names compare without regard to case, known ones and others")
    func equality() {
        #expect(FieldName("ETag") == FieldName("etag"))
        #expect(FieldName("X-One") == FieldName("x-one"))
        #expect(FieldName("X-One") != FieldName("X-Two"))
        #expect(FieldName("Host")?.known == .host)
    }

    @Test("T16: CR, LF, NUL and other controls are no part of a value", arguments: ["\r", "\n", "\0", "\u{1B}", "\u{7F}"])
    func controls(control: String) {
        #expect(throws: FieldValue.Fault.control(control.utf8.first ?? 0)) { try FieldValue("a\(control)b") }
    }

    @Test("Blanks inside a value stay, at an end they are refused")
    func blanks() throws {
        #expect(try FieldValue("a\t b").bytes == Array("a\t b".utf8))
        #expect(try FieldValue("").bytes.isEmpty)
        #expect(throws: FieldValue.Fault.outerBlank) { try FieldValue(" a") }
        #expect(throws: FieldValue.Fault.outerBlank) { try FieldValue("a\t") }
    }
}
