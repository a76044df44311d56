/// The credentials that were verified recently: limited in number and time. Times are milliseconds of a monotonic clock.
package struct VerifiedCredentials: Sendable {
    private let limits: CredentialsLimits
    private var ends: [CredentialsDigest: Int64] = [:]

    package init(limits: CredentialsLimits) { self.limits = limits }

    package var count: Int { ends.count }

    package mutating func contains(_ digest: CredentialsDigest, at now: Int64) -> Bool {
        guard let end = ends[digest] else { return false }
        if now < end { return true }
        ends[digest] = nil
        return false
    }

    /// If there is no space, the entry that expires first is removed.
    package mutating func insert(_ digest: CredentialsDigest, at now: Int64) {
        if ends.count >= limits.verifiedCount, ends[digest] == nil {
            ends = ends.filter { now < $0.value }
            if ends.count >= limits.verifiedCount, let first = ends.min(by: { $0.value < $1.value }) { ends[first.key] = nil }
        }
        ends[digest] = now + limits.verifiedMilliseconds
    }
}
