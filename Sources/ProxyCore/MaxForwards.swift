import HTTPMessage

/// The field Max-Forwards (RFC 9110 §7.6.2).
enum MaxForwards {
    /// Greater values are reduced to this value, as RFC 9110 §7.6.2 allows.
    static let greatest: UInt64 = 1_000_000_000

    /// The number of hops left; `nil` if the field is absent or not a number.
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
