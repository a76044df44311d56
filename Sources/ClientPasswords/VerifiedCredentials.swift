/// Which credentials were found good lately: bounded, each with its end. Times are milliseconds of a clock that does not go back.
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

    /// Where there is no room, the one that ends first goes.
    package mutating func insert(_ digest: CredentialsDigest, at now: Int64) {
        if ends.count >= limits.verifiedCount, ends[digest] == nil {
            ends = ends.filter { now < $0.value }
            if ends.count >= limits.verifiedCount, let first = ends.min(by: { $0.value < $1.value }) { ends[first.key] = nil }
        }
        ends[digest] = now + limits.verifiedMilliseconds
    }
}
