import CLarderLinux

/// A time on the monotonic clock, in nanoseconds since an arbitrary start.
@frozen
@usableFromInline
package struct MonotonicTime: Comparable, Hashable, Sendable {
    @usableFromInline package var nanoseconds: UInt64

    @inlinable package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    @inlinable package static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    @inlinable package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The time that is later by this duration; `never` if the sum would overflow.
    @inlinable
    package func advanced(milliseconds: Int) -> MonotonicTime {
        guard milliseconds > 0 else { return self }
        let (step, tooLong) = UInt64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
        let (sum, tooLate) = nanoseconds.addingReportingOverflow(step)
        return tooLong || tooLate ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// Whole milliseconds since `earlier`; zero if `earlier` is later.
    @inlinable
    package func milliseconds(since earlier: MonotonicTime) -> Int {
        self > earlier ? Int((nanoseconds - earlier.nanoseconds) / 1_000_000) : 0
    }

    @inlinable
    package func microseconds(since earlier: MonotonicTime) -> Int {
        self > earlier ? Int((nanoseconds - earlier.nanoseconds) / 1000) : 0
    }

    /// Reads the clock. On a loop use `EventLoop.now`, which is read once per batch.
    package static func read() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
