/// The Retry-After field (RFC 9110 §10.2.3), whose value is a number of seconds or a date.
package enum RetryAfter {
    /// The time to wait in milliseconds; `nil` if the field is missing, repeated or invalid.
    package static func milliseconds(_ fields: Fields, at now: Timestamp) -> Int64? {
        guard fields.lineCount(of: .retryAfter) == 1, let line = fields.first(.retryAfter) else { return nil }
        let value = fields.value(of: line)
        if let seconds = seconds(value) { return seconds * 1000 }
        return HTTPDate.parse(value, now: now).map { max(0, $0.milliseconds - now.milliseconds) }
    }

    /// A number above `limit` counts as `limit`.
    private static func seconds(_ value: Span<UInt8>) -> Int64? {
        guard value.count > 0 else { return nil }
        var seconds: Int64 = 0
        for index in 0..<value.count {
            guard ASCII.isDigit(value[index]) else { return nil }
            seconds = min(limit, seconds * 10 + Int64(value[index] - 0x30))
        }
        return seconds
    }

    /// The longest wait, in seconds: more than 30 years.
    private static let limit: Int64 = 999_999_999
}
