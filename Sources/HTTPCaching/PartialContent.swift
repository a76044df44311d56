import HTTPMessage

/// The part of a complete response that a request with Range gets (RFC 9110 §14.2).
package enum RangeSelection: Equatable, Sendable {
    /// All of it, with its own status: there is no Range, or it is ignored.
    case whole
    /// 206 with these octets, at least one.
    case part(Range<UInt64>)
    /// 416.
    case unsatisfiable
}

/// Cutting ranges from complete responses. Partial responses of origin servers are passed on and not stored (§3.3 MAY).
package enum PartialContent {
    /// Evaluates Range and If-Range against a complete response, once the other preconditions have been evaluated.
    ///
    /// A field that cannot be read, several ranges at once, and any range of no content are answered with the whole
    /// (RFC 9110 §14.2 MAY), so that none of them leads past the cache (T26).
    /// - Parameter length: of the content.
    package static func select(
        _ request: RequestHead, directives: RequestDirectives, of response: ResponseHead, length: UInt64
    ) -> RangeSelection {
        guard directives.contains([.range, .isGET]), response.status == .ok, length > 0,
            request.fields.lineCount(of: .range) == 1, let line = request.fields.first(.range),
            let ranges = ByteRangeSet(request.fields.value(of: line)),
            !directives.contains(.ifRange) || ifRangeHolds(request.fields, response.fields)
        else { return .whole }
        var satisfiable: Range<UInt64>?
        for index in 0..<ranges.count { satisfiable = satisfiable ?? ranges[index].resolved(inLength: length) }
        guard let satisfiable else { return .unsatisfiable }
        return ranges.count == 1 ? .part(satisfiable) : .whole
    }

    /// RFC 9110 §13.1.5: the strong comparison for an entity tag, and for a date an exact match of a strong one.
    private static func ifRangeHolds(_ request: Fields, _ response: Fields) -> Bool {
        guard request.lineCount(of: .ifRange) == 1, let line = request.first(.ifRange) else { return false }
        let condition = request.value(of: line)
        if EntityTag(condition) != nil {
            guard let tag = response.first(.etag) else { return false }
            return EntityTag.matchesStrongly(condition, response.value(of: tag))
        }
        guard let modified = response.first(.lastModified), let date = response.first(.date),
            let madeTime = HTTPDate.parse(response.value(of: date), now: Timestamp(milliseconds: 0)),
            let modifiedTime = HTTPDate.parse(response.value(of: modified), now: madeTime),
            HTTPDate.parse(condition, now: madeTime) == modifiedTime
        else { return false }
        return madeTime.seconds - modifiedTime.seconds >= 1
    }
}
