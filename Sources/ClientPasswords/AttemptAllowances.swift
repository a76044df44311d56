package import HTTPMessage

/// How many more passwords each client's address may try, and how many of its looks are under way. One that finds nothing good is counted
/// when it is over, so that many who have good ones may come from one address at once; guesses that came so are a debt. Of IPv6 the first 64
/// bits count, since whoever has one address there has them all. Times are milliseconds of a clock that does not go back.
package struct AttemptAllowances: Sendable {
    package enum Beginning: Equatable, Sendable {
        case granted
        /// As many looks are under way as one address may have.
        case busy
        /// Too many have found nothing good.
        case exhausted
    }

    private struct Allowance {
        /// Below zero where guesses came at once.
        var left: Int
        /// Until when what has come back by time has been counted.
        var countedAt: Int64
        var underWayCount = 0
    }

    private let limits: CredentialsLimits
    private var allowances: [IPAddress: Allowance] = [:]

    package init(limits: CredentialsLimits) { self.limits = limits }

    package var count: Int { allowances.count }

    /// Where it is granted, `end` is to follow.
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
        // One that was forgotten meanwhile has begun anew.
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

    /// The addresses that have everything back are forgotten, else the one that was counted longest ago.
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
