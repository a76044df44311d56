import HTTPMessage

/// What a 304 to our own conditional request does to the stored response (RFC 9111 §4.3.4, §3.2).
package enum FresheningOutcome: Sendable {
    /// It takes the place of the stored response and satisfies the request.
    case freshened(StoredResponse)
    /// It satisfies this request; the stored response stays as it was, for the reason given.
    case usedOnce(StoredResponse, StorageRefusal)
    /// It satisfies this request; the stored response goes, since the origin server no longer lets it be stored.
    case usedAndRemoved(StoredResponse, StorageRefusal)
}

/// What a 200 to HEAD says about the stored response to GET that could have been selected for it (RFC 9111 §4.3.5).
package enum HEADEffect: Sendable {
    /// It takes the place of the stored response.
    case freshened(StoredResponse)
    /// The origin server has another representation by now, or no longer lets this one be stored.
    case outdated
    /// The request is one whose response tells nothing for others.
    case none
}

package enum Freshening {
    /// Which of the stored responses a 304 speaks of (RFC 9111 §4.3.4): each that has its strong validator; where it has weak ones
    /// alone, the most recent that they match; and without any validator the one that was asked about, whose preconditions it answers.
    /// - Parameters:
    ///   - stored: those that could have been selected for the request, newest first.
    ///   - asked: the one whose validators were sent.
    /// - Returns: newest first; empty where the 304 speaks of another representation: nothing is updated then, and the request goes
    ///   forward again without preconditions.
    package static func identified(
        by response: ResponseHead, among stored: [StoredResponse], asked: StoredResponse
    ) -> [StoredResponse] {
        // A 304 speaks of what a 200 would have brought (RFC 9110 §15.4.5).
        let matching = stored.filter { ($0.facts.status == .ok || $0 === asked) && identifies(response, $0) }
        switch validators(of: response) {
        case .none: return [asked]
        case .strong: return matching
        case .weak: return Array(matching.prefix(1))
        }
    }

    /// Whether a 304 speaks of what is stored in part: by its strong validator alone, which has joined the parts.
    package static func identifies(_ response: ResponseHead, _ partial: PartialResponse) -> Bool {
        validators(of: response) == .strong && identifies(response, partial.response)
    }

    /// What the 304 does to a stored response that it speaks of.
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

    /// What keeps a response out of the store that comes in several messages, by the head of a later one: they are stored, and used
    /// again, as one (RFC 9111 §3.4).
    /// - Parameter stored: as the first head has it.
    /// - Returns: `nil` where the later one lets it be stored for the same requests and used again for no shorter a time.
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

    /// Appends the Set-Cookie lines of an answer of which the rest is stored, which go to the client that asked and to nobody else (T25).
    package static func writeSetCookie(of response: ResponseHead, into output: inout [UInt8]) {
        for line in response.fields.lines where line.known == .setCookie { response.fields.write(line, into: &output) }
    }

    // MARK: Which ones

    private enum Validators { case none, weak, strong }

    private static func validators(of response: ResponseHead) -> Validators {
        if let line = response.fields.first(.etag), let tag = EntityTag(response.fields.value(of: line)) {
            return tag.isWeak ? .weak : .strong
        }
        return response.fields.contains(.lastModified) ? .weak : .none
    }

    /// Whether the 304's validators are those of the stored response.
    ///
    /// Without any validator the 304 answers the only preconditions that were sent, which were this response's own;
    /// §4.3.4 lets it count where the stored response has none either, and common origin servers leave them out.
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

    /// Whether every validator and length that came are those of the stored response (§4.3.5).
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

    /// The stored fields, each replaced by the 304's lines of that name where it has any (§3.2).
    ///
    /// Left out of the 304: what is not stored at all (§3.1), Content-Length, Content-Range, and Set-Cookie (T25).
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
        // A 304 without Date was made when it came: the old Date goes (RFC 9110 §6.6.1).
        if line.known == .date { return true }
        // The new one is for the client that asked (T25), and the old one is no longer what the origin server sets.
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

    /// By the origin's clock and to a second: what says when it expires says that in seconds.
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
