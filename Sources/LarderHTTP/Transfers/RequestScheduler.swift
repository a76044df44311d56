import EventLoop
import UpstreamTransport

/// Limits the exchanges in flight, in total and for each origin. Further exchanges wait, ordered by priority, and by arrival within
/// one priority.
final class RequestScheduler: Sendable {
    private struct Waiter {
        let number: UInt64
        let priority: SessionRequest.Priority
        let origin: Origin
        let wakeup: Wakeup<Outcome>
    }

    enum Outcome: Sendable { case turn, cancelled, timedOut }

    /// The exchanges in flight with one origin.
    private final class OriginSlot {
        let origin: Origin
        var active = 0
        var isKept = false
        init(_ origin: Origin) { self.origin = origin }
    }

    private struct State {
        var active = 0
        /// Slots of origins with exchanges in flight, and at most one idle slot.
        var seats: [Origin: OriginSlot] = [:]
        /// The slot used last: a busy session mostly sends the next request to the same origin.
        var recent: OriginSlot?
        /// The waiting exchanges, in the order in which they may begin.
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

    /// How many exchanges are in flight, and how many wait.
    var counts: (active: Int, waiting: Int) { state.withLock { ($0.active, $0.waiters.count) } }

    enum Place: Sendable {
        case turn
        case full
        /// The exchange waits; `number` is used to leave the queue.
        case waiting(Wakeup<Outcome>, number: UInt64)
    }

    /// Lets an exchange begin, or adds it to the queue.
    func enter(_ origin: Origin, _ priority: SessionRequest.Priority) -> Place {
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

    /// Removes an exchange from the queue. If the exchange was allowed to begin meanwhile, ends its turn.
    func leave(_ number: UInt64, _ origin: Origin) {
        let wasWaiting = state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0.number == number }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        if !wasWaiting { end(origin) }
    }

    /// Ends an exchange's turn, and lets waiting exchanges begin.
    func end(_ origin: Origin) {
        let next: [Wakeup<Outcome>] = state.withLock { state in
            state.active -= 1
            let seat = state.seat(of: origin)
            seat.active -= 1
            // The last slot is kept: the next request probably needs it.
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
