import HTTPMessage

/// The age and lifetime with which a stored response is served.
public struct ReuseTerms: Equatable, Sendable {
    /// The value of the Age field.
    public let age: DeltaSeconds
    /// The remaining lifetime in whole seconds; negative once stale.
    public let remaining: Int64
    /// Where the lifetime comes from.
    public let lifetimeSource: LifetimeSource
    /// Whether the response is served only because of an unsafe rule.
    package let usedUnsafe: Bool
    /// What is special about this use.
    package internal(set) var circumstance = Circumstance.none

    package enum Circumstance: UInt8, Sendable {
        case none
        /// The response was received under another trust policy, and is used because Larder cannot contact the origin server. The active
        /// policy accepts the certificate chain recorded with the response.
        case recordedChain
        /// The response is fresh, but the request or a rule requires contacting the origin server. That requirement is ignored, since the
        /// cache is disconnected.
        case pastObjection
        /// Another machine has fetched the response, and the shared tier had it.
        case shared
    }

    package var isByRecordedChain: Bool { circumstance == .recordedChain }
    package var isPastObjection: Bool { circumstance == .pastObjection }
    package var isShared: Bool { circumstance == .shared }

    /// The word for `isByRecordedChain` in fields and logs.
    package static var recordedChainWord: StaticString { "recorded_chain" }
    /// The word for `isShared` in fields and logs.
    package static var sharedWord: StaticString { "shared_tier" }
}

/// Whether a stored response satisfies a request (RFC 9111 §4). A trivial type (no reference counts).
public enum ReuseDecision: Equatable, Sendable {
    /// The stored response is fresh: send it without contacting the origin server.
    case fresh(ReuseTerms)
    /// The stored response is stale, and may be sent for this reason.
    case staleAllowed(ReuseTerms, StaleReason)
    /// Forward with preconditions from the stored response (`Validation`).
    case validate(ForwardReason)
    /// Forward without using stored responses.
    case forward(ForwardReason)
    /// The request needs the origin server for this reason, but must not be forwarded because of only-if-cached or a rule. The client
    /// gets 504.
    case notSatisfiable(ForwardReason)
    /// The request needs the origin server for this reason, but the cache is disconnected. The client gets 504.
    case offlineMiss(ForwardReason)

    /// Whether Larder contacts the origin server, before or after it responds to the client.
    package var asksOrigin: Bool {
        switch self {
        case .validate, .forward: true
        case .staleAllowed(_, let reason): reason.wantsValidation
        case .fresh, .notSatisfiable, .offlineMiss: false
        }
    }

    /// The same decision for a response that the shared tier had.
    package var fromSharedTier: ReuseDecision {
        guard case .fresh(var terms) = self else { return self }
        terms.circumstance = .shared
        return .fresh(terms)
    }

    /// The word for `notSatisfiable`: the name of the decision, and the code of the error that the client gets.
    package static var notSatisfiableWord: StaticString { "cache_miss_only_if_cached" }
    /// The word for `offlineMiss`: the name of the decision, and the code of the error that the client gets.
    package static var offlineMissWord: StaticString { "offline_miss" }
}

/// Decides whether a stored response is reused. Reads only trivial values and does not allocate.
public enum Reuse {
    /// The decision, if it can be made without a lookup; otherwise `nil`.
    package static func decideBeforeLookUp(for request: RequestDirectives, overrides: CacheOverrides) -> ReuseDecision? {
        // A request with an unsafe method is always forwarded (§4): no directive of the client and no rule changes that. A disconnected
        // cache responds to it with 504.
        guard !request.flags.isDisjoint(with: [.isGET, .isHEAD, .isKeyedByContent]) else {
            return overrides.isDisconnected ? .offlineMiss(.method) : .forward(.method)
        }
        if request.contains(.content) { return forward(.requestContent, request, overrides) }
        if overrides.isDisconnected { return nil }
        switch overrides.effectivePolicy {
        case .reload: return forward(.reload, request, overrides)
        case .reloadAll: return forward(.reloadAll, request, overrides)
        case .useProtocol, .storedElseLoad, .storedOnly, .revalidate: return nil
        }
    }

    /// Decides after a lookup that found nothing usable.
    /// - Parameter reason: `.uriMiss`, or `.varyMiss` if `Vary.select` matched none of the stored responses.
    package static func decideMiss(
        _ reason: ForwardReason, for request: RequestDirectives, overrides: CacheOverrides
    ) -> ReuseDecision {
        forward(reason, request, overrides)
    }

    /// Decides about the selected response.
    package static func decide(
        _ facts: ReuseFacts, for request: RequestDirectives, overrides: CacheOverrides, at now: Timestamp
    ) -> ReuseDecision {
        if let early = decideBeforeLookUp(for: request, overrides: overrides) { return early }
        if !overrides.permitsUse(of: facts) { return forward(.unsafeRuleGone, request, overrides) }
        if request.contains(.originCondition) { return forward(.originCondition, request, overrides) }
        if facts.trust != request.trust { return validate(.trustChanged, facts, request, overrides) }
        let clock = ReuseClock(facts, overrides: overrides, at: now)
        if overrides.isDisconnected { return decideDisconnected(facts, clock, request, overrides) }
        switch overrides.effectivePolicy {
        case .storedElseLoad: return decideStored(facts, clock, .storedElseLoad, request, overrides)
        case .storedOnly: return decideStored(facts, clock, .storedOnly, request, overrides)
        case .revalidate: return validate(.revalidate, facts, request, overrides)
        case .useProtocol, .reload, .reloadAll: return decideByProtocol(facts, clock, request, overrides)
        }
    }

    // MARK: Steps of the decision

    private static func decideByProtocol(
        _ facts: ReuseFacts, _ clock: ReuseClock, _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        guard clock.isFresh, !needsValidation(facts, clock) else { return decideStale(facts, clock, request, overrides) }
        if let objection = objection(of: request, clock) { return validate(objection, facts, request, overrides) }
        return .fresh(clock.terms(usedUnsafe: usedUnsafe(facts, clock)))
    }

    /// Why the request's directives reject a response that could be used (RFC 9111 §5.2.1).
    static func objection(of request: RequestDirectives, _ clock: ReuseClock) -> ForwardReason? {
        guard !request.flags.isDisjoint(with: [.noCache, .pragmaNoCache, .maxAge, .minFresh]) else { return nil }
        if request.contains(.noCache) { return .requestNoCache }
        if request.contains(.pragmaNoCache) { return .requestPragma }
        if request.asksForYounger(than: clock.age) { return .requestMaxAge }
        if request.contains(.minFresh), !clock.isFresh || clock.remaining < request.minFresh.milliseconds {
            return .requestMinFresh
        }
        return nil
    }

    /// Under the policies `storedElseLoad` and `storedOnly`, a response of any age is served. The policy takes precedence over the
    /// request's own directives, which are advice (§5.2.1). If the origin server forbids using the response, only an unsafe rule can
    /// override that.
    static func decideStored(
        _ facts: ReuseFacts, _ clock: ReuseClock, _ reason: StaleReason,
        _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        if clock.isFresh, !needsValidation(facts, clock) { return .fresh(clock.terms(usedUnsafe: usedUnsafe(facts, clock))) }
        let isProhibited = facts.prohibitsStaleUse
        if isProhibited, !(overrides.isPolicyUnsafe && facts.permitsUnsafeUse) {
            return validate(prohibition(facts), facts, request, overrides)
        }
        return .staleAllowed(clock.terms(usedUnsafe: isProhibited || usedUnsafe(facts, clock)), reason)
    }

    /// Whether the response must be validated before use, even if it is fresh (RFC 9111 §5.2.2.4).
    private static func needsValidation(_ facts: ReuseFacts, _ clock: ReuseClock) -> Bool {
        facts.flags.contains(.noCache) && !clock.usedUnsafe
    }

    static func usedUnsafe(_ facts: ReuseFacts, _ clock: ReuseClock) -> Bool {
        clock.usedUnsafe || facts.isStoredByOverride
    }

    static func prohibition(_ facts: ReuseFacts) -> ForwardReason {
        if facts.flags.contains(.noCache) { return .noCache }
        if facts.flags.contains(.mustRevalidate) { return .mustRevalidate }
        return facts.flags.contains(.proxyRevalidate) ? .proxyRevalidate : .sMaxAge
    }

    /// Decides to validate, if the response can be validated. A HEAD is forwarded unchanged: making it conditional gains nothing (RFC 9110
    /// §13.2.1).
    static func validate(
        _ reason: ForwardReason, _ facts: ReuseFacts, _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        guard request.contains(.isGET), facts.canBeValidated, !overrides.forbidsForwarding(of: request) else {
            return forward(reason, request, overrides)
        }
        return .validate(reason)
    }

    private static func forward(
        _ reason: ForwardReason, _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        if overrides.isDisconnected { return .offlineMiss(reason) }
        return overrides.forbidsForwarding(of: request) ? .notSatisfiable(reason) : .forward(reason)
    }
}

/// Age and remaining lifetime of one stored response at one time, in milliseconds.
struct ReuseClock {
    let age: Int64
    let remaining: Int64
    let source: LifetimeSource
    let usedUnsafe: Bool

    init(_ facts: ReuseFacts, overrides: CacheOverrides, at now: Timestamp) {
        let lifetime = facts.lifetime(under: overrides)
        age = facts.currentAgeInMilliseconds(at: now)
        remaining = lifetime.value.milliseconds - age
        source = lifetime.source
        usedUnsafe = lifetime.usedUnsafe
    }

    /// RFC 9111 §4.2: freshness_lifetime > current_age.
    var isFresh: Bool { remaining > 0 }

    /// How long past its lifetime the response is, in milliseconds; negative while it is fresh.
    var staleness: Int64 { -remaining }

    func terms(usedUnsafe: Bool) -> ReuseTerms {
        ReuseTerms(
            age: DeltaSeconds(age / 1000), remaining: remaining >= 0 ? remaining / 1000 : (remaining - 999) / 1000,
            lifetimeSource: source, usedUnsafe: usedUnsafe)
    }
}
