extension TrustPolicy {
    /// The last second for which a verdict made at `now` is valid. It ends when certificates or revocation data expire, or when the meaning
    /// of the policy changes: its pins expire or become enforced, or its weakening ends. `nil` if none of these will happen.
    func lastMoment(of verdict: TrustVerdict, after now: POSIXTime) -> POSIXTime? {
        [verdict.expires, verdict.revocationKnownUntil, nextChange(after: now)].compactMap { $0 }.filter { $0 >= now }.min()
    }
}
