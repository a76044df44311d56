import EventLoop

/// A clock whose time does not depend on real time. A test with a delay of an hour takes no time.
///
/// In the mode `automatic`, each sleep ends at once and moves the clock to its end. Delays of requests in flight at the same time then
/// do not decide which of them ends first. In the mode `manual`, sleeps last until the test advances the clock.
public final class VirtualClock: Clock {
    /// A time of the clock, counted from its beginning.
    public struct Instant: InstantProtocol {
        /// The time since the clock began.
        public let sinceStart: Duration

        public func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }
        public func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }
        public static func < (left: Instant, right: Instant) -> Bool { left.sinceStart < right.sinceStart }
    }

    /// What moves the clock.
    public enum Mode: Sendable {
        /// Each sleep moves the clock to its own end.
        case automatic
        /// Only `advance(by:)` moves the clock.
        case manual
    }

    private struct Sleeper {
        let number: Int
        let deadline: Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Instant(sinceStart: .zero)
        var number = 0
        var sleepers: [Sleeper] = []
        /// The sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Removes and returns the watchers that wait for no more sleepers than there are.
        mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
            let ready = watchers.filter { $0.count <= sleepers.count }.map(\.continuation)
            watchers.removeAll { $0.count <= sleepers.count }
            return ready
        }
    }

    /// What moves the clock.
    public let mode: Mode
    private let state = Guarded(State())

    /// A clock at its beginning.
    public init(_ mode: Mode = .automatic) { self.mode = mode }

    /// The current time.
    public var now: Instant { state.withLock { $0.now } }
    /// The clock distinguishes any two times.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until the clock has reached a time.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let number: Int? = state.withLock { state in
            if mode == .automatic { state.now = max(state.now, deadline) }
            if state.now >= deadline { return nil }
            state.number += 1
            return state.number
        }
        guard let number else { return }
        let isWhole = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in begin(number, until: deadline, continuation) }
        } onCancel: {
            cancel(number)
        }
        if !isWhole { throw CancellationError() }
    }

    private func begin(_ number: Int, until deadline: Instant, _ continuation: CheckedContinuation<Bool, Never>) {
        let (result, watchers): (Bool?, [CheckedContinuation<Void, Never>]) = state.withLock { state in
            if state.cancelled.remove(number) != nil { return (false, []) }
            if state.now >= deadline { return (true, []) }
            state.sleepers.append(Sleeper(number: number, deadline: deadline, continuation: continuation))
            return (nil, state.takeWatchers())
        }
        if let result { continuation.resume(returning: result) }
        for watcher in watchers { watcher.resume() }
    }

    private func cancel(_ number: Int) {
        let sleeper: Sleeper? = state.withLock { state in
            guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(returning: false)
    }

    /// Moves the clock, and ends the sleeps whose time has come, the earliest first.
    public func advance(by duration: Duration) {
        let ended: [Sleeper] = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let ended = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return ended.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
        }
        for sleeper in ended { sleeper.continuation.resume(returning: true) }
    }

    /// Waits until at least this many tasks sleep. Await this before `advance(by:)`, so that no task begins its sleep after it.
    public func sleepers(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
