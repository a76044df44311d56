import EventLoop
import UpstreamTransport

/// Whose turn it is: so many exchanges at once over all origins, so many with each, and the others in the order of their priority,
/// and of their coming within one.
final class RequestScheduler: Sendable {
    private struct Waiter {
        let number: UInt64
        let priority: HTTPRequest.Priority
        let origin: Origin
        let wakeup: Wakeup<Outcome>
    }

    enum Outcome: Sendable { case turn, cancelled, timedOut }

    /// What is under way with one origin.
    private final class OriginSlot {
        let origin: Origin
        var active = 0
        var isKept = false
        init(_ origin: Origin) { self.origin = origin }
    }

    private struct State {
        var active = 0
        /// Those with something under way, and at most one other.
        var seats: [Origin: OriginSlot] = [:]
        /// The one asked for last: most requests of a busy time go where the one before went.
        var recent: OriginSlot?
        /// In the order in which they are served.
        var waiters: [Waiter] = []
        var nextNumber: UInt64 = 0

        mutating func seat(of origin: Origin) -> OriginSlot {
            if let recent, recent.origin == origin { return recent }
            let seat = seats[origin] ?? OriginSlot(origin)
            recent = seat
            return seat
        }
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
            let seat = state.seat(of: origin)
            if permits(seat, state) {
                Self.begin(seat, &state)
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
            let seat = state.seat(of: origin)
            seat.active -= 1
            // The last one stays: it is likely to be asked for again.
            if seat.active == 0, state.seats.count > 1 {
                state.seats[origin] = nil
                seat.isKept = false
            }
            if state.waiters.isEmpty { return [] }
            var next: [Wakeup<Outcome>] = []
            while let place = state.waiters.firstIndex(where: { permits(state.seats[$0.origin], state) }) {
                let waiter = state.waiters.remove(at: place)
                Self.begin(state.seat(of: waiter.origin), &state)
                next.append(waiter.wakeup)
            }
            return next
        }
        for wakeup in next { wakeup.send(.turn) }
    }

    private func permits(_ seat: OriginSlot?, _ state: State) -> Bool {
        state.active < limits.activeExchanges && seat?.active ?? 0 < limits.activeExchangesPerOrigin
    }

    private static func begin(_ seat: OriginSlot, _ state: inout State) {
        state.active += 1
        seat.active += 1
        if seat.isKept { return }
        seat.isKept = true
        state.seats[seat.origin] = seat
    }
}
