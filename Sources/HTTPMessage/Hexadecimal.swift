/// Octets as hexadecimal digits (RFC 4648 §8), written in lower case and read in either.
package enum Hexadecimal {
    package static func encode(_ octets: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for octet in octets {
            text.append(digit(octet >> 4))
            text.append(digit(octet & 0xF))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` for an odd number of digits, and for what is none.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map(ASCII.hexValue)
        guard digits.count % 2 == 0 else { return nil }
        var octets: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
}
