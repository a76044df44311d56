import EventLoop
import Glibc
import HTTPMessage

/// What the writer reports to other threads.
final class AuditStatus: Sendable {
    private let state = Guarded<(seal: AuditSeal?, lost: UInt64)>((nil, 0))

    var newestSeal: AuditSeal? { state.withLock { $0.seal } }
    var lostCount: UInt64 { state.withLock { $0.lost } }

    func note(_ seal: AuditSeal) { state.withLock { $0.seal = seal } }
    func noteLost(_ count: UInt64) { state.withLock { $0.lost += count } }
}

extension Timestamp {
    static var wallClock: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
