import HTTPMessage

/// Writes numbers, addresses and escaped texts of peers into lines.
extension OutputSpan<UInt8> {
    mutating func append(decimal number: UInt64, width: Int, padding: UInt8) {
        var limit: UInt64 = 10
        var digits = 1
        while digits < width {
            if number < limit { append(padding) }
            limit *= 10
            digits += 1
        }
        append(decimal: number)
    }

    /// Appends milliseconds with three decimals.
    @inline(__always)
    mutating func append(millisecondsOf microseconds: UInt64) {
        append(decimal: microseconds / 1000)
        append(UInt8(ascii: "."))
        append(decimal: microseconds % 1000, digitCount: 3)
    }

    /// Appends an address with its port: `127.0.0.1:80`, `[::1]:80`.
    mutating func append(_ address: IPAddress, port: UInt16) {
        switch address.family {
        case .ipv4: address.write(into: &self)
        case .ipv6:
            append(UInt8(ascii: "["))
            address.write(into: &self)
            append(UInt8(ascii: "]"))
        }
        append(ASCII.colon)
        append(decimal: UInt64(port))
    }

    // MARK: JSON

    /// Appends a member with one of Larder's own words; appends nothing if the word is empty.
    /// - Parameter name: the member's name, with the comma before it and the colon after it.
    @inline(__always)
    mutating func append(member name: StaticString, _ word: StaticString) {
        if word.utf8CodeUnitCount == 0 { return }
        append(name)
        append(ASCII.quote)
        append(word)
        append(ASCII.quote)
    }

    /// Appends a member with a text of a peer; appends nothing if the text is empty. A byte outside printable ASCII is written as `\u00XX`:
    /// the result is always valid, and cannot change the direction of text in a terminal.
    /// - Parameter name: the member's name, with the comma before it and the colon after it.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func append(member name: StaticString, _ text: Span<UInt8>) {
        if text.isEmpty { return }
        append(name)
        append(ASCII.quote)
        append(text, escapedBehind: "\\u00")
        append(ASCII.quote)
    }

    // MARK: Text in columns

    /// Appends a column: blanks, quotes, controls and non-ASCII bytes become `%XX`; an empty text becomes `-`.
    @_lifetime(self: copy self)
    mutating func append(orDash text: Span<UInt8>) {
        if text.isEmpty { append(UInt8(ascii: "-")) }
        for index in 0..<text.count {
            let byte = text[index]
            if byte > 0x20, byte < 0x7F, byte != ASCII.quote {
                append(byte)
            } else {
                append(UInt8(ascii: "%"))
                append(Hexadecimal.digit(byte >> 4, isUppercase: true))
                append(Hexadecimal.digit(byte & 15, isUppercase: true))
            }
        }
    }

    /// Appends a text inside quotes: escapes `"` and `\`; other bytes outside printable ASCII become `\xXX`, as in web servers' logs.
    @_lifetime(self: copy self)
    mutating func append(quotedText text: Span<UInt8>) { append(text, escapedBehind: "\\x") }

    @_lifetime(self: copy self)
    mutating func append(quotedTextOrDash text: Span<UInt8>) {
        if text.isEmpty { append(UInt8(ascii: "-")) } else { append(quotedText: text) }
    }

    // MARK: Copying bytes

    /// Copies the text up to the next byte that must be escaped; nearly every text is copied whole.
    @_lifetime(self: copy self)
    private mutating func append(_ text: Span<UInt8>, escapedBehind prefix: StaticString) {
        var index = 0
        while index < text.count {
            let end = text.firstUnquotable(from: index)
            append(text.extracting(index..<end))
            if end == text.count { return }
            append(escaping: text[end], behind: prefix)
            index = end + 1
        }
    }

    private mutating func append(escaping byte: UInt8, behind prefix: StaticString) {
        if byte == ASCII.quote || byte == ASCII.backslash {
            append(ASCII.backslash)
            append(byte)
        } else {
            append(prefix)
            append(Hexadecimal.digit(byte >> 4))
            append(Hexadecimal.digit(byte & 15))
        }
    }
}

extension Span<UInt8> {
    /// The index of the first byte that must be escaped inside quotes, or the end.
    fileprivate func firstUnquotable(from start: Int) -> Int {
        first(
            from: start,
            block: {
                .!$0.isWithin(0x20...0x7E) .| $0.isEqual(to: ASCII.quote) .| $0.isEqual(to: ASCII.backslash)
            },
            octet: { $0 < 0x20 || $0 > 0x7E || $0 == ASCII.quote || $0 == ASCII.backslash })
    }
}
