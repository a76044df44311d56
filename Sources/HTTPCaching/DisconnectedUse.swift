import HTTPMessage

/// A disconnected cache (`mode: offline`, or `auto` without a network) sends no request to an origin server. It uses stored responses
/// of any age, or up to a limit (RFC 9111 §4.2.4).
///
/// A disconnected cache ignores the request's age directives, which are advice (§5.2.1), and a rule's policy, which says when to
/// contact the origin server. The origin server's limits on stale use still apply: under must-revalidate, §5.2.2.2 requires a
/// disconnected cache to respond with an error, which is 504.
extension Reuse {
    static func decideDisconnected(
        _ facts: ReuseFacts, _ clock: ReuseClock, _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        let decision = decideStored(facts, clock, .offline, request, overrides)
        if decision.isStale, !overrides.permitsOfflineUse(staleness: clock.staleness) { return .offlineMiss(.maxStaleOffline) }
        guard case .fresh(var terms) = decision else { return decision }
        if objection(of: request, clock) != nil || overrides.effectivePolicy.alwaysAsks { terms.circumstance = .pastObjection }
        return .fresh(terms)
    }
}

extension CacheOverrides {
    /// Whether a disconnected cache may use a response this many milliseconds past its lifetime.
    func permitsOfflineUse(staleness: Int64) -> Bool {
        guard let offlineStalenessLimit else { return true }
        return staleness <= offlineStalenessLimit.milliseconds
    }
}

extension CachePolicy {
    /// Whether the policy contacts the origin server even if the stored response is fresh.
    fileprivate var alwaysAsks: Bool {
        switch self {
        case .reload, .reloadAll, .revalidate: true
        case .useProtocol, .storedElseLoad, .storedOnly: false
        }
    }
}
