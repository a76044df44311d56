import HTTPMessage

/// Why a stale response is served (RFC 9111 §4.2.4).
public enum StaleReason: UInt8, Sendable, CaseIterable {
    /// The client's max-stale.
    case maxStale
    /// A rule or session set the cache policy of this name (`CachePolicy`).
    case storedElseLoad, storedOnly
    /// The origin server's stale-while-revalidate: Larder validates the response in the background (RFC 5861 §3).
    case staleWhileRevalidate
    /// A rule's `grace`: Larder validates the response in the background.
    case grace
    /// The cache is disconnected (`mode: offline`, or `auto` without a network).
    case offline
    /// The origin server's stale-if-error, or the client's (RFC 5861 §4).
    case staleIfError
    /// The cache became disconnected, or a rule prefers a stale response to the origin server's.
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

    /// Whether a response is served for this reason on condition that Larder validates it in the background.
    package var wantsValidation: Bool { self == .staleWhileRevalidate || self == .grace }
}

/// Why there is no usable response from the origin server, if a stale response may replace it.
package enum OriginFailure: Sendable {
    /// The cache is disconnected (RFC 9111 §4.2.4).
    case disconnected
    /// Larder could not reach the origin server, or got an error from it (`Reuse.isError`).
    case error
}

// Use of stale responses, both without a failure and after a failure of the origin server.
extension Reuse {
    /// Whether a response with this status is an error that a stale response may replace: the statuses of RFC 5861 §4, and 429, which says
    /// nothing about the resource.
    package static func isError(_ status: Status) -> Bool {
        switch status.code {
        case 429, 500, 502, 503, 504: true
        default: false
        }
    }

    /// The decision to serve the stored response instead of the origin server's; `nil` if the origin server or the request forbids it,
    /// or nothing allows it.
    ///
    /// After an error, the response's stale-if-error, the request's stale-if-error or a rule must allow it. If response and request
    /// both set a limit, both limits apply. A disconnected cache needs no such permission (§4.2.4), but must respect the limits.
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

    /// Decides about a response received under another trust policy, when the origin server cannot be contacted and the active policy
    /// accepts the recorded certificate chain. The decision is the same as if the response had been received under the active policy.
    /// - Parameter failure: why there is no response from the origin server; `nil` if the request must not be forwarded.
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

    /// The decision to serve the stored response instead of a response that a rule refused (RFC 9111 §4.2.4 permits this by
    /// configuration); `nil` if the origin server forbids stale use.
    package static func staleInsteadOfRefused(
        _ facts: ReuseFacts, for request: RequestDirectives, overrides: CacheOverrides, at now: Timestamp
    ) -> ReuseDecision? {
        guard facts.trust == request.trust else { return nil }
        return stale(.failure, facts, ReuseClock(facts, overrides: overrides, at: now), overrides)
    }

    /// Decides about a stale response: the client's max-stale, the origin server's stale-while-revalidate or a rule's grace may allow
    /// it, if no directive of the origin server forbids it.
    static func decideStale(
        _ facts: ReuseFacts, _ clock: ReuseClock, _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        if facts.prohibitsStaleUse { return validate(prohibition(facts), facts, request, overrides) }
        guard objection(of: request, clock) == nil, request.accepts(staleness: clock.staleness) else {
            return validate(.stale, facts, request, overrides)
        }
        // Two kinds of stale responses are not served before their validation. Larder does not validate a request in the
        // background if its content is part of the key. A redirect whose signature has expired would lead to an error.
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

    // MARK: Helpers

    private static func stale(
        _ reason: StaleReason, _ facts: ReuseFacts, _ clock: ReuseClock, _ overrides: CacheOverrides
    ) -> ReuseDecision? {
        let mayLiftProhibition = overrides.isPolicyUnsafe && facts.permitsUnsafeUse
        guard !facts.prohibitsStaleUse || mayLiftProhibition, overrides.permitsUse(of: facts) else { return nil }
        return .staleAllowed(clock.terms(usedUnsafe: facts.prohibitsStaleUse || facts.isStoredByOverride), reason)
    }

    /// Whether the request's directives permit this stale response. A stale-if-error directive replaces the request's other limits on
    /// age, except no-cache.
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
            terms.circumstance = .recordedChain
            return .fresh(terms)
        case .staleAllowed(var terms, let reason):
            terms.circumstance = .recordedChain
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
    /// Whether the request accepts a response this many milliseconds past its lifetime. The limit is max-stale. A request without
    /// max-stale accepts any stale response if it has no max-age (RFC 9111 §5.2.1.1, §5.2.1.2).
    fileprivate func accepts(staleness: Int64) -> Bool {
        if staleness < 0 { return true }
        if contains(.maxStale) { return maxStale == .greatest || staleness <= maxStale.milliseconds }
        return !contains(.maxAge)
    }
}
