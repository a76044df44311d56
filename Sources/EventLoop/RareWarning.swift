/// Limits a frequent warning to once a minute.
package struct RareWarning: Sendable {
    private var nextTime = MonotonicTime(nanoseconds: 0)
    private static let pauseMilliseconds = 60_000

    package init() {}

    package mutating func isDue(at now: MonotonicTime) -> Bool {
        guard now >= nextTime else { return false }
        nextTime = now.advanced(milliseconds: Self.pauseMilliseconds)
        return true
    }
}
