import HTTPMessage

/// Decides whether a response is stored (RFC 9111 §3, §3.5), and computes the facts for its reuse.
public enum Storability {
    /// Why no response to this request may be stored, judging by the request alone; `nil` if nothing forbids it.
    package static func refusal(
        of request: RequestHead, directives: RequestDirectives, overrides: CacheOverrides, secondary: SecondaryKey = .none
    ) -> StorageRefusal? {
        if !directives.contains(.isGET), !directives.contains(.isKeyedByContent) { return .method }
        return refusalWhateverMethod(request, directives, overrides, secondary)
    }

    /// Why no response to this request may be stored, apart from its method. Used for a response that updates a stored one, and for a GET
    /// that Larder sends instead of this request.
    package static func refusalWhateverMethod(
        _ request: RequestHead, _ directives: RequestDirectives, _ overrides: CacheOverrides, _ secondary: SecondaryKey
    ) -> StorageRefusal? {
        if directives.contains(.content) { return .requestContent }
        if directives.contains(.noStore) { return .requestNoStore }
        if overrides.storeNever { return .rule }
        if UnkeyedInput.isPresent(in: request.fields, secondary) { return .unkeyedInput }
        return nil
    }

    /// - Parameters:
    ///   - request: as the client sent it.
    ///   - response: as the origin server sent it, hop-by-hop fields included.
    ///   - targets: fields that replace Cache-Control.
    ///   - requestTime: when the request was forwarded.
    ///   - responseTime: when the response's head was received.
    ///   - content: the stored response to GET that this response updates and whose content is kept; `nil` for a new response.
    package static func decide(
        request: RequestHead, response: ResponseHead, overrides: CacheOverrides, secondary: SecondaryKey = .none,
        targets: TargetedCacheControl = .none, requestTime: Timestamp, responseTime: Timestamp, content: StoredResponse? = nil
    ) -> StorageDecision {
        var requestDirectives = RequestDirectives(request)
        if secondary.contentDigest != nil { requestDirectives.keyByContent() }
        let refusalOfRequest =
            content == nil
            ? refusal(of: request, directives: requestDirectives, overrides: overrides, secondary: secondary)
            : refusalWhateverMethod(request, requestDirectives, overrides, secondary)
        if let refusalOfRequest { return .doNotStore(refusalOfRequest) }
        if let refusal = refusal(of: response.status) { return .doNotStore(refusal) }
        if !StoredHead.holds(response.fields, reasonCount: response.reason.count) { return .doNotStore(.headTooLarge) }
        let directives = ResponseDirectives(response.fields, targets: targets)
        let prohibitions = prohibitions(directives)
        if let refusal = refusal(of: response.status, directives, prohibitions.subtracting(overrides.ignored)) {
            return .doNotStore(refusal)
        }
        if requestDirectives.contains(.authorization), !permitsSharing(directives) { return .doNotStore(.authorization) }
        if let refusal = refusal(ofVary: response.fields, request: request.fields, secondary) { return .doNotStore(refusal) }

        var facts = Storability.facts(of: response, directives: directives, requestTime: requestTime, responseTime: responseTime)
        if requestDirectives.contains(.authorization) { facts.flags.insert(.authorized) }
        if prohibitions.contains(.noStore) { facts.flags.insert(.noStore) }
        if prohibitions.contains(.private) { facts.flags.insert(.private) }
        if let refusal = refusal(of: response, facts: facts, directives: directives, overrides: overrides) {
            return .doNotStore(refusal)
        }
        let sharesCookie = facts.flags.contains(.setCookie) && !facts.lifetimeSource.isExplicit
        return .store(facts, usedUnsafe: !prohibitions.isEmpty || sharesCookie)
    }

    // MARK: Statuses

    /// Whether the status is heuristically cacheable (RFC 9110 §15.1).
    static func isHeuristicallyCacheable(_ status: Status) -> Bool {
        switch status.code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Statuses whose caching requirements Larder implements, for must-understand (RFC 9111 §5.2.2.3).
    private static func isUnderstood(_ status: Status) -> Bool {
        switch status.code {
        case 200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 409, 410, 414, 415, 422, 451,
            500, 501, 502, 503, 504:
            true
        default: false
        }
    }

    private static func refusal(of status: Status) -> StorageRefusal? {
        switch status.code {
        case 206: .partialContent
        case 304: .notModified
        // A response may depend on this request's preconditions, ranges, expectations, size or connection, or on its client. Such
        // a response does not apply to the next request with the same key (428, 429, 431 and 511: RFC 6585).
        case 407, 408, 411, 412, 413, 416, 417, 421, 425, 426, 428, 429, 431, 511: .status
        case 200...599: nil
        default: .status
        }
    }

    // MARK: Directives

    /// no-store forbids storing, unless must-understand replaces it; private forbids storing in a shared cache.
    private static func prohibitions(_ directives: ResponseDirectives) -> CacheOverrides.Directives {
        let flags = directives.flags
        var prohibitions: CacheOverrides.Directives = []
        if flags.contains(.noStore), !flags.contains(.mustUnderstand) { prohibitions.insert(.noStore) }
        if flags.contains(.private) { prohibitions.insert(.private) }
        return prohibitions
    }

    private static func refusal(
        of status: Status, _ directives: ResponseDirectives, _ prohibitions: CacheOverrides.Directives
    ) -> StorageRefusal? {
        if directives.flags.contains(.mustUnderstand), !isUnderstood(status) { return .mustUnderstand }
        if prohibitions.contains(.noStore) { return .noStore }
        return prohibitions.contains(.private) ? .private : nil
    }

    /// Whether a directive allows sharing the response to a request with Authorization (RFC 9111 §3.5).
    private static func permitsSharing(_ directives: ResponseDirectives) -> Bool {
        directives.flags.contains(.public) || directives.flags.contains(.mustRevalidate) || directives.sMaxAge != .absent
    }

    private static func refusal(ofVary fields: Fields, request: Fields, _ secondary: SecondaryKey) -> StorageRefusal? {
        switch Vary.check(fields, request: request, secondary) {
        case .valid: nil
        case .any: .varyAny
        case .invalid: .varyInvalid
        }
    }

    private static func refusal(
        of response: ResponseHead, facts: ReuseFacts, directives: ResponseDirectives, overrides: CacheOverrides
    ) -> StorageRefusal? {
        let isExplicit = facts.lifetimeSource.isExplicit
        if facts.flags.contains(.setCookie), !permitsCookie(overrides.setCookie, isExplicit: isExplicit) { return .setCookie }
        let isPermitted = isExplicit || directives.flags.contains(.public) || isHeuristicallyCacheable(response.status)
        // RFC 9111 §3 requires an explicit lifetime for this status. A rule that names the status replaces that requirement.
        let isNamed = overrides.statusLifetimes.lifetime(of: response.status) != nil
        guard isPermitted || isNamed || overrides.isTimeToLiveUnsafe else { return .notCacheable }
        if facts.isPastSignature(age: facts.initialAgeInMilliseconds) { return .signature }
        if !isUseful(facts, overrides: overrides) { return .noLifetime }
        if let limit = overrides.maximumBodyLength, let length = contentLength(response.fields), length > limit {
            return .bodyTooLarge
        }
        return nil
    }

    private static func permitsCookie(_ setting: SetCookieStorage?, isExplicit: Bool) -> Bool {
        switch setting {
        case .never: false
        case .always: true
        case .explicit, nil: isExplicit
        }
    }

    /// Whether the response could ever be reused: it has some lifetime left, can be validated, or may be served stale.
    private static func isUseful(_ facts: ReuseFacts, overrides: CacheOverrides) -> Bool {
        if facts.canBeValidated { return true }
        let lifetime = facts.lifetime(under: overrides)
        let needsValidation = facts.flags.contains(.noCache) && !lifetime.usedUnsafe
        if lifetime.value.milliseconds > facts.initialAgeInMilliseconds, !needsValidation { return true }
        let policy = overrides.effectivePolicy
        let servesAnyAge = policy == .storedElseLoad || policy == .storedOnly
        // A response that was fresh at some time may satisfy a request with max-stale.
        let hadLifetime = lifetime.value > .zero
        let isUsefulStale = servesAnyAge || hadLifetime || facts.staleIfError > .zero || facts.staleWhileRevalidate > .zero
        return isUsefulStale && (!facts.prohibitsStaleUse || overrides.isPolicyUnsafe)
    }

    /// The length that the origin server declared, for a limit that is checked before the body arrives.
    private static func contentLength(_ fields: Fields) -> UInt64? {
        guard let line = fields.first(.contentLength) else { return nil }
        let value = fields.value(of: line)
        var length: UInt64 = 0
        for index in 0..<value.count {
            guard ASCII.isDigit(value[index]) else { return nil }
            let (product, overflow) = length.multipliedReportingOverflow(by: 10)
            guard !overflow, product <= .max - 9 else { return .max }
            length = product + UInt64(value[index] &- 0x30)
        }
        return length
    }

    // MARK: Facts

    package static func facts(
        of response: ResponseHead, directives: ResponseDirectives, requestTime: Timestamp, responseTime: Timestamp
    ) -> ReuseFacts {
        var facts = ReuseFacts(status: response.status, responseTime: responseTime)
        let fields = response.fields
        if fields.lineCount(of: .date) == 1, let date = date(.date, fields, now: responseTime) { facts.dateValue = date }
        if fields.lineCount(of: .lastModified) == 1, let date = date(.lastModified, fields, now: responseTime) {
            facts.lastModified = date
            facts.flags.insert(.lastModified)
        }
        if let line = fields.entityTagLine, let tag = EntityTag(fields.value(of: line)) {
            facts.flags.insert(tag.isWeak ? .weakETag : .strongETag)
        }
        if fields.contains(.vary) { facts.flags.insert(.varies) }
        if fields.contains(.setCookie) { facts.flags.insert(.setCookie) }
        note(directives, in: &facts)

        let lifetime = Freshness.lifetime(of: response, directives: directives, facts: facts)
        facts.freshnessLifetime = lifetime.value
        facts.lifetimeSource = lifetime.source
        noteSignature(of: response, in: &facts)
        facts.initialAgeInMilliseconds = Age.correctedInitialAgeInMilliseconds(
            ageValue: Age.value(of: fields), dateValue: facts.dateValue, requestTime: requestTime,
            responseTime: facts.responseTime)
        // Only a validator that is stored can be used for validation.
        if !StoredFields.keep(.etag, of: fields, isTargeted: directives.isTargeted) {
            facts.flags.subtract([.strongETag, .weakETag])
        }
        if !StoredFields.keep(.lastModified, of: fields, isTargeted: directives.isTargeted) { facts.flags.remove(.lastModified) }
        return facts
    }

    /// Limits freshness by the expiry of the signature in Location. The origin server's clock decides when the signature expires, as it
    /// does for Expires (RFC 9111 §4.2.1).
    private static func noteSignature(of response: ResponseHead, in facts: inout ReuseFacts) {
        guard let end = SignedLocation.end(of: response) else { return }
        facts.signatureLifetime = DeltaSeconds(
            min(end.seconds - facts.dateValue.seconds, Int64(DeltaSeconds.greatest.seconds) - 1))
        guard facts.freshnessLifetime > facts.signatureLifetime else { return }
        facts.freshnessLifetime = facts.signatureLifetime
        if facts.lifetimeSource.isExplicit { facts.lifetimeSource = .signature }
    }

    private static func note(_ directives: ResponseDirectives, in facts: inout ReuseFacts) {
        let flags = directives.flags
        if directives.isTargeted { facts.flags.insert(.targeted) }
        if flags.contains(.noCache) { facts.flags.insert(.noCache) }
        if flags.contains(.mustRevalidate) { facts.flags.insert(.mustRevalidate) }
        if flags.contains(.proxyRevalidate) { facts.flags.insert(.proxyRevalidate) }
        if directives.sMaxAge != .absent { facts.flags.insert(.sMaxAge) }
        if flags.contains(.immutable) { facts.flags.insert(.immutable) }
        if flags.contains(.public) { facts.flags.insert(.public) }
        if flags.contains(.noTransform) { facts.flags.insert(.noTransform) }
        if case .seconds(let number) = directives.staleWhileRevalidate { facts.staleWhileRevalidate = number }
        // An invalid value is treated as zero, so that it never extends stale use.
        if directives.staleIfError != .absent { facts.flags.insert(.staleIfError) }
        if case .seconds(let number) = directives.staleIfError { facts.staleIfError = number }
    }

    private static func date(_ field: KnownField, _ fields: Fields, now: Timestamp) -> Timestamp? {
        fields.first(field).flatMap { HTTPDate.parse(fields.value(of: $0), now: now) }
    }
}
