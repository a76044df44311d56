import CommandSupport
import EventLoop
import Foundation

/// Signals that mean the end: the first has what is under way left so that it can be gone on with, the second ends at once. One that comes
/// right behind the first means the same: `timeout` sends one to the process and one to its group, a terminal that is closed two kinds.
package final class FetchSignals: Sendable {
    private struct State {
        var number: Int32?
        var cameAt = ContinuousClock.now
        var callOff: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    /// What comes sooner behind the first is no second one.
    private static let pause: Duration = .milliseconds(500)

    /// Before any other thread is made, so that each inherits the mask. What was ignored stays so.
    package init() {
        signal(SIGPIPE, SIG_IGN)
        var taken = sigset_t()
        sigemptyset(&taken)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] where !IgnoredSignals.contains(number) { sigaddset(&taken, number) }
        let result = pthread_sigmask(SIG_BLOCK, &taken, nil)
        precondition(result == 0, "pthread_sigmask: \(result)")
        let waited = taken
        Thread.detachNewThread { self.wait(for: waited) }
    }

    /// Which one has come.
    package var number: Int32? { state.withLock { $0.number } }

    /// Before this is called a signal ends the process at once: nothing is under way.
    /// - Parameter body: called at the first.
    package func atFirst(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.callOff = body }
    }

    private func wait(for taken: sigset_t) {
        var taken = taken
        while true {
            var number: Int32 = 0
            guard sigwait(&taken, &number) == 0 else { continue }
            let callOff: (@Sendable () -> Void)? = state.withLock { state in
                guard let callOff = state.callOff else { _exit(128 + number) }
                let now = ContinuousClock.now
                if state.number == nil {
                    state.number = number
                    state.cameAt = now
                    return callOff
                }
                if state.cameAt.duration(to: now) >= Self.pause { _exit(128 + number) }
                return nil
            }
            callOff?()
        }
    }
}
