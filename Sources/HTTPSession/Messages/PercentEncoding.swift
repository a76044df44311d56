import HTTPMessage

/// What no URI may hold as it is (RFC 3986 §2).
enum PercentEncoding {
    /// Everything else stays. So does a `%`: whether it begins an encoded octet is the origin's affair.
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
