import EventLoop

/// Hosts whose clients have rejected our certificate, each for a limited time. Shared by all loops, for one version of the settings.
final class RefusedInterceptions: Sendable {
    private struct Host: Hashable {
        let name: String
        let port: UInt16
    }

    private let ends = Guarded<[Host: MonotonicTime]>([:])

    static let limit = 4096

    func holds(host: String, port: UInt16, at now: MonotonicTime) -> Bool {
        ends.withLock { $0[Host(name: host, port: port)].map { now < $0 } ?? false }
    }

    func note(host: String, port: UInt16, until end: MonotonicTime, at now: MonotonicTime) {
        ends.withLock { ends in
            if ends.count >= Self.limit { ends = ends.filter { $0.value > now } }
            // When the limit is reached, further hosts are not recorded, and Larder continues to intercept them.
            if ends.count < Self.limit { ends[Host(name: host, port: port)] = end }
        }
    }
}
