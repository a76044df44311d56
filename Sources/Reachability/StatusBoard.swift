import EventLoop

/// The last reported status, and the listeners that receive the next statuses.
///
/// Only the monitor's thread reports statuses, so their order is defined. Any thread may read the status and listen.
final class StatusBoard: Sendable {
    private struct State {
        var status = ReachabilityStatus.unknown
        var listeners: [UInt64: AsyncStream<ReachabilityStatus>.Continuation] = [:]
        var nextNumber: UInt64 = 0
        var hasEnded = false
    }

    /// How many unread statuses a stream buffers; the oldest are dropped first.
    static let unreadLimit = 64

    private let state = Guarded(State())
    private let onChange: @Sendable (ReachabilityStatus) -> Void

    init(onChange: @escaping @Sendable (ReachabilityStatus) -> Void) { self.onChange = onChange }

    var status: ReachabilityStatus { state.withLock { $0.status } }

    func statuses() -> AsyncStream<ReachabilityStatus> {
        let (stream, listener) = AsyncStream.makeStream(
            of: ReachabilityStatus.self, bufferingPolicy: .bufferingNewest(Self.unreadLimit))
        let number = state.withLock { state -> UInt64? in
            if state.hasEnded { return nil }
            // Yield under the lock, so that the next status follows this one. Yielding runs no caller code.
            if state.status != .unknown { listener.yield(state.status) }
            state.nextNumber += 1
            state.listeners[state.nextNumber] = listener
            return state.nextNumber
        }
        guard let number else {
            listener.finish()
            return stream
        }
        listener.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    /// Reports a status to all listeners, unless it equals the last one. Called on the monitor's thread.
    func tell(_ status: ReachabilityStatus) {
        let listeners = state.withLock { state -> [AsyncStream<ReachabilityStatus>.Continuation]? in
            if state.hasEnded || state.status == status { return nil }
            state.status = status
            return Array(state.listeners.values)
        }
        guard let listeners else { return }
        onChange(status)
        for listener in listeners { listener.yield(status) }
    }

    /// - Returns: whether this call ended the streams; `false` if an earlier call had ended them.
    func end() -> Bool {
        let listeners = state.withLock { state -> [AsyncStream<ReachabilityStatus>.Continuation]? in
            if state.hasEnded { return nil }
            state.hasEnded = true
            state.status = .unknown
            let listeners = Array(state.listeners.values)
            state.listeners = [:]
            return listeners
        }
        guard let listeners else { return false }
        for listener in listeners { listener.finish() }
        return true
    }

    private func forget(_ number: UInt64) { state.withLock { $0.listeners[number] = nil } }
}
