import HTTPMessage

extension Fields {
    /// The entity tag (RFC 9110 §8.8.3), if it is valid and strong.
    var strongEntityTag: String? {
        guard let line = entityTagLine, let tag = EntityTag(value(of: line)), !tag.isWeak else { return nil }
        return text(of: line.value)
    }

    /// Content-Range (RFC 9110 §14.4), if there is exactly one line.
    var contentRange: ContentRange? {
        guard lineCount(of: .contentRange) == 1, let line = first(.contentRange) else { return nil }
        return ContentRange(value(of: line))
    }
}

/// Range fields, for modules that assemble a representation themselves.
extension HTTPFields {
    /// The entity tag (RFC 9110 §8.8.3), if it is valid and strong.
    package var strongEntityTag: String? { fields.strongEntityTag }
    /// The value of Content-Range: the range of a 206, or the complete length in a 416.
    package var contentRange: ContentRange? { fields.contentRange }
    /// How long the origin asks to wait before a retry.
    package var retryAfter: Duration? { RetryAfter.wait(self, at: .now) }
}
