import HTTPMessage

/// Why a stale response is served (RFC 9111 §4.2.4).
package enum StaleReason: UInt8, Sendable, CaseIterable {
    /// The client's max-stale.
    case maxStale
    /// The policies of these names.
    case storedElseLoad, storedOnly
    /// The origin server's stale-while-revalidate: it is asked meanwhile (RFC 5861 §3).
    case staleWhileRevalidate
    /// The same by a rule.
    case grace
    /// Nothing may leave (`mode: offline`, or `auto` without a network).
    case offline
    /// The origin server's stale-if-error, or the client's (RFC 5861 §4).
    case staleIfError
    /// Nothing may leave any more, or a rule prefers a stale response to what the origin server sent.
    case failure

    package var word: StaticString {
        switch self {
        case .maxStale: "max_stale"
        case .storedElseLoad: "stored_else_load"
        case .storedOnly: "stored_only"
        case .staleWhileRevalidate: "stale_while_revalidate"
        case .grace: "grace"
        case .offline: "offline"
        case .staleIfError: "stale_if_error"
        case .failure: "stale_on_failure"
        }
    }

    /// Served on condition that the origin server is asked meanwhile.
    package var wantsValidation: Bool { self == .staleWhileRevalidate || self == .grace }
}

/// What kept the origin server's answer away, as far as a stale response may stand in for it.
package enum OriginFailure: Sendable {
    /// Nothing may leave at all: the cache is disconnected (RFC 9111 §4.2.4).
    case disconnected
    /// The way to the origin server failed, or it answered with an error (`Reuse.isError`).
    case error
}

// Stale responses: when nobody has failed, and when the origin server has.
extension Reuse {
    /// Whether a response with this status is an error that a stale one may replace: those of RFC 5861 §4, and 429, which says as little of
    /// the resource.
    package static func isError(_ status: Status) -> Bool {
        switch status.code {
        case 429, 500, 502, 503, 504: true
        default: false
        }
    }

    /// Whether the stored response may stand in for the origin server's answer; `nil` where the origin server's words forbid
    /// it, the request's, or where nobody has allowed it.
    ///
    /// For an error stale-if-error has to allow it, from either side, or a rule; where both sides speak, both bounds hold. A disconnected cache
    /// needs no such word (§4.2.4), and keeps to the bounds all the same.
    package static func staleAfterFailure(
        _ failure: OriginFailure, _ facts: ReuseFacts, for request: RequestDirectives, overrides: CacheOverrides,
        at now: Timestamp
    ) -> ReuseDecision? {
        guard facts.trust == request.trust else { return nil }
        let clock = ReuseClock(facts, overrides: overrides, at: now)
        guard isWanted(clock, by: request) else { return nil }
        let isBounded = facts.flags.contains(.staleIfError) || request.contains(.staleIfError)
        let isAllowed = isBounded && isWithinStaleIfError(facts, request, clock)
        if isAllowed { return stale(.staleIfError, facts, clock, overrides) }
        if overrides.grants(staleness: clock.staleness) { return stale(.grace, facts, clock, overrides) }
        guard failure == .disconnected, !isBounded, overrides.permitsOfflineUse(staleness: clock.staleness) else { return nil }
        return stale(.failure, facts, clock, overrides)
    }

    /// For a response that came under another trust policy than the active one, which accepts the chain recorded with it, where
    /// the origin server cannot be asked: as if it had come under this one.
    /// - Parameter failure: what keeps the answer away; `nil` where the request may not go forward.
    package static func decideByRecordedChain(
        _ facts: ReuseFacts, for request: RequestDirectives, overrides: CacheOverrides, insteadOf failure: OriginFailure?,
        at now: Timestamp
    ) -> ReuseDecision {
        var facts = facts
        facts.trust = request.trust
        let decision = decide(facts, for: request, overrides: overrides, at: now)
        switch decision {
        case .fresh, .staleAllowed: return decision.byRecordedChain
        case .offlineMiss: return decision
        case .validate, .forward, .notSatisfiable:
            let stale = failure.flatMap { staleAfterFailure($0, facts, for: request, overrides: overrides, at: now) }
            return stale?.byRecordedChain ?? decision
        }
    }

    /// Whether the stored response may be served in the place of one that a rule refused (RFC 9111 §4.2.4: by
    /// configuration); `nil` where the origin server's words forbid it.
    package static func staleInsteadOfRefused(
        _ facts: ReuseFacts, for request: RequestDirectives, overrides: CacheOverrides, at now: Timestamp
    ) -> ReuseDecision? {
        guard facts.trust == request.trust else { return nil }
        return stale(.failure, facts, ReuseClock(facts, overrides: overrides, at: now), overrides)
    }

    /// A stale response: the client's max-stale, the origin server's stale-while-revalidate or a rule's grace lets it be used,
    /// and no other word of the origin's may forbid it.
    static func decideStale(
        _ facts: ReuseFacts, _ clock: ReuseClock, _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        if facts.prohibitsStaleUse { return validate(prohibition(facts), facts, request, overrides) }
        guard objection(of: request, clock) == nil, request.accepts(staleness: clock.staleness) else {
            return validate(.stale, facts, request, overrides)
        }
        // What has content to send is validated by its own exchange; a redirect whose signature has ended leads to an error meanwhile.
        let mayWait = !request.contains(.isKeyedByContent) && !facts.isPastSignature(age: clock.age)
        if mayWait, clock.staleness <= facts.staleWhileRevalidate.milliseconds, facts.staleWhileRevalidate > .zero {
            return .staleAllowed(clock.terms(usedUnsafe: usedUnsafe(facts, clock)), .staleWhileRevalidate)
        }
        if mayWait, overrides.grants(staleness: clock.staleness) {
            return .staleAllowed(clock.terms(usedUnsafe: usedUnsafe(facts, clock)), .grace)
        }
        guard request.contains(.maxStale) else { return validate(.stale, facts, request, overrides) }
        return .staleAllowed(clock.terms(usedUnsafe: usedUnsafe(facts, clock)), .maxStale)
    }

    // MARK: Parts

    private static func stale(
        _ reason: StaleReason, _ facts: ReuseFacts, _ clock: ReuseClock, _ overrides: CacheOverrides
    ) -> ReuseDecision? {
        let mayLiftProhibition = overrides.isPolicyUnsafe && facts.permitsUnsafeUse
        guard !facts.prohibitsStaleUse || mayLiftProhibition, overrides.permitsUse(of: facts) else { return nil }
        return .staleAllowed(clock.terms(usedUnsafe: facts.prohibitsStaleUse || facts.isStoredByOverride), reason)
    }

    /// The request's own stale-if-error says how stale the answer may be, whatever it bounds otherwise; no-cache stays.
    private static func isWanted(_ clock: ReuseClock, by request: RequestDirectives) -> Bool {
        if request.contains(.staleIfError) { return !request.contains(.noCache) }
        return objection(of: request, clock) == nil && request.accepts(staleness: clock.staleness)
    }

    private static func isWithinStaleIfError(_ facts: ReuseFacts, _ request: RequestDirectives, _ clock: ReuseClock) -> Bool {
        if facts.flags.contains(.staleIfError), clock.staleness > facts.staleIfError.milliseconds { return false }
        return !request.contains(.staleIfError) || clock.staleness <= request.staleIfError.milliseconds
    }
}

extension ReuseDecision {
    fileprivate var byRecordedChain: ReuseDecision {
        switch self {
        case .fresh(var terms):
            terms.isByRecordedChain = true
            return .fresh(terms)
        case .staleAllowed(var terms, let reason):
            terms.isByRecordedChain = true
            return .staleAllowed(terms, reason)
        case .validate, .forward, .notSatisfiable, .offlineMiss: return self
        }
    }
}

extension CacheOverrides {
    fileprivate func grants(staleness: Int64) -> Bool {
        guard let grace else { return false }
        return staleness <= grace.milliseconds
    }
}

extension RequestDirectives {
    /// Whether the client's words leave room for a response so many milliseconds past its lifetime: within its max-stale;
    /// without one, where it bounds no age (RFC 9111 §5.2.1.1, §5.2.1.2).
    fileprivate func accepts(staleness: Int64) -> Bool {
        if staleness < 0 { return true }
        if contains(.maxStale) { return maxStale == .greatest || staleness <= maxStale.milliseconds }
        return !contains(.maxAge)
    }
}
