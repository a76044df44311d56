import HTTPMessage

/// Retry-After (RFC 9110 §10.2.3): seconds, or a date.
enum RetryAfter {
    /// How long the origin asks to wait; `nil` where it does not say, or not in a way that is known.
    static func wait(_ fields: HTTPFields, at now: Timestamp) -> Duration? {
        guard fields.fields.lineCount(of: .retryAfter) == 1, let line = fields.fields.first(.retryAfter) else { return nil }
        let value = fields.fields.value(of: line)
        if let seconds = seconds(value) { return .seconds(seconds) }
        guard let date = HTTPDate.parse(value, now: now) else { return nil }
        return .milliseconds(max(0, date.milliseconds - now.milliseconds))
    }

    private static func seconds(_ value: Span<UInt8>) -> Int? {
        guard value.count > 0, value.count <= 9 else { return nil }
        var seconds = 0
        for index in 0..<value.count {
            guard ASCII.isDigit(value[index]) else { return nil }
            seconds = seconds * 10 + Int(value[index] - 0x30)
        }
        return seconds
    }
}
