import EventLoop
import HTTPMessage
import ServerTrust

/// Good verdicts on servers, of all loops, each kept for a time. A bad one is not kept: the server may have been mended.
/// Under a policy with enforced pins none is kept: every tunnel follows a probe of its own.
final class TrustVerdictCache: Sendable {
    /// By what, and on whom.
    struct Key: Hashable, Sendable {
        /// The policy's, as it holds now.
        let fingerprint: SHA256Digest
        /// As which the server is judged: with this name, if it is one, in the handshake.
        let host: String
        let port: UInt16
        /// Where it is, if not where the host's own addresses lead.
        let address: IPAddress?
    }

    private struct Entry: Sendable {
        let server: VettedServer
        let end: MonotonicTime
        /// `nil` where the verdict does not end by itself.
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

    /// - Parameter lastSecond: of the verdict, which is kept no longer than it holds.
    func keep(_ server: VettedServer, for key: Key, until end: MonotonicTime, lastSecond: POSIXTime?, at now: MonotonicTime) {
        if end <= now { return }
        entries.withLock { entries in
            if entries.count >= Self.limit, entries[key] == nil { Self.makeRoom(in: &entries, at: now) }
            entries[key] = Entry(server: server, end: end, lastSecond: lastSecond)
        }
    }

    /// The server is not where it was. What has been found of it since stays.
    func forget(_ server: VettedServer, for key: Key) {
        entries.withLock { entries in
            if entries[key]?.server == server { entries[key] = nil }
        }
    }

    /// Lets go of what has ended, and else of what ends first.
    private static func makeRoom(in entries: inout [Key: Entry], at now: MonotonicTime) {
        let before = entries.count
        entries = entries.filter { $0.value.end > now }
        if entries.count < before { return }
        if let first = entries.min(by: { $0.value.end < $1.value.end }) { entries[first.key] = nil }
    }
}

extension TrustPolicy {
    /// Whether a good verdict may serve further tunnels. With enforced pins it may not: an attacker who takes over the server's address
    /// within the time of a kept verdict would get a tunnel without the pinned key.
    func permitsCachedVerdicts(at now: POSIXTime) -> Bool { pins?.refusesOthers(at: now) != true }
}

/// A server that is believed.
package struct VettedServer: Equatable, Sendable {
    /// `nil` behind an upstream proxy, which alone knows it.
    package let address: IPAddress?
}
