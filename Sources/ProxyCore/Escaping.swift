import HTTPMessage

extension Array<UInt8> {
    /// Sixteen hexadecimal digits: the form of a request's id everywhere.
    package mutating func append(hexadecimal number: UInt64) {
        append(addingCapacity: 16) { $0.append(hexadecimal: number) }
    }

    /// Escapes a text for a JSON string (RFC 8259 §7).
    package mutating func append(escapingForJSON text: String) {
        for byte in text.utf8 {
            switch byte {
            case ASCII.quote, ASCII.backslash:
                append(ASCII.backslash)
                append(byte)
            case 0..<0x20, 0x7F: appendUnicodeEscape(byte)
            default: append(byte)
            }
        }
    }

    package mutating func append(escapingForHTML text: String) {
        for byte in text.utf8 {
            switch byte {
            case 0x26: append("&amp;")
            case 0x3C: append("&lt;")
            case 0x3E: append("&gt;")
            case ASCII.quote: append("&quot;")
            case 0x27: append("&#39;")
            case 0..<0x20, 0x7F: append(ASCII.question)
            default: append(byte)
            }
        }
    }

    private mutating func appendUnicodeEscape(_ byte: UInt8) {
        append("\\u00")
        for value in [byte >> 4, byte & 15] { append(Hexadecimal.digit(value)) }
    }
}
