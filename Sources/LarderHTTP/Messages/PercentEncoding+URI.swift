import HTTPMessage

/// Bytes that must be encoded in a URI (RFC 3986 §2).
extension PercentEncoding {
    /// Encodes only the bytes that must be encoded. A `%` stays as it is: the origin decides whether it begins an encoded byte.
    static func encoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for byte in text {
            if mustBeEncoded(byte) { append(encoded: byte, into: &result) } else { result.append(byte) }
        }
        return result
    }

    /// Whether no byte must be encoded, and no segment begins with a dot.
    static func isPlainPath(_ bytes: some Collection<UInt8>) -> Bool {
        var previous = ASCII.slash
        for byte in bytes {
            if mustBeEncoded(byte) || (byte == UInt8(ascii: ".") && previous == ASCII.slash) { return false }
            previous = byte
        }
        return true
    }

    /// The same check as `isPlainPath`, for a path that begins at `start` and ends before the query.
    /// - Returns: the end of the path; `nil` if the path is not plain, or if a fragment follows.
    static func endOfPlainPath(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var previous = ASCII.slash
        for index in start..<bytes.count {
            let byte = bytes[index]
            if byte == ASCII.question { return index }
            if mustBeEncoded(byte) || byte == UInt8(ascii: "#") || (byte == UInt8(ascii: ".") && previous == ASCII.slash) {
                return nil
            }
            previous = byte
        }
        return bytes.count
    }

    /// Whether no byte must be encoded, and no fragment follows.
    static func isPlainQuery(_ bytes: Span<UInt8>) -> Bool {
        for index in 0..<bytes.count where mustBeEncoded(bytes[index]) || bytes[index] == UInt8(ascii: "#") { return false }
        return true
    }

    private static func mustBeEncoded(_ byte: UInt8) -> Bool {
        if byte <= 0x20 || byte >= 0x7F { return true }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"),
            UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            return true
        default: return false
        }
    }
}
