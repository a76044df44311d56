extension TrustPolicy {
    /// Until when a verdict made at `now` holds: until its certificates or its revocation data expire, or until the meaning of
    /// the policy next changes (its pins, or the end of its weakening). `nil` if none of these is still to come.
    func lastMoment(of verdict: TrustVerdict, after now: POSIXTime) -> POSIXTime? {
        [verdict.expires, verdict.revocationKnownUntil, nextChange(after: now)].compactMap { $0 }.filter { $0 >= now }.min()
    }
}
