/// Checks text in UTF-8 that arrives in pieces (RFC 3629 §4). An invalid byte is reported with the piece that has it.
package struct UTF8Check: Sendable {
    /// How many bytes of the current character are missing.
    private var missing = 0
    /// The range of the next byte. It is narrower than 80 to BF after a few first bytes, so that there are no overlong forms, surrogates
    /// and values above U+10FFFF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    package init() {}

    /// Whether the text may end here.
    package var isComplete: Bool { missing == 0 }

    /// - Returns: `false` if the bytes cannot be part of a text.
    package mutating func accepts(_ bytes: Span<UInt8>) -> Bool {
        for index in 0..<bytes.count {
            let byte = bytes[index]
            if missing > 0 {
                guard byte >= lowest, byte <= highest else { return false }
                missing -= 1
                (lowest, highest) = (0x80, 0xBF)
            } else if byte >= 0x80 {
                guard begin(byte) else { return false }
            }
        }
        return true
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lowest) = (2, 0xA0)
        case 0xED: (missing, highest) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lowest) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
