extension TrustPolicy {
    /// What is kept of the policy beside what came under it: the same number as long as the policy says the same and means the same at that
    /// time. Never one below `leastMark`.
    package func mark(at now: POSIXTime) -> UInt64 {
        var mark: UInt64 = 0
        for octet in active(at: now).fingerprint.octets.prefix(8) { mark = mark << 8 | UInt64(octet) }
        // Pins mean something else once they are enforced, and once their time is over.
        let phase: UInt64 = pins.map { ($0.isEnforced(at: now) ? 1 : 0) | ($0.isExpired(at: now) ? 2 : 0) } ?? 0
        return mark & ~7 | Self.leastMark | phase
    }

    package static let leastMark: UInt64 = 4

    /// The next moment after which the policy may mean something else; `nil` where none is to come.
    package func nextChange(after now: POSIXTime) -> POSIXTime? {
        var moments: [POSIXTime] = []
        if let expires = pins?.expires { moments.append(expires) }
        if let weakUntil { moments.append(weakUntil) }
        if case .enforcedFrom(let start) = pins?.enforcement { moments.append(POSIXTime(seconds: start.seconds - 1)) }
        return moments.filter { $0 >= now }.min()
    }
}
