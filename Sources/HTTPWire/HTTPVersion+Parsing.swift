import HTTPMessage

extension HTTPVersion {
    /// `HTTP/` DIGIT `.` DIGIT, in capitals (RFC 9112 §2.3), or `nil`.
    init?(parsing range: Range<Int>, in bytes: Span<UInt8>) {
        guard range.count == 8 else { return nil }
        let text = bytes.extracting(range)
        guard text.extracting(0..<5).equals("HTTP/"), ASCII.isDigit(text[5]), text[6] == UInt8(ascii: "."),
            ASCII.isDigit(text[7])
        else { return nil }
        self.init(major: text[5] - 0x30, minor: text[7] - 0x30)
    }
}
