package import HTTPMessage

/// How many more passwords each client's address may try. A good one is given back; of IPv6 the first 64 bits count, since whoever has
/// one address there has them all. Times are milliseconds of a clock that does not go back.
package struct AttemptAllowances: Sendable {
    private struct Allowance {
        var left: Int
        /// Until when what has come back by time has been counted.
        var countedAt: Int64
    }

    private let limits: CredentialsLimits
    private var allowances: [IPAddress: Allowance] = [:]

    package init(limits: CredentialsLimits) { self.limits = limits }

    package var count: Int { allowances.count }

    /// - Returns: `false` where none is left.
    package mutating func take(for client: IPAddress, at now: Int64) -> Bool {
        let place = Self.place(of: client)
        var allowance = counted(allowances[place], at: now) ?? Allowance(left: limits.attempts, countedAt: now)
        guard allowance.left > 0 else { return false }
        allowance.left -= 1
        if allowances[place] == nil { makeRoom(at: now) }
        allowances[place] = allowance
        return true
    }

    /// The password was good.
    package mutating func giveBack(for client: IPAddress) {
        let place = Self.place(of: client)
        guard let allowance = allowances[place] else { return }
        allowances[place] =
            allowance.left + 1 < limits.attempts
            ? Allowance(left: allowance.left + 1, countedAt: allowance.countedAt) : nil
    }

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
        allowances = allowances.filter { (counted($0.value, at: now)?.left ?? limits.attempts) < limits.attempts }
        guard allowances.count >= limits.addresses else { return }
        if let oldest = allowances.min(by: { $0.value.countedAt < $1.value.countedAt }) { allowances[oldest.key] = nil }
    }

    private static func place(of client: IPAddress) -> IPAddress {
        switch client.family {
        case .ipv4: client
        case .ipv6: IPAddress(ipv6High: client.high, low: 0)
        }
    }
}
