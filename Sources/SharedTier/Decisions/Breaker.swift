import EventLoop

/// Stops look-ups in an engine that does not answer in time.
///
/// States and moves: closed ──several failures in a row──▶ open ──pause──▶ trying (one request is permitted) ──success──▶ closed,
/// or ──failure──▶ open, with a longer pause. Time is an argument.
struct Breaker: Sendable {
    enum State: Equatable, Sendable {
        case closed
        case open(until: MonotonicTime)
        /// - since: when the request that tries the engine was permitted.
        case trying(since: MonotonicTime)
    }

    private(set) var state = State.closed
    private var failuresInRow = 0
    private var backoff = Backoff()

    /// One slow reply is no reason to do without the engine.
    static let failureLimit = 3
    /// A request that tries the engine, and of which nothing is heard for this time, counts as failed.
    static let trialMilliseconds = 1000

    /// Whether a request may be sent now.
    mutating func permits(at now: MonotonicTime) -> Bool {
        switch state {
        case .closed: return true
        case .open(let until):
            guard now >= until else { return false }
            state = .trying(since: now)
            return true
        case .trying(let since):
            guard now.milliseconds(since: since) >= Self.trialMilliseconds else { return false }
            state = .trying(since: now)
            return true
        }
    }

    mutating func succeeded() {
        failuresInRow = 0
        backoff.succeeded()
        state = .closed
    }

    /// - Parameter spread: a random number.
    mutating func failed(at now: MonotonicTime, spread: UInt64) {
        failuresInRow += 1
        let isTrying = if case .trying = state { true } else { false }
        guard isTrying || failuresInRow >= Self.failureLimit else { return }
        if case .open = state { return }
        state = .open(until: now.advanced(milliseconds: backoff.failed(spread: spread)))
    }

    var isClosed: Bool { state == .closed }
}
