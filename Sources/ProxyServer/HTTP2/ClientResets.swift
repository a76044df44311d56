import EventLoop
import HTTPMessage

/// Counts the HTTP/2 streams that each client resets, on all its connections and for all loops. A client that opens a new connection for
/// each series of resets stays below the limit of one connection (CVE-2023-44487). Only connections with resets, and new connections, use
/// the table.
///
/// The IPv6 addresses of one /64 network count as one client, because one client can use all of them.
final class ClientResets: Sendable {
    private struct Counts {
        var windowStart = MonotonicTime(nanoseconds: 0)
        var byClient: [IPAddress: Int] = [:]
    }

    private let counts = Guarded(Counts())

    /// The maximum number of clients in the table. A further client is not counted until the next window: only the limit of its connection
    /// applies.
    static let clientLimit = 4096

    /// - Parameter window: the time in which resets are counted, in milliseconds.
    /// - Returns: whether the client has reset more than `limit` streams.
    func note(_ count: Int, of address: IPAddress, limit: Int, window: Int, at now: MonotonicTime) -> Bool {
        let client = Self.client(address)
        return counts.withLock { counts in
            Self.advance(&counts, window, now)
            guard let former = counts.byClient[client] ?? (counts.byClient.count < Self.clientLimit ? 0 : nil) else {
                return false
            }
            counts.byClient[client] = former + count
            return former + count > limit
        }
    }

    /// Whether the client has reset more than `limit` streams.
    func exceeds(_ limit: Int, of address: IPAddress, window: Int, at now: MonotonicTime) -> Bool {
        let client = Self.client(address)
        return counts.withLock { counts in
            Self.advance(&counts, window, now)
            return counts.byClient[client] ?? 0 > limit
        }
    }

    /// Starts a new window if the current one is over.
    private static func advance(_ counts: inout Counts, _ window: Int, _ now: MonotonicTime) {
        guard counts.windowStart.advanced(milliseconds: window) <= now else { return }
        counts.windowStart = now
        counts.byClient = [:]
    }

    private static func client(_ address: IPAddress) -> IPAddress {
        if let four = address.embeddedIPv4 { return four }
        return address.family == .ipv6 ? IPAddress(ipv6High: address.high, low: 0) : address
    }
}
