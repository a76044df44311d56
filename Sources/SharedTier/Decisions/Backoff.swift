import EventLoop

/// The pause before the next attempt: it doubles with each failure, up to a limit.
struct Backoff: Sendable {
    private(set) var failureCount = 0
    static let first = 250
    static let greatest = 10_000

    /// Notes a failure.
    /// - Parameter spread: a random number; it moves the pause by up to a quarter, so that nodes do not reconnect at the same time.
    /// - Returns: the pause in milliseconds.
    mutating func failed(spread: UInt64) -> Int {
        let pause = min(Self.first << min(failureCount, 10), Self.greatest)
        failureCount += 1
        return pause - Int(spread % UInt64(pause / 4 + 1))
    }

    mutating func succeeded() { failureCount = 0 }
}
