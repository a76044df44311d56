extension TrustPolicy {
    /// A number stored with a response that was received under this policy. The number changes only if the policy or its meaning at that
    /// time changes. Never below `leastMark`.
    package func mark(at now: POSIXTime) -> UInt64 {
        var mark: UInt64 = 0
        for octet in active(at: now).fingerprint.octets.prefix(8) { mark = mark << 8 | UInt64(octet) }
        // The meaning of pins changes when their enforcement begins, and when they expire.
        let phase: UInt64 = pins.map { ($0.isEnforced(at: now) ? 1 : 0) | ($0.isExpired(at: now) ? 2 : 0) } ?? 0
        return mark & ~7 | Self.leastMark | phase
    }

    package static let leastMark: UInt64 = 4

    /// The next time after which the meaning of the policy may change; `nil` if there is none.
    package func nextChange(after now: POSIXTime) -> POSIXTime? {
        var moments: [POSIXTime] = []
        if let expires = pins?.expires { moments.append(expires) }
        if let weakUntil { moments.append(weakUntil) }
        if case .enforcedFrom(let start) = pins?.enforcement { moments.append(POSIXTime(seconds: start.seconds - 1)) }
        return moments.filter { $0 >= now }.min()
    }
}
