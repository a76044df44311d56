import EventLoop
import Foundation

/// Signals that mean the end: the first has what is under way left so that it can be gone on with, the second ends at once.
final class FetchSignals: Sendable {
    private struct State {
        var number: Int32?
        var callOff: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    /// Before any other thread is made, so that each inherits the mask. What was ignored stays so.
    init() {
        signal(SIGPIPE, SIG_IGN)
        var taken = sigset_t()
        sigemptyset(&taken)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] where !GivenSignals.isIgnored(number) { sigaddset(&taken, number) }
        let result = pthread_sigmask(SIG_BLOCK, &taken, nil)
        precondition(result == 0, "pthread_sigmask: \(result)")
        let waited = taken
        Thread.detachNewThread { self.wait(for: waited) }
    }

    /// Which one has come.
    var number: Int32? { state.withLock { $0.number } }

    /// - Parameter body: called at the first, which may have been.
    func atFirst(_ body: @escaping @Sendable () -> Void) {
        let hasCome = state.withLock { state in
            state.callOff = body
            return state.number != nil
        }
        if hasCome { body() }
    }

    private func wait(for taken: sigset_t) {
        var taken = taken
        while true {
            var number: Int32 = 0
            guard sigwait(&taken, &number) == 0 else { continue }
            let callOff: (@Sendable () -> Void)? = state.withLock { state in
                if state.number != nil { _exit(128 + number) }
                state.number = number
                return state.callOff
            }
            callOff?()
        }
    }
}
