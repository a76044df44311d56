import HTTPMessage

/// The effect of a 304 to Larder's own conditional request on the stored response (RFC 9111 §4.3.4, §3.2).
package enum FresheningOutcome: Sendable {
    /// The freshened response replaces the stored one and satisfies the request.
    case freshened(StoredResponse)
    /// The freshened response satisfies this request only; the stored response is unchanged, for this reason.
    case usedOnce(StoredResponse, StorageRefusal)
    /// The freshened response satisfies this request; the stored response is removed, since the origin server no longer allows storing it.
    case usedAndRemoved(StoredResponse, StorageRefusal)
}

/// The effect of a 200 response to HEAD on the stored response to GET that could have been selected for the HEAD request (RFC 9111
/// §4.3.5).
package enum HEADEffect: Sendable {
    /// The freshened response replaces the stored one.
    case freshened(StoredResponse)
    /// The origin server now has another representation, or no longer allows storing this one.
    case outdated
    /// The response satisfies this request only, and does not change the stored response.
    case none
}

package enum Freshening {
    /// The stored responses that a 304 applies to (RFC 9111 §4.3.4): all with the 304's strong validator; if the 304 has only weak
    /// validators, the most recent match; if it has none, the response whose validators were sent.
    /// - Parameters:
    ///   - stored: the responses that could have been selected for the request, newest first.
    ///   - asked: the response whose validators were sent.
    /// - Returns: newest first; empty if the 304 is about another representation. Then nothing is updated, and the request is forwarded
    ///   again without preconditions.
    package static func identified(
        by response: ResponseHead, among stored: [StoredResponse], asked: StoredResponse
    ) -> [StoredResponse] {
        // A 304 stands for a 200 response that the origin server did not send (RFC 9110 §15.4.5).
        let matching = stored.filter { ($0.facts.status == .ok || $0 === asked) && identifies(response, $0) }
        switch validators(of: response) {
        case .none: return [asked]
        case .strong: return matching
        case .weak: return Array(matching.prefix(1))
        }
    }

    /// Whether a 304 applies to a partial response. Only the strong validator by which the parts were joined decides.
    package static func identifies(_ response: ResponseHead, _ partial: PartialResponse) -> Bool {
        validators(of: response) == .strong && identifies(response, partial.response)
    }

    /// The effect of the 304 on a stored response that it applies to.
    /// - Parameters:
    ///   - request: the client's request that led to the validation.
    ///   - response: the 304, hop-by-hop fields included.
    package static func freshened(
        _ stored: StoredResponse, by response: ResponseHead, request: RequestHead, overrides: CacheOverrides,
        secondary: SecondaryKey = .none, targets: TargetedCacheControl = .none, requestTime: Timestamp, responseTime: Timestamp
    ) -> FresheningOutcome {
        let merged = merge(response, into: stored.head)
        let decision = Storability.decide(
            request: request, response: merged, overrides: overrides, secondary: secondary, targets: targets,
            requestTime: requestTime, responseTime: responseTime, content: stored)
        let refusal: StorageRefusal
        switch decision {
        case .store(let facts, _):
            if let new = make(stored, merged, request, secondary, facts, requestTime) { return .freshened(new) }
            refusal = .varyInvalid
        case .doNotStore(let reason): refusal = reason
        }
        let directives = ResponseDirectives(merged.fields, targets: targets)
        let facts = Storability.facts(of: merged, directives: directives, requestTime: requestTime, responseTime: responseTime)
        let once = StoredResponse(
            key: stored.key, nominatedFields: stored.nominatedFields, facts: facts,
            head: StoredFields.makeHead(from: merged, facts: facts), requestTime: requestTime, body: stored.body,
            trailers: stored.trailers, tags: stored.tags, chain: stored.chain, row: stored.row)
        return refusal.isOfRequest ? .usedOnce(once, refusal) : .usedAndRemoved(once, refusal)
    }

    /// Whether a response may still be stored when a later part of it arrives with its own head: the parts are stored and reused as one
    /// response (RFC 9111 §3.4).
    /// - Parameter stored: the response with the first head.
    /// - Returns: why it may not be stored; `nil` if the later head allows storing it for the same requests and reusing it for at least
    ///   as long.
    package static func refusal(
        of stored: StoredResponse, continuedBy response: ResponseHead, request: RequestHead, overrides: CacheOverrides,
        secondary: SecondaryKey = .none, targets: TargetedCacheControl = .none, requestTime: Timestamp, responseTime: Timestamp
    ) -> StorageRefusal? {
        let outcome = freshened(
            stored, by: response, request: request, overrides: overrides, secondary: secondary, targets: targets,
            requestTime: requestTime, responseTime: responseTime)
        switch outcome {
        case .usedOnce(_, let refusal), .usedAndRemoved(_, let refusal): return refusal
        case .freshened(let new):
            let isSame =
                new.nominatedFields == stored.nominatedFields && new.facts.permits(asMuchAs: stored.facts)
            return isSame ? nil : .invalidated
        }
    }

    /// - Parameter response: the 200 to HEAD, hop-by-hop fields included.
    package static func effect(
        ofHEAD response: ResponseHead, on stored: StoredResponse, request: RequestHead, overrides: CacheOverrides,
        secondary: SecondaryKey = .none, targets: TargetedCacheControl = .none, requestTime: Timestamp, responseTime: Timestamp
    ) -> HEADEffect {
        guard describes(response, stored) else { return .outdated }
        let merged = merge(response, into: stored.head)
        let decision = Storability.decide(
            request: request, response: merged, overrides: overrides, secondary: secondary, targets: targets,
            requestTime: requestTime, responseTime: responseTime, content: stored)
        switch decision {
        case .store(let facts, _):
            return make(stored, merged, request, secondary, facts, requestTime).map { .freshened($0) } ?? .outdated
        case .doNotStore(let refusal): return refusal.isOfRequest ? .none : .outdated
        }
    }

    /// Appends the Set-Cookie lines of a response whose other fields are stored. They go only to the client that sent the request (T25
    /// in docs/threats.md).
    package static func writeSetCookie(of response: ResponseHead, into output: inout [UInt8]) {
        for line in response.fields.lines where line.known == .setCookie { response.fields.write(line, into: &output) }
    }

    // MARK: Selecting the responses

    private enum Validators { case none, weak, strong }

    private static func validators(of response: ResponseHead) -> Validators {
        if let line = response.fields.first(.etag), let tag = EntityTag(response.fields.value(of: line)) {
            return tag.isWeak ? .weak : .strong
        }
        return response.fields.contains(.lastModified) ? .weak : .none
    }

    /// Whether the 304's validators match those of the stored response.
    ///
    /// A 304 without validators applies to the stored response whose validators were sent. RFC 9111 §4.3.4 allows this only if the stored
    /// response has no validator either, but common origin servers omit validators.
    private static func identifies(_ response: ResponseHead, _ stored: StoredResponse) -> Bool {
        let fields = response.fields
        let old = stored.head.fields
        let facts = stored.facts
        if let tag = fields.first(.etag), let parsed = EntityTag(fields.value(of: tag)) {
            if let oldTag = old.first(.etag), !facts.flags.isDisjoint(with: [.strongETag, .weakETag]) {
                return parsed.isWeak
                    ? EntityTag.matchesWeakly(fields.value(of: tag), old.value(of: oldTag))
                    : EntityTag.matchesStrongly(fields.value(of: tag), old.value(of: oldTag))
            }
            return lastModifiedMatches(fields, facts) && (parsed.isWeak || facts.lastModifiedIsStrong)
        }
        return !fields.contains(.lastModified) || lastModifiedMatches(fields, facts)
    }

    /// Whether every validator and length in the response matches the stored response (§4.3.5).
    private static func describes(_ response: ResponseHead, _ stored: StoredResponse) -> Bool {
        guard stored.facts.status == .ok else { return false }
        let head = stored.head
        for line in response.fields.lines {
            let value = response.fields.value(of: line)
            switch line.known {
            case .etag, .lastModified:
                guard let old = head.fields.first(line.known), value.equals(head.fields.value(of: old)) else { return false }
            case .contentLength: if !value.equals(decimal: stored.body.length) { return false }
            default: continue
            }
        }
        return true
    }

    private static func lastModifiedMatches(_ fields: Fields, _ facts: ReuseFacts) -> Bool {
        guard facts.flags.contains(.lastModified), let line = fields.first(.lastModified) else { return false }
        return HTTPDate.parse(fields.value(of: line), now: facts.responseTime) == facts.lastModified
    }

    // MARK: The new head

    /// The stored fields, each replaced by the 304's lines of that name if there are any (§3.2).
    ///
    /// Fields of the 304 that are not used: those that are never stored (§3.1), Content-Length, Content-Range, and Set-Cookie (T25 in
    /// docs/threats.md).
    private static func merge(_ response: ResponseHead, into stored: ResponseHead) -> ResponseHead {
        var head = ResponseHead()
        head.status = stored.status
        head.reason = head.fields.appendBytes(stored.span(of: stored.reason))
        let hopByHop = HopByHop(of: response.fields)
        for line in stored.fields.lines where !isReplaced(line, of: stored.fields, by: response.fields, hopByHop) {
            head.fields.append(name: stored.fields.name(of: line), value: stored.fields.value(of: line))
        }
        for line in response.fields.lines where updates(line, response.fields, hopByHop) {
            head.fields.append(name: response.fields.name(of: line), value: response.fields.value(of: line))
        }
        return head
    }

    private static func updates(_ line: FieldLine, _ fields: Fields, _ hopByHop: HopByHop) -> Bool {
        switch line.known {
        case .contentLength, .contentRange, .setCookie: false
        default: !hopByHop.contains(line, of: fields)
        }
    }

    private static func isReplaced(
        _ line: FieldLine, of stored: Fields, by fields: Fields, _ hopByHop: HopByHop
    ) -> Bool {
        // The stored Date is always removed: if a 304 has no Date, its time of arrival becomes the Date (RFC 9110 §6.6.1).
        if line.known == .date { return true }
        // The new cookie is only for the client that sent the request (T25 in docs/threats.md). The stored cookie is outdated, so it is
        // removed.
        if line.known == .setCookie { return fields.contains(.setCookie) }
        let name = stored.name(of: line)
        var index = fields.index(ofName: name)
        while let found = index {
            if updates(fields.lines[found], fields, hopByHop) { return true }
            index = fields.index(ofName: name, from: found + 1)
        }
        return false
    }

    private static func make(
        _ stored: StoredResponse, _ merged: ResponseHead, _ request: RequestHead, _ secondary: SecondaryKey, _ facts: ReuseFacts,
        _ requestTime: Timestamp
    ) -> StoredResponse? {
        guard let prepared = StoredFields.prepare(merged, to: request, facts: facts, secondary) else { return nil }
        return StoredResponse(
            key: stored.key, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
            requestTime: requestTime,
            body: stored.body, trailers: stored.trailers, tags: stored.tags, chain: stored.chain, row: stored.row)
    }
}

extension ReuseFacts {
    private static let restrictions: Flags = [
        .noCache, .mustRevalidate, .proxyRevalidate, .sMaxAge, .noTransform, .noStore, .private, .targeted,
    ]

    /// Compares expiry times by the origin server's clock. The tolerance is one second, because the directives that set these times are
    /// in seconds.
    fileprivate func permits(asMuchAs other: ReuseFacts) -> Bool {
        flags.intersection(Self.restrictions).isSubset(of: other.flags) && staleWhileRevalidate >= other.staleWhileRevalidate
            && staleIfError >= other.staleIfError && expires + 1 >= other.expires
    }

    private var expires: Int64 { dateValue.seconds + Int64(freshnessLifetime.seconds) }
}

extension Span<UInt8> {
    fileprivate func equals(decimal number: UInt64) -> Bool {
        var rest = number
        var index = count
        repeat {
            index -= 1
            guard index >= 0, self[index] == UInt8(0x30 + rest % 10) else { return false }
            rest /= 10
        } while rest > 0
        return index == 0
    }
}
