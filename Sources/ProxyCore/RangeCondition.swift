import HTTPMessage

/// If-Range (RFC 9110 §13.1.5): a part is sent only of the very representation that the client has the rest of.
enum RangeCondition {
    /// - Parameter fields: the selected response's, with its validators.
    static func holds(_ request: RequestHead, for fields: Fields) -> Bool {
        guard let condition = request.fields.first(.ifRange) else { return true }
        let value = request.fields.value(of: condition)
        if let tag = fields.entityTagLine, EntityTag.matchesStrongly(value, fields.value(of: tag)) { return true }
        return isStrongDate(value, fields)
    }

    /// The date has to be the same, and at least a second older than the response (RFC 9110 §8.8.2.2).
    private static func isStrongDate(_ value: Span<UInt8>, _ fields: Fields) -> Bool {
        guard let modified = fields.first(.lastModified), let date = fields.first(.date) else { return false }
        guard value.equals(fields.value(of: modified)) else { return false }
        // Two-digit years of the obsolete form are not compared here: such a date is no strong validator.
        let reference = Timestamp(milliseconds: 0)
        guard let modifiedAt = HTTPDate.parse(value, now: reference),
            let madeAt = HTTPDate.parse(fields.value(of: date), now: reference)
        else { return false }
        return madeAt.seconds - modifiedAt.seconds >= 1
    }
}
