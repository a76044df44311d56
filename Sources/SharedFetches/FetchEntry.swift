import EventLoop

/// A fetch in flight and the requests that wait for it.
package final class FetchEntry: Sendable {
    private struct State {
        var result: SharedFetch?
        var waiters: [(number: Int, reply: Reply<SharedFetch>)] = []
        var nextNumber = 0
        /// Waiters that were notified and have not called `leave` yet.
        var toldCount = 0
    }

    let key: FetchKey
    private let state = Guarded(State())

    init(_ key: FetchKey) { self.key = key }

    var published: SharedFetch? { state.withLock { $0.result } }
    /// Whether the result must be kept: a request waits for it, or a request was notified and has not read the result yet.
    package var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty || $0.toldCount > 0 } }

    /// Adds a waiter. Each waiter calls `leave` once: when it has read the result, or stops waiting.
    /// - Returns: the number for `leave`, and the result if there already is one. If there is a result, `reply` is never called.
    func wait(_ reply: Reply<SharedFetch>) -> (number: Int, published: SharedFetch?) {
        state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            if state.result == nil { state.waiters.append((number, reply)) } else { state.toldCount += 1 }
            return (number, state.result)
        }
    }

    package func leave(_ number: Int) {
        state.withLock { state in
            if let index = state.waiters.firstIndex(where: { $0.number == number }) {
                state.waiters.remove(at: index)
            } else {
                state.toldCount -= 1
            }
        }
    }

    /// Gives the result to all waiters, and to later ones until the entry is removed.
    package func publish(_ result: SharedFetch) {
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
