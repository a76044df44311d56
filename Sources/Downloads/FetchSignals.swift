import CommandSupport
import EventLoop
import Foundation

/// Termination signals: the first stops the transfers so that they can be resumed, the second ends the process at once.
///
/// A signal that directly follows the first is ignored: `timeout` sends one signal to the process and one to its group, and a terminal that
/// closes sends two kinds.
package final class FetchSignals: Sendable {
    private struct State {
        var number: Int32?
        var cameAt = ContinuousClock.now
        var callOff: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    /// A signal within this time after the first is ignored.
    private static let pause: Duration = .milliseconds(500)

    /// Must be created before any other thread, so that every thread inherits the mask. Ignored signals stay ignored.
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

    /// The signal that was received.
    package var number: Int32? { state.withLock { $0.number } }

    /// Until this is called, a signal ends the process at once: no transfer has started.
    /// - Parameter body: called at the first signal.
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
