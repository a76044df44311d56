import EventLoop
import HTTPMessage
import ServerTrust

/// Positive verdicts on servers, shared by all loops, each for a limited time. Negative verdicts are not cached, because the server may be
/// fixed at any time. Under a policy with enforced pins no verdict is cached, so every tunnel has its own probe.
final class TrustVerdictCache: Sendable {
    /// The key of a verdict: the policy and the server.
    struct Key: Hashable, Sendable {
        /// The fingerprint of the policy that currently applies.
        let fingerprint: SHA256Digest
        /// The host that the server is verified as; a name is also sent in the handshake.
        let host: String
        let port: UInt16
        /// The server's address; `nil` for the addresses of the host.
        let address: IPAddress?
    }

    private struct Entry: Sendable {
        let server: VettedServer
        let end: MonotonicTime
        /// The last second in which the verdict is valid; `nil` if its validity has no such limit.
        let lastSecond: POSIXTime?

        func holds(at now: MonotonicTime, _ wallClock: POSIXTime) -> Bool {
            if let lastSecond, wallClock > lastSecond { return false }
            return now < end
        }
    }

    private let entries = Guarded<[Key: Entry]>([:])

    static let limit = 4096

    func server(for key: Key, at now: MonotonicTime, _ wallClock: POSIXTime) -> VettedServer? {
        entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            if entry.holds(at: now, wallClock) { return entry.server }
            entries[key] = nil
            return nil
        }
    }

    /// - Parameter lastSecond: the last second in which the verdict is valid; the verdict is not cached longer.
    func keep(_ server: VettedServer, for key: Key, until end: MonotonicTime, lastSecond: POSIXTime?, at now: MonotonicTime) {
        if end <= now { return }
        entries.withLock { entries in
            if entries.count >= Self.limit, entries[key] == nil { Self.makeRoom(in: &entries, at: now) }
            entries[key] = Entry(server: server, end: end, lastSecond: lastSecond)
        }
    }

    /// Removes the verdict on a server that could not be reached at its address, unless a newer verdict has replaced it.
    func forget(_ server: VettedServer, for key: Key) {
        entries.withLock { entries in
            if entries[key]?.server == server { entries[key] = nil }
        }
    }

    /// Removes expired verdicts. If none has expired, removes the verdict that expires first.
    private static func makeRoom(in entries: inout [Key: Entry], at now: MonotonicTime) {
        let before = entries.count
        entries = entries.filter { $0.value.end > now }
        if entries.count < before { return }
        if let first = entries.min(by: { $0.value.end < $1.value.end }) { entries[first.key] = nil }
    }
}

extension TrustPolicy {
    /// Whether a positive verdict may be reused for further tunnels. With enforced pins it may not. An attacker who takes over
    /// the server's address while the verdict is cached would get a tunnel without the pinned key.
    func permitsCachedVerdicts(at now: POSIXTime) -> Bool { pins?.refusesOthers(at: now) != true }
}

/// A server that is trusted.
package struct VettedServer: Equatable, Sendable {
    /// The server's address; `nil` behind an upstream proxy, because only the proxy knows the address.
    package let address: IPAddress?
}
