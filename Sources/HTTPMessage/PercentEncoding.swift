/// Percent-encoding (RFC 3986 §2.1), the only reader and writer of it.
package enum PercentEncoding {
    /// The byte that three characters encode there; `nil` where they encode none.
    @inlinable package static func byte(in text: Span<UInt8>, at place: Int) -> UInt8? {
        guard text[place] == UInt8(ascii: "%"), place + 2 < text.count, let high = ASCII.hexValue(text[place + 1]),
            let low = ASCII.hexValue(text[place + 2])
        else { return nil }
        return high << 4 | low
    }

    /// What encodes no byte stays as it is.
    /// - Parameter isForm: a plus sign is a space, as in forms and in the queries that they make.
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

    /// - Returns: `nil` where a percent sign encodes no byte.
    package static func decodeStrictly(_ text: Span<UInt8>) -> [UInt8]? {
        for place in 0..<text.count where text[place] == UInt8(ascii: "%") && byte(in: text, at: place) == nil { return nil }
        return decode(text)
    }

    /// In upper case, as RFC 3986 §2.1 asks.
    package static func append(encoded byte: UInt8, into output: inout [UInt8]) {
        output.append(UInt8(ascii: "%"))
        output.append(Hexadecimal.digit(byte >> 4, isUppercase: true))
        output.append(Hexadecimal.digit(byte & 0xF, isUppercase: true))
    }
}
