import HTTPMessage

/// The result of evaluating a client's own preconditions against a response that is served from the store.
package enum ConditionOutcome: Equatable, Sendable {
    /// The request has no precondition that a cache evaluates, or the precondition is true: send the stored response.
    case full
    /// The precondition is false: send 304.
    case notModified
}

/// Conditional requests, to the origin server and from the client (RFC 9111 §4.3.1 to §4.3.3).
package enum Validation {
    // MARK: To the origin server

    /// Replaces the client's If-None-Match and If-Modified-Since with the stored response's validators.
    ///
    /// Larder does not combine them with the client's preconditions, as §4.3.2 would permit. So a 304 applies to the stored response
    /// only, and Larder evaluates the client's preconditions against the result.
    package static func addPreconditions(of stored: StoredResponse, to fields: inout Fields) {
        fields.remove(.ifNoneMatch)
        fields.remove(.ifModifiedSince)
        let head = stored.head.fields
        if !stored.entityTag.isEmpty { fields.append("If-None-Match", head.span(of: stored.entityTag)) }
        if stored.facts.flags.contains(.lastModified), let date = head.first(.lastModified) {
            fields.append("If-Modified-Since", head.value(of: date))
        }
    }

    /// For `CachePolicy.reloadAll`: asks caches along the path not to respond from their store (RFC 9111 §5.2.1.4).
    ///
    /// Does not send Pragma, which §5.4 deprecates.
    package static func addReload(to fields: inout Fields) {
        fields.append("Cache-Control", "no-cache")
    }

    // MARK: From the client

    /// Evaluates If-None-Match, else If-Modified-Since, against the selected response (RFC 9110 §13.2.2, steps 3 and 4).
    ///
    /// Only the origin server evaluates If-Match and If-Unmodified-Since (`RequestDirectives.Flags.originCondition`). Only a stored 200
    /// is a representation to compare with (RFC 9111 §4.3.2).
    package static func evaluate(
        _ request: RequestHead, directives: RequestDirectives, against stored: StoredResponse
    ) -> ConditionOutcome {
        guard directives.contains(.cacheCondition), stored.facts.status.code == 200 else { return .full }
        if request.fields.contains(.ifNoneMatch) {
            return ifNoneMatchIsFalse(request.fields, stored) ? .notModified : .full
        }
        return ifModifiedSinceIsFalse(request.fields, stored.facts) ? .notModified : .full
    }

    /// Appends the head of a 304 for the stored response, without Age and the last CRLF.
    package static func writeNotModifiedHead(of stored: StoredResponse, into output: inout [UInt8]) {
        let statusLine: StaticString = "HTTP/1.1 304 Not Modified\r\n"
        let head = stored.preparedHead
        let lines = head.span.extracting(stored.notModifiedLines.range)
        output.append(addingCapacity: statusLine.utf8CodeUnitCount + lines.count) { output in
            output.append(statusLine)
            output.append(lines)
        }
    }

    /// Whether a 304 omits the field (RFC 9110 §15.4.5): the metadata of a representation that is not sent, and Last-Modified if there
    /// is an entity tag.
    package static func isLeftOutOfNotModified(_ field: KnownField, hasEntityTag: Bool) -> Bool {
        switch field {
        case .contentLength, .contentType, .contentEncoding, .contentRange: true
        case .lastModified: hasEntityTag
        default: false
        }
    }

    private static func ifNoneMatchIsFalse(_ fields: Fields, _ stored: StoredResponse) -> Bool {
        var matches = false
        var index = fields.index(of: .ifNoneMatch)
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            index = fields.index(of: .ifNoneMatch, from: found + 1)
            // In most cases the client sends a single tag: the one that it received with the stored response.
            if stored.isEntityTag(value) {
                matches = true
                continue
            }
            let head = stored.head.fields
            switch EntityTag.findWeakly(head.span(of: stored.entityTag), inList: value) {
            case .any, .matches: matches = true
            case .doesNotMatch: break
            // An invalid value matches nothing: the client gets the full response.
            case .invalid: return false
            }
        }
        return matches
    }

    /// Whether If-Modified-Since, if it applies, is false for a response that is not stored. The response's Last-Modified decides (RFC
    /// 9110 §13.1.3).
    /// - Parameter now: needed to interpret dates with a two-digit year.
    package static func isUnmodified(_ response: Fields, for request: Fields, at now: Timestamp) -> Bool {
        guard !request.contains(.ifNoneMatch), request.lineCount(of: .ifModifiedSince) == 1,
            let since = request.date(of: .ifModifiedSince, at: now), let modified = response.date(of: .lastModified, at: now)
        else { return false }
        return modified <= since
    }

    /// Whether If-Modified-Since is false for a stored response. Without Last-Modified, the response's Date is used (RFC 9111 §4.3.2).
    private static func ifModifiedSinceIsFalse(_ fields: Fields, _ facts: ReuseFacts) -> Bool {
        guard fields.lineCount(of: .ifModifiedSince) == 1, let line = fields.first(.ifModifiedSince),
            let since = HTTPDate.parse(fields.value(of: line), now: facts.responseTime)
        else { return false }
        let modified = facts.flags.contains(.lastModified) ? facts.lastModified : facts.dateValue
        return modified <= since
    }
}

extension Fields {
    fileprivate func date(of field: KnownField, at now: Timestamp) -> Timestamp? {
        first(field).flatMap { HTTPDate.parse(value(of: $0), now: now) }
    }
}
