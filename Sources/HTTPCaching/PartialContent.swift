import HTTPMessage

/// The part of a complete stored response that a request with Range gets (RFC 9110 §14.2, §13.1.5).
package enum RangeSelection: Equatable, Sendable {
    /// All of it, with its own status: there is no Range, or it is ignored.
    case whole
    /// 206 with these octets.
    case part(Range<UInt64>)
    /// 416.
    case unsatisfiable
}

/// Cutting ranges from complete stored responses. Partial responses of origin servers are passed on and not stored (§3.3 MAY).
package enum PartialContent {
    /// Evaluates Range and If-Range against the selected response, once the other preconditions have been evaluated.
    ///
    /// A field that cannot be read, and several ranges at once, are answered with the whole (§14.2 MAY), so that neither
    /// leads past the cache (T26).
    package static func select(
        _ request: RequestHead, directives: RequestDirectives, from stored: StoredResponse
    ) -> RangeSelection {
        guard directives.contains(.range), directives.method == .get, stored.facts.status == .ok,
            request.fields.lineCount(of: .range) == 1, let line = request.fields.first(.range)
        else { return .whole }
        if directives.contains(.ifRange), !ifRangeHolds(request.fields, stored) { return .whole }
        guard let ranges = ByteRangeSet(request.fields.value(of: line)) else { return .whole }
        let length = stored.body.length
        var satisfiable: Range<UInt64>?
        for index in 0..<ranges.count {
            satisfiable = satisfiable ?? ranges[index].resolved(inLength: length)
        }
        guard let satisfiable else { return .unsatisfiable }
        return ranges.count == 1 && !satisfiable.isEmpty ? .part(satisfiable) : .whole
    }

    /// Appends the head of a 206, without Age and the last CRLF.
    package static func writeHead(of stored: StoredResponse, part: Range<UInt64>, into output: inout [UInt8]) {
        let fields = stored.head.fields
        StoredFields.writeStatusLine(.partialContent, reason: fields.span(of: .empty), into: &output)
        for line in fields.lines where line.known != .contentLength { fields.write(line, into: &output) }
        append(.part(part, of: stored.body.length), contentLength: part.upperBound - part.lowerBound, to: &output)
    }

    /// Appends the head of a 416 without content, without the last CRLF. The caller adds Date.
    package static func writeUnsatisfiableHead(of stored: StoredResponse, into output: inout [UInt8]) {
        let fields = stored.head.fields
        StoredFields.writeStatusLine(Status(416), reason: fields.span(of: .empty), into: &output)
        append(.unsatisfied(length: stored.body.length), contentLength: 0, to: &output)
    }

    private static func append(_ range: ContentRange, contentLength: UInt64, to output: inout [UInt8]) {
        output.append("Content-Range: ")
        range.write(into: &output)
        output.append("\r\nContent-Length: ")
        output.append(decimal: contentLength)
        output.append("\r\n")
    }

    /// RFC 9110 §13.1.5: the strong comparison for an entity tag, and for a date an exact match of a strong one.
    private static func ifRangeHolds(_ fields: Fields, _ stored: StoredResponse) -> Bool {
        guard fields.lineCount(of: .ifRange) == 1, let line = fields.first(.ifRange) else { return false }
        let condition = fields.value(of: line)
        if EntityTag(condition) != nil {
            let head = stored.head.fields
            guard stored.facts.flags.contains(.strongETag), let tag = head.first(.etag) else { return false }
            return EntityTag.matchesStrongly(condition, head.value(of: tag))
        }
        guard stored.facts.flags.contains(.lastModified), stored.facts.lastModifiedIsStrong else { return false }
        return HTTPDate.parse(condition, now: stored.facts.responseTime) == stored.facts.lastModified
    }
}
