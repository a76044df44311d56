import EventLoop

/// The transfers of a session that are in flight.
final class TransferRegistry: Sendable {
    /// The registration of a transfer.
    struct Entry: Sendable {
        /// The transfer's number: unique in its session, in the order of registration.
        let number: UInt64
        fileprivate let place: Int
    }

    private struct State {
        /// Free places are reused, so that removing a transfer needs no search.
        var places: [(number: UInt64, transfer: Transfer)?] = []
        var free: [Int] = []
        var nextNumber: UInt64 = 0
        var isClosed = false
        var whenEmpty: [Wakeup<Bool>] = []

        var isEmpty: Bool { free.count == places.count }
    }

    private let state = Guarded(State())

    /// - Returns: `nil` once the session is closed.
    func enter(_ transfer: Transfer) -> Entry? {
        state.withLock { state in
            if state.isClosed { return nil }
            state.nextNumber += 1
            let number = state.nextNumber
            if let place = state.free.popLast() {
                state.places[place] = (number, transfer)
                return Entry(number: number, place: place)
            }
            state.places.append((number, transfer))
            return Entry(number: number, place: state.places.count - 1)
        }
    }

    /// Removes a transfer. A second call does nothing.
    func leave(_ entry: Entry) {
        let (former, waiting): (Transfer?, [Wakeup<Bool>]) = state.withLock { state in
            guard let former = state.places[entry.place], former.number == entry.number else { return (nil, []) }
            state.places[entry.place] = nil
            state.free.append(entry.place)
            guard state.isEmpty, !state.whenEmpty.isEmpty else { return (former.transfer, []) }
            defer { state.whenEmpty = [] }
            return (former.transfer, state.whenEmpty)
        }
        // The last reference to the transfer may end here, so this happens outside the lock.
        withExtendedLifetime(former) {}
        for wakeup in waiting { wakeup.send(true) }
    }

    var all: [Transfer] {
        state.withLock { state in state.places.compactMap { $0 }.sorted { $0.number < $1.number }.map(\.transfer) }
    }

    /// Rejects all later registrations.
    func close() { state.withLock { $0.isClosed = true } }

    /// Sends `true` as soon as no transfer is registered.
    func whenEmpty(_ wakeup: Wakeup<Bool>) {
        let isEmpty = state.withLock { state in
            if state.isEmpty { return true }
            state.whenEmpty.append(wakeup)
            return false
        }
        if isEmpty { wakeup.send(true) }
    }
}
