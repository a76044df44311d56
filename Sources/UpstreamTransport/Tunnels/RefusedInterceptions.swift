import EventLoop

/// Hosts whose clients have refused the certificate that we showed, each for a time. Of all loops, and of one reading of the settings.
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
            // Where as many are active, one more goes on being intercepted.
            if ends.count < Self.limit { ends[Host(name: host, port: port)] = end }
        }
    }
}
