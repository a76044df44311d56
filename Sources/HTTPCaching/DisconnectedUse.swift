import HTTPMessage

/// A cache that is disconnected (`mode: offline`, or `auto` without a network): what is stored is used whatever its age, or within a bound (RFC 9111
/// §4.2.4), and nothing is asked of an origin server.
///
/// What the request says of ages (§5.2.1) is advice, and a rule's policy says when to ask: neither has anything to choose between here. What
/// the origin server says of stale use is obeyed as ever: §5.2.2.2 has a disconnected cache answer with an error, 504.
extension Reuse {
    static func decideDisconnected(
        _ facts: ReuseFacts, _ clock: ReuseClock, _ request: RequestDirectives, _ overrides: CacheOverrides
    ) -> ReuseDecision {
        let decision = decideStored(facts, clock, .offline, request, overrides)
        if decision.isStale, !overrides.permitsOfflineUse(staleness: clock.staleness) { return .offlineMiss(.maxStaleOffline) }
        guard case .fresh(var terms) = decision else { return decision }
        terms.isPastObjection = objection(of: request, clock) != nil || overrides.effectivePolicy.alwaysAsks
        return .fresh(terms)
    }
}

extension CacheOverrides {
    /// Whether a response so many milliseconds past its lifetime may be used where nothing may leave.
    func permitsOfflineUse(staleness: Int64) -> Bool {
        guard let offlineStalenessLimit else { return true }
        return staleness <= offlineStalenessLimit.milliseconds
    }
}

extension CachePolicy {
    /// The origin server is asked however fresh what is stored may be.
    fileprivate var alwaysAsks: Bool {
        switch self {
        case .reload, .reloadAll, .revalidate: true
        case .useProtocol, .storedElseLoad, .storedOnly: false
        }
    }
}
