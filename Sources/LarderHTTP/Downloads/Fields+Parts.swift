import HTTPMessage

extension Fields {
    /// The entity tag (RFC 9110 §8.8.3), if it is valid and strong.
    var strongEntityTag: String? {
        guard let line = entityTagLine, let tag = EntityTag(value(of: line)), !tag.isWeak else { return nil }
        return text(of: line.value)
    }

    /// The strong validator of the entity: its entity tag, or else Last-Modified where it is strong.
    var strongValidator: DownloadPart.Validator? {
        if let tag = strongEntityTag { return .entityTag(tag) }
        return strongLastModified.map { .lastModified($0) }
    }

    /// Last-Modified, if it counts as strong in If-Range (RFC 9110 §8.8.2.2): the response was made at least a minute later. RFC 9110 asks
    /// for a second, and for a difference that clocks that disagree do not explain. With an entity tag, even a weak one, the date does not
    /// count, because the server has a better validator and says that it is weak.
    private var strongLastModified: String? {
        guard entityTagLine == nil, lineCount(of: .lastModified) == 1, lineCount(of: .date) == 1,
            let modified = first(.lastModified),
            let date = first(.date),
            let modifiedTime = HTTPDate.parse(value(of: modified), now: .now),
            let time = HTTPDate.parse(value(of: date), now: .now),
            time.seconds - modifiedTime.seconds >= 60
        else { return nil }
        return text(of: modified.value)
    }

    /// Content-Range (RFC 9110 §14.4), if there is exactly one line.
    var contentRange: ContentRange? {
        guard lineCount(of: .contentRange) == 1, let line = first(.contentRange) else { return nil }
        return ContentRange(value(of: line))
    }
}

/// Range fields, for modules that assemble a representation themselves.
extension SessionFields {
    /// The entity tag (RFC 9110 §8.8.3), if it is valid and strong.
    package var strongEntityTag: String? { fields.strongEntityTag }
    /// The value of Content-Range: the range of a 206, or the complete length in a 416.
    package var contentRange: ContentRange? { fields.contentRange }
    /// How long the origin asks to wait before a retry.
    package var retryAfter: Duration? { RetryAfter.wait(self, at: .now) }
}
