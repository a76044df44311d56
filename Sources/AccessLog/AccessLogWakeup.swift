import CLarderLinux
import EventLoop
import Glibc
import Synchronization

/// Wakes the writer's thread, from loops and other threads. The eventfd is written only when the writer must wake; flags tell the writer
/// why.
final class AccessLogWakeup: Sendable {
    enum Call {
        case none
        /// There are lines to write, but they may wait for a while.
        case inTime
        /// A buffer is half full.
        case soon
        /// A buffer was full, so lines were dropped.
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

    /// Returns and clears the flags; called by the writer after it was woken.
    func takeFlags() -> Flags {
        var count: UInt64 = 0
        // The read fails if the counter is 0, because the wake-up was already consumed. Nothing is lost then.
        _ = read(descriptor, &count, 8)
        return Flags(rawValue: flags.exchange(0, ordering: .acquiring))
    }

    /// Called by the writer before it takes lines: from now on, a line that is appended to an empty buffer wakes the writer again.
    func disarm() { isArmed.store(false, ordering: .sequentiallyConsistent) }

    private func wake() {
        var one: UInt64 = 1
        // The counter cannot overflow, so a failure means that the writer is already awake.
        _ = write(descriptor, &one, 8)
    }
}
