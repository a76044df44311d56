import EventLoop

/// The transfers of a session that are under way.
final class TransferRegistry: Sendable {
    private struct State {
        var transfers: [UInt64: Transfer] = [:]
        var nextNumber: UInt64 = 0
        var isClosed = false
        var whenEmpty: [Wakeup<Bool>] = []
    }

    private let state = Guarded(State())

    /// - Returns: its number; `nil` once the session is closed.
    func enter(_ transfer: Transfer) -> UInt64? {
        state.withLock { state in
            if state.isClosed { return nil }
            state.nextNumber += 1
            state.transfers[state.nextNumber] = transfer
            return state.nextNumber
        }
    }

    func leave(_ number: UInt64) {
        let waiting: [Wakeup<Bool>] = state.withLock { state in
            state.transfers[number] = nil
            guard state.transfers.isEmpty else { return [] }
            defer { state.whenEmpty = [] }
            return state.whenEmpty
        }
        for wakeup in waiting { wakeup.send(true) }
    }

    var all: [Transfer] {
        state.withLock { state in state.transfers.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Nothing enters any more.
    func close() { state.withLock { $0.isClosed = true } }

    /// Sends the wake-up as soon as there is none.
    func whenEmpty(_ wakeup: Wakeup<Bool>) {
        let isEmpty = state.withLock { state in
            if state.transfers.isEmpty { return true }
            state.whenEmpty.append(wakeup)
            return false
        }
        if isEmpty { wakeup.send(true) }
    }
}
