import EventLoop

/// Limits a frequent warning to once a minute.
struct RareWarning {
    private var nextTime = MonotonicTime(nanoseconds: 0)
    private static let pauseMilliseconds = 60_000

    mutating func isDue(at now: MonotonicTime) -> Bool {
        guard now >= nextTime else { return false }
        nextTime = now.advanced(milliseconds: Self.pauseMilliseconds)
        return true
    }
}
