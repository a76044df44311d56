/// Percent-encoding (RFC 3986 §2.1). All code of Larder that percent-encodes or decodes is here.
package enum PercentEncoding {
    /// The byte that the three characters at `place` encode; `nil` if they are not a percent-encoded byte.
    @inlinable package static func byte(in text: Span<UInt8>, at place: Int) -> UInt8? {
        guard text[place] == UInt8(ascii: "%"), place + 2 < text.count, let high = ASCII.hexValue(text[place + 1]),
            let low = ASCII.hexValue(text[place + 2])
        else { return nil }
        return high << 4 | low
    }

    /// Decodes percent-encoded bytes. A `%` that does not begin a percent-encoded byte stays unchanged.
    /// - Parameter isForm: whether `+` is decoded as a space, as in form data and in queries that forms make.
    package static func decode(_ text: Span<UInt8>, isForm: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var place = 0
        while place < text.count {
            if let byte = byte(in: text, at: place) {
                bytes.append(byte)
                place += 3
            } else {
                bytes.append(isForm && text[place] == UInt8(ascii: "+") ? ASCII.space : text[place])
                place += 1
            }
        }
        return bytes
    }

    /// - Returns: `nil` if a `%` does not begin a percent-encoded byte.
    package static func decodeStrictly(_ text: Span<UInt8>) -> [UInt8]? {
        for place in 0..<text.count where text[place] == UInt8(ascii: "%") && byte(in: text, at: place) == nil { return nil }
        return decode(text)
    }

    /// Appends a percent-encoded byte, with digits in upper case (RFC 3986 §2.1).
    package static func append(encoded byte: UInt8, into output: inout [UInt8]) {
        output.append(UInt8(ascii: "%"))
        output.append(Hexadecimal.digit(byte >> 4, isUppercase: true))
        output.append(Hexadecimal.digit(byte & 0xF, isUppercase: true))
    }
}
