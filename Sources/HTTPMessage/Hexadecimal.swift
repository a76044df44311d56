/// Hexadecimal digits (RFC 4648 §8). They are written in lower case by default, and read in either case.
package enum Hexadecimal {
    package static func encode(_ bytes: some Sequence<UInt8>, isUppercase: Bool = false) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digit(byte >> 4, isUppercase: isUppercase))
            text.append(digit(byte & 0xF, isUppercase: isUppercase))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A number with leading zeros. The number of digits depends only on the number's type.
    package static func encode<Number: FixedWidthInteger & UnsignedInteger>(padded number: Number) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: Number.bitWidth / 4 - digits.utf8.count) + digits
    }

    /// - Returns: `nil` for an odd number of digits or an invalid digit.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map(ASCII.hexValue)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// - Parameter value: 0 to 15.
    @inlinable package static func digit(_ value: UInt8, isUppercase: Bool = false) -> UInt8 {
        value < 10 ? 0x30 &+ value : (isUppercase ? 0x37 : 0x57) &+ value
    }
}
