import EventLoop

/// Whose turn it is: so many exchanges at once over all origins, so many with each, and the others in the order of their priority,
/// and of their coming within one.
final class TurnQueue: Sendable {
    private struct Waiter {
        let number: UInt64
        let priority: HTTPRequest.Priority
        let origin: Origin
        let wakeup: Wakeup<Outcome>
    }

    enum Outcome: Sendable { case turn, cancelled, timedOut }

    private struct State {
        var active = 0
        var activeByOrigin: [Origin: Int] = [:]
        /// In the order in which they are served.
        var waiters: [Waiter] = []
        var nextNumber: UInt64 = 0
    }

    private let limits: SessionLimits
    private let state = Guarded(State())

    init(_ limits: SessionLimits) { self.limits = limits }

    /// Waiters and those whose turn it is.
    var counts: (active: Int, waiting: Int) { state.withLock { ($0.active, $0.waiters.count) } }

    enum Place: Sendable {
        case turn
        case full
        /// By its number it is left.
        case waiting(Wakeup<Outcome>, number: UInt64)
    }

    /// Takes a turn, or a place in the queue.
    func enter(_ origin: Origin, _ priority: HTTPRequest.Priority) -> Place {
        state.withLock { state in
            if permits(origin, state) {
                Self.begin(origin, &state)
                return .turn
            }
            guard state.waiters.count < limits.waitingTransfers else { return .full }
            state.nextNumber += 1
            let waiter = Waiter(number: state.nextNumber, priority: priority, origin: origin, wakeup: Wakeup())
            let place = state.waiters.firstIndex { $0.priority < priority } ?? state.waiters.count
            state.waiters.insert(waiter, at: place)
            return .waiting(waiter.wakeup, number: waiter.number)
        }
    }

    /// Leaves the queue; a turn that was given meanwhile goes back.
    func leave(_ number: UInt64, _ origin: Origin) {
        let wasWaiting = state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0.number == number }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        if !wasWaiting { end(origin) }
    }

    /// A turn is over: the next ones begin.
    func end(_ origin: Origin) {
        let next: [Wakeup<Outcome>] = state.withLock { state in
            state.active -= 1
            let left = (state.activeByOrigin[origin] ?? 1) - 1
            state.activeByOrigin[origin] = left == 0 ? nil : left
            var next: [Wakeup<Outcome>] = []
            while let place = state.waiters.firstIndex(where: { permits($0.origin, state) }) {
                let waiter = state.waiters.remove(at: place)
                Self.begin(waiter.origin, &state)
                next.append(waiter.wakeup)
            }
            return next
        }
        for wakeup in next { wakeup.send(.turn) }
    }

    private func permits(_ origin: Origin, _ state: State) -> Bool {
        state.active < limits.activeExchanges && state.activeByOrigin[origin] ?? 0 < limits.activeExchangesPerOrigin
    }

    private static func begin(_ origin: Origin, _ state: inout State) {
        state.active += 1
        state.activeByOrigin[origin, default: 0] += 1
    }
}
