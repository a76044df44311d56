import HTTPMessage

/// If-Range (RFC 9110 §13.1.5): a part is sent only if the client has other parts of the same representation.
enum RangeCondition {
    /// - Parameter fields: the selected response's fields, with its validators.
    static func holds(_ request: RequestHead, for fields: Fields) -> Bool {
        guard let condition = request.fields.first(.ifRange) else { return true }
        let value = request.fields.value(of: condition)
        if let tag = fields.entityTagLine, EntityTag.matchesStrongly(value, fields.value(of: tag)) { return true }
        return isStrongDate(value, fields)
    }

    /// Whether the date is the response's Last-Modified, and at least one second earlier than its Date (RFC 9110 §8.8.2.2).
    private static func isStrongDate(_ value: Span<UInt8>, _ fields: Fields) -> Bool {
        guard let modified = fields.first(.lastModified), let date = fields.first(.date) else { return false }
        guard value.equals(fields.value(of: modified)) else { return false }
        // Obsolete dates with two-digit years are not interpreted: such a date is never a strong validator.
        let reference = Timestamp(milliseconds: 0)
        guard let modifiedAt = HTTPDate.parse(value, now: reference),
            let madeAt = HTTPDate.parse(fields.value(of: date), now: reference)
        else { return false }
        return madeAt.seconds - modifiedAt.seconds >= 1
    }
}
