import HTTPMessage

extension Fields {
    /// The entity tag (RFC 9110 §8.8.3), where it is one and not weak.
    var strongEntityTag: String? {
        guard let line = entityTagLine, let tag = EntityTag(value(of: line)), !tag.isWeak else { return nil }
        return text(of: line.value)
    }

    /// Content-Range (RFC 9110 §14.4), where there is one line of it.
    var contentRange: ContentRange? {
        guard lineCount(of: .contentRange) == 1, let line = first(.contentRange) else { return nil }
        return ContentRange(value(of: line))
    }
}

/// What tells of parts, for those who put a representation together themselves.
extension HTTPFields {
    /// The entity tag (RFC 9110 §8.8.3), where it is one and not weak.
    package var strongEntityTag: String? { fields.strongEntityTag }
    /// The part that a 206 has, or what a 416 says of the length.
    package var contentRange: ContentRange? { fields.contentRange }
    /// How long the origin asks to wait before another try.
    package var retryAfter: Duration? { RetryAfter.wait(self, at: .now) }
}
