import HTTPMessage

/// What a client's own preconditions make of a response that is served from the store.
package enum ConditionOutcome: Equatable, Sendable {
    /// No precondition that a cache evaluates, or one that holds: the stored response as it is.
    case full
    /// 304.
    case notModified
}

/// Conditional requests, to the origin server and from the client (RFC 9111 §4.3.1 to §4.3.3).
package enum Validation {
    // MARK: To the origin server

    /// Puts the stored response's validators in place of the client's If-None-Match and If-Modified-Since.
    ///
    /// The client's own are replaced, not joined (§4.3.2 MAY): a 304 then speaks of the stored response alone, and the
    /// client's preconditions are evaluated against the result.
    package static func addPreconditions(of stored: StoredResponse, to fields: inout Fields) {
        fields.remove(.ifNoneMatch)
        fields.remove(.ifModifiedSince)
        let head = stored.head.fields
        if !stored.entityTag.isEmpty { fields.append("If-None-Match", head.span(of: stored.entityTag)) }
        if stored.facts.flags.contains(.lastModified), let date = head.first(.lastModified) {
            fields.append("If-Modified-Since", head.value(of: date))
        }
    }

    /// For `CachePolicy.reloadAll`: asks the caches on the way not to answer by themselves (RFC 9111 §5.2.1.4).
    ///
    /// Without Pragma, which §5.4 deprecates.
    package static func addReload(to fields: inout Fields) {
        fields.append("Cache-Control", "no-cache")
    }

    // MARK: From the client

    /// Evaluates If-None-Match, else If-Modified-Since, against the selected response (RFC 9110 §13.2.2, steps 3 and 4).
    ///
    /// If-Match and If-Unmodified-Since are the origin server's (`RequestDirectives.Flags.originCondition`), and only a
    /// stored 200 is a representation to compare with (RFC 9111 §4.3.2).
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

    /// Whether a 304 does without the field (RFC 9110 §15.4.5): metadata of a representation that is not sent stays away;
    /// Last-Modified too where there is an entity tag.
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
            // Nearly always the client sends the tag that it was given and nothing else: a list of one.
            if stored.isEntityTag(value) {
                matches = true
                continue
            }
            let head = stored.head.fields
            switch EntityTag.findWeakly(head.span(of: stored.entityTag), inList: value) {
            case .any, .matches: matches = true
            case .doesNotMatch: break
            // What cannot be read matches nothing: the client gets the whole.
            case .invalid: return false
            }
        }
        return matches
    }

    /// Whether If-Modified-Since, where it counts, is false of a response that is not stored: of its Last-Modified (RFC 9110 §13.1.3).
    /// - Parameter now: by which a date of two digits is read.
    package static func isUnmodified(_ response: Fields, for request: Fields, at now: Timestamp) -> Bool {
        guard !request.contains(.ifNoneMatch), request.lineCount(of: .ifModifiedSince) == 1,
            let since = request.date(of: .ifModifiedSince, at: now), let modified = response.date(of: .lastModified, at: now)
        else { return false }
        return modified <= since
    }

    /// Without Last-Modified the response's Date stands in (RFC 9111 §4.3.2).
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
