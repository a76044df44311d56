import HTTPMessage

/// Max-Forwards (RFC 9110 §7.6.2).
enum MaxForwards {
    /// The number of hops left, or `nil` where the field is absent or no number.
    static func value(in fields: Fields) -> UInt64? {
        guard let line = fields.first(.maxForwards) else { return nil }
        let digits = fields.value(of: line)
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        var number: UInt64 = 0
        for index in 0..<digits.count {
            guard ASCII.isDigit(digits[index]) else { return nil }
            number = number * 10 + UInt64(digits[index] - 0x30)
        }
        return number
    }
}
