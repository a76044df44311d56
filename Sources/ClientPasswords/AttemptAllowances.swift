package import HTTPMessage

/// For each client address: how many password attempts it has left, and how many of its verifications are in progress. A failed attempt
/// is counted when it ends, so that many clients with valid passwords can start from one address at once. Simultaneous guesses can make
/// the number negative. IPv6 addresses with the same first 64 bits share a number, since a client usually has all addresses with that
/// prefix. Times are milliseconds of a monotonic clock.
package struct AttemptAllowances: Sendable {
    package enum Beginning: Equatable, Sendable {
        case granted
        /// The address has as many verifications in progress as are allowed.
        case busy
        /// Too many attempts have failed.
        case exhausted
    }

    private struct Allowance {
        /// The number of further attempts; negative after several simultaneous guesses.
        var left: Int
        /// The time up to which regained attempts have been added.
        var countedAt: Int64
        var underWayCount = 0
    }

    private let limits: CredentialsLimits
    private var allowances: [IPAddress: Allowance] = [:]

    package init(limits: CredentialsLimits) { self.limits = limits }

    package var count: Int { allowances.count }

    /// Begins a verification if the limits permit it. If they do, the caller must call `end` after the verification.
    package mutating func begin(for client: IPAddress, at now: Int64) -> Beginning {
        let place = Self.place(of: client)
        var allowance = counted(allowances[place], at: now) ?? Allowance(left: limits.attempts, countedAt: now)
        guard allowance.left > 0 else { return .exhausted }
        guard allowance.underWayCount < limits.waitingOfOneClient else { return .busy }
        allowance.underWayCount += 1
        if allowances[place] == nil { makeRoom(at: now) }
        allowances[place] = allowance
        return .granted
    }

    package mutating func end(for client: IPAddress, isGood: Bool, at now: Int64) {
        let place = Self.place(of: client)
        var allowance = counted(allowances[place], at: now) ?? Allowance(left: limits.attempts, countedAt: now, underWayCount: 1)
        // If the allowance was removed and created again meanwhile, the new count does not include this verification.
        allowance.underWayCount = max(0, allowance.underWayCount - 1)
        if !isGood { allowance.left -= 1 }
        allowances[place] = isFull(allowance) ? nil : allowance
    }

    private func isFull(_ allowance: Allowance) -> Bool { allowance.left >= limits.attempts && allowance.underWayCount == 0 }

    private func counted(_ allowance: Allowance?, at now: Int64) -> Allowance? {
        guard var allowance else { return nil }
        let more = (now - allowance.countedAt) / limits.attemptMilliseconds
        allowance.left = Int(min(Int64(limits.attempts), Int64(allowance.left) + more))
        allowance.countedAt += more * limits.attemptMilliseconds
        return allowance
    }

    /// Removes the addresses that have all attempts again. If there are none, removes the address that was counted longest ago.
    private mutating func makeRoom(at now: Int64) {
        guard allowances.count >= limits.addresses else { return }
        allowances = allowances.filter { entry in counted(entry.value, at: now).map { !isFull($0) } ?? false }
        guard allowances.count >= limits.addresses else { return }
        let resting = allowances.filter { $0.value.underWayCount == 0 }
        let oldest = (resting.isEmpty ? allowances : resting).min { $0.value.countedAt < $1.value.countedAt }
        if let oldest { allowances[oldest.key] = nil }
    }

    private static func place(of client: IPAddress) -> IPAddress {
        switch client.family {
        case .ipv4: client
        case .ipv6: IPAddress(ipv6High: client.high, low: 0)
        }
    }
}
