import HTTPMessage

extension RetryAfter {
    /// How long the origin asks to wait (Retry-After); `nil` if the field is missing or cannot be parsed.
    static func wait(_ fields: SessionFields, at now: Timestamp) -> Duration? {
        milliseconds(fields.fields, at: now).map { .milliseconds($0) }
    }
}
