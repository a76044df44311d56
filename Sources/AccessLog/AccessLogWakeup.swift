import CLinux
import EventLoop
import Glibc
import Synchronization

/// How loops and the rest of the process call the writer's thread: an eventfd that is written seldom, and what is wanted.
final class AccessLogWakeup: Sendable {
    enum Call {
        case none
        /// There is something to write, in a while.
        case inTime
        /// A buffer is half full.
        case soon
        /// A buffer was full.
        case dropped
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let write = Flags(rawValue: 1)
        static let reopen = Flags(rawValue: 2)
        static let close = Flags(rawValue: 4)
    }

    let descriptor: Int32
    private let isArmed = Atomic<Bool>(false)
    private let flags = Atomic<UInt8>(0)
    private let dropped = Atomic<UInt64>(0)

    init() throws(SystemError) {
        descriptor = eventfd(0, larder_efd_nonblock | larder_efd_cloexec)
        if descriptor < 0 { throw SystemError("eventfd", code: errno) }
    }

    deinit { Glibc.close(descriptor) }

    var droppedCount: UInt64 { dropped.load(ordering: .relaxed) }

    func countDropped(_ count: UInt64) { dropped.wrappingAdd(count, ordering: .relaxed) }

    func signal(_ call: Call) {
        switch call {
        case .none: break
        case .inTime: if !isArmed.exchange(true, ordering: .acquiringAndReleasing) { wake() }
        case .soon: request(.write)
        case .dropped: countDropped(1)
        }
    }

    func request(_ request: Flags) {
        flags.bitwiseOr(request.rawValue, ordering: .releasing)
        wake()
    }

    /// For the writer, when it was woken.
    func takeFlags() -> Flags {
        var count: UInt64 = 0
        // Empty when the wake-up was taken before: nothing is lost by that.
        _ = read(descriptor, &count, 8)
        return Flags(rawValue: flags.exchange(0, ordering: .acquiring))
    }

    /// For the writer, before it takes batches: what is noted in an empty one from now on signals again.
    func disarm() { isArmed.store(false, ordering: .sequentiallyConsistent) }

    private func wake() {
        var one: UInt64 = 1
        // The counter cannot overflow, so a failure means that the writer is awake already.
        _ = write(descriptor, &one, 8)
    }
}
