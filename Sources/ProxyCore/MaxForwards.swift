import HTTPMessage

/// Max-Forwards (RFC 9110 §7.6.2).
enum MaxForwards {
    /// What is greater is taken as this, as the section lets a recipient do.
    static let greatest: UInt64 = 1_000_000_000

    /// The number of hops left, or `nil` where the field is absent or no number.
    static func value(in fields: Fields) -> UInt64? {
        guard let line = fields.first(.maxForwards) else { return nil }
        let digits = fields.value(of: line)
        guard !digits.isEmpty else { return nil }
        var number: UInt64 = 0
        for index in 0..<digits.count {
            guard ASCII.isDigit(digits[index]) else { return nil }
            number = min(number * 10 + UInt64(digits[index] - 0x30), greatest)
        }
        return number
    }
}
