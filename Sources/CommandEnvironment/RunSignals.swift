import EventLoop
import Foundation

/// What becomes of signals during a run: a thread waits for all of them. As long as there is a command they are the command's; before,
/// and once it has ended, one that means the end takes away what was made and ends this process, whatever that is waiting for.
package final class RunSignals: Sendable {
    private struct State {
        var child: pid_t?
        var folder: PrivateFolder?
    }

    private let state = Guarded(State())
    private static let ends: Set = [SIGTERM, SIGINT, SIGQUIT, SIGHUP]

    package init(_ given: InheritedSignals) {
        let taken = given.taken
        Thread.detachNewThread { self.take(taken) }
    }

    /// This folder goes with this process.
    package func sweep(_ folder: PrivateFolder) { state.withLock { $0.folder = folder } }

    /// None is handled while a child is begun.
    /// - Parameter begin: gives its number, or an error's.
    func handOver(
        _ begin: () -> (process: pid_t, code: Int32)
    ) -> (process: pid_t, code: Int32) {
        state.withLock { state in
            let outcome = begin()
            if outcome.code == 0 { state.child = outcome.process }
            return outcome
        }
    }

    /// The child has ended. Its number must not be another's yet.
    func takeBack() { state.withLock { $0.child = nil } }

    private func take(_ taken: sigset_t) {
        var taken = taken
        while true {
            var facts = siginfo_t()
            let number = sigwaitinfo(&taken, &facts)
            if number > 0 { handle(number, isFromTerminal: Self.isFromTerminal(number, facts)) }
        }
    }

    private func handle(_ number: Int32, isFromTerminal: Bool) {
        state.withLock { state in
            if let child = state.child {
                if !isFromTerminal { kill(child, number) }
            } else if Self.ends.contains(number) {
                state.folder?.remove()
                _exit(128 + number)
            }
        }
    }

    /// The kernel's own, and not one that a process has sent: the whole group has had it. A terminal that goes away may tell only the
    /// first of a session.
    private static func isFromTerminal(_ number: Int32, _ facts: siginfo_t) -> Bool {
        [SIGINT, SIGQUIT, SIGWINCH].contains(number) && facts.si_code > 0
    }
}
