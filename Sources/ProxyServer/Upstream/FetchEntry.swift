import EventLoop

/// One fetch under way and those who wait for it.
final class FetchEntry: Sendable {
    private struct State {
        var result: SharedFetch?
        var waiters: [(number: Int, reply: Reply<SharedFetch>)] = []
        var nextNumber = 0
        /// Those who were told and have not come for it yet.
        var toldCount = 0
    }

    let key: FetchKey
    private let state = Guarded(State())

    init(_ key: FetchKey) { self.key = key }

    var published: SharedFetch? { state.withLock { $0.result } }
    /// Someone waits, or was told and is on its way: what was published has to last until then.
    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty || $0.toldCount > 0 } }

    /// Waits until `leave`, which each who waits calls once: when it has what it was told, or when it gives up.
    /// - Returns: the number to leave by, and what was published meanwhile; the reply is then not kept.
    func wait(_ reply: Reply<SharedFetch>) -> (number: Int, published: SharedFetch?) {
        state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            if state.result == nil { state.waiters.append((number, reply)) } else { state.toldCount += 1 }
            return (number, state.result)
        }
    }

    func leave(_ number: Int) {
        state.withLock { state in
            if let index = state.waiters.firstIndex(where: { $0.number == number }) {
                state.waiters.remove(at: index)
            } else {
                state.toldCount -= 1
            }
        }
    }

    /// Tells everyone who waits, and whoever comes until the entry is removed.
    func publish(_ result: SharedFetch) {
        let waiters = state.withLock { state in
            state.result = result
            let waiters = state.waiters
            state.waiters = []
            state.toldCount += waiters.count
            return waiters
        }
        for waiter in waiters { waiter.reply.send(result) }
    }
}
