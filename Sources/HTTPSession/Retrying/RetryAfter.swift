import HTTPMessage

extension RetryAfter {
    /// How long the origin asks to wait; `nil` where it does not say, or not in a way that is known.
    static func wait(_ fields: HTTPFields, at now: Timestamp) -> Duration? {
        milliseconds(fields.fields, at: now).map { .milliseconds($0) }
    }
}
