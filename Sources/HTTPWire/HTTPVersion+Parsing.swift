import HTTPMessage

extension HTTPVersion {
    /// Parses the version at `start`: `HTTP/` in capitals, a digit, a dot and a digit (RFC 9112 §2.3). `nil` if there is no version.
    init?(parsing start: Int, in bytes: Span<UInt8>) {
        guard start >= 0, start <= bytes.count - 8 else { return nil }
        let text = bytes.extracting(start..<start + 8)
        let isPattern =
            text[0] == UInt8(ascii: "H") && text[1] == UInt8(ascii: "T") && text[2] == UInt8(ascii: "T")
            && text[3] == UInt8(ascii: "P") && text[4] == ASCII.slash && text[6] == UInt8(ascii: ".")
        guard isPattern, ASCII.isDigit(text[5]), ASCII.isDigit(text[7]) else { return nil }
        self.init(major: text[5] - 0x30, minor: text[7] - 0x30)
    }
}
