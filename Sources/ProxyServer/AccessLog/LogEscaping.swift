import HTTPMessage

/// Writing into lines: numbers, addresses, and texts of peers made harmless.
extension Array<UInt8> {
    mutating func append(hexadecimalID number: UInt64) {
        for place in 0..<16 { append(hexadecimalDigit: UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * place))) }
    }

    mutating func append(decimal number: UInt64, width: Int, padding: UInt8 = 0x30) {
        var limit: UInt64 = 10
        var digits = 1
        while digits < width {
            if number < limit { append(padding) }
            limit *= 10
            digits += 1
        }
        append(decimal: number)
    }

    /// `127.0.0.1:80`, `[::1]:80`.
    mutating func append(_ address: IPAddress, port: UInt16) {
        if address.family == .ipv6 { append(UInt8(ascii: "[")) }
        address.write(into: &self)
        if address.family == .ipv6 { append(UInt8(ascii: "]")) }
        append(ASCII.colon)
        append(decimal: UInt64(port))
    }

    // MARK: JSON

    mutating func append(member name: StaticString, _ number: UInt64) {
        appendName(name)
        append(decimal: number)
    }

    /// Milliseconds with three decimals.
    mutating func append(member name: StaticString, microseconds: UInt64) {
        appendName(name)
        append(decimal: microseconds / 1000)
        append(UInt8(ascii: "."))
        append(decimal: microseconds % 1000, width: 3)
    }

    /// A word of our own; left out when it is empty.
    mutating func append(member name: StaticString, _ word: StaticString) {
        if word.utf8CodeUnitCount == 0 { return }
        appendName(name)
        append(ASCII.quote)
        append(word)
        append(ASCII.quote)
    }

    /// A text of a peer; left out when it is empty. An octet outside of printable ASCII is written as `\u00XX`, which is valid
    /// whatever the octets were and turns no terminal's direction.
    mutating func append(member name: StaticString, _ text: Span<UInt8>) {
        if text.isEmpty { return }
        appendName(name)
        append(ASCII.quote)
        for index in 0..<text.count {
            let byte = text[index]
            switch byte {
            case ASCII.quote, ASCII.backslash:
                append(ASCII.backslash)
                append(byte)
            case 0x20..<0x7F: append(byte)
            default:
                append("\\u00")
                append(hexadecimalDigit: byte >> 4)
                append(hexadecimalDigit: byte)
            }
        }
        append(ASCII.quote)
    }

    private mutating func appendName(_ name: StaticString) {
        append(",\"")
        append(name)
        append("\":")
    }

    // MARK: Columns

    /// A column of its own: blanks, quotes, controls and what is not ASCII become `%XX`; nothing becomes `-`.
    mutating func append(orDash text: Span<UInt8>) {
        if text.isEmpty { append(UInt8(ascii: "-")) }
        for index in 0..<text.count {
            let byte = text[index]
            if byte > 0x20, byte < 0x7F, byte != ASCII.quote {
                append(byte)
            } else {
                append(UInt8(ascii: "%"))
                append(hexadecimalDigit: byte >> 4, uppercase: true)
                append(hexadecimalDigit: byte, uppercase: true)
            }
        }
    }

    /// Inside quotes: `"` and `\` are escaped, what is not printable ASCII becomes `\xXX`, as web servers do.
    mutating func append(quotedText text: Span<UInt8>) {
        for index in 0..<text.count {
            let byte = text[index]
            switch byte {
            case ASCII.quote, ASCII.backslash:
                append(ASCII.backslash)
                append(byte)
            case 0x20..<0x7F: append(byte)
            default:
                append("\\x")
                append(hexadecimalDigit: byte >> 4)
                append(hexadecimalDigit: byte)
            }
        }
    }

    mutating func append(quotedTextOrDash text: Span<UInt8>) {
        if text.isEmpty { append(UInt8(ascii: "-")) } else { append(quotedText: text) }
    }

    private mutating func append(hexadecimalDigit digit: UInt8, uppercase: Bool = false) {
        let digit = digit & 15
        append(digit < 10 ? 0x30 + digit : (uppercase ? 0x37 : 0x57) + digit)
    }
}
