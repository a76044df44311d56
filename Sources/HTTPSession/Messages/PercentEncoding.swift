import HTTPMessage

/// What no URI may hold as it is (RFC 3986 §2).
enum PercentEncoding {
    /// Everything else stays. So does a `%`: whether it begins an encoded byte is the origin's affair.
    static func encoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for octet in text {
            if mustBeEncoded(octet) { result += encoded(octet) } else { result.append(octet) }
        }
        return result
    }

    /// Whether nothing of it is to be encoded, and no segment of it begins with a dot.
    static func isPlainPath(_ octets: some Collection<UInt8>) -> Bool {
        var previous = ASCII.slash
        for octet in octets {
            if mustBeEncoded(octet) || (octet == UInt8(ascii: ".") && previous == ASCII.slash) { return false }
            previous = octet
        }
        return true
    }

    /// As `isPlainPath`, of a path that begins there, up to its query.
    /// - Returns: its end; `nil` where it is not plain, or a fragment follows.
    static func endOfPlainPath(_ octets: Span<UInt8>, from start: Int) -> Int? {
        var previous = ASCII.slash
        for index in start..<octets.count {
            let octet = octets[index]
            if octet == ASCII.question { return index }
            if mustBeEncoded(octet) || octet == UInt8(ascii: "#") || (octet == UInt8(ascii: ".") && previous == ASCII.slash) {
                return nil
            }
            previous = octet
        }
        return octets.count
    }

    /// Whether nothing of it is to be encoded, and no fragment follows.
    static func isPlainQuery(_ octets: Span<UInt8>) -> Bool {
        for index in 0..<octets.count where mustBeEncoded(octets[index]) || octets[index] == UInt8(ascii: "#") { return false }
        return true
    }

    private static func mustBeEncoded(_ octet: UInt8) -> Bool {
        if octet <= 0x20 || octet >= 0x7F { return true }
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"),
            UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            return true
        default: return false
        }
    }

    static func encoded(_ octet: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 15)]]
    }
}
