import HTTPMessage

extension Array<UInt8> {
    /// Escapes a text for a JSON string (RFC 8259 §7).
    package mutating func append(escapingForJSON text: String) {
        for byte in text.utf8 {
            switch byte {
            case ASCII.quote, ASCII.backslash:
                append(ASCII.backslash)
                append(byte)
            case 0..<0x20, 0x7F:
                append("\\u00")
                for value in [byte >> 4, byte & 15] { append(Hexadecimal.digit(value)) }
            default: append(byte)
            }
        }
    }
}
