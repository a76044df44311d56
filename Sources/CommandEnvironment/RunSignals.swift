import EventLoop
import Foundation

/// Handles signals during a run: a thread waits for all of them. While there is a command, they are forwarded to it. Before, and after it
/// has ended, a signal to terminate removes the temporary folder and ends this process, whatever it is waiting for.
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

    /// Removes this folder when a signal ends this process.
    package func sweep(_ folder: PrivateFolder) { state.withLock { $0.folder = folder } }

    /// No signal is handled while a child is being started.
    /// - Parameter begin: returns the child's process ID, or an `errno`.
    func handOver(
        _ begin: () -> (process: pid_t, code: Int32)
    ) -> (process: pid_t, code: Int32) {
        state.withLock { state in
            let outcome = begin()
            if outcome.code == 0 { state.child = outcome.process }
            return outcome
        }
    }

    /// The child has ended. Call this before its process ID can be reused.
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

    /// Whether the terminal caused the signal: then the kernel, not a process, sent it, and the whole process group has received it. SIGHUP
    /// does not count: when a terminal closes, only the first process of a session may get it.
    private static func isFromTerminal(_ number: Int32, _ facts: siginfo_t) -> Bool {
        [SIGINT, SIGQUIT, SIGWINCH].contains(number) && facts.si_code > 0
    }
}
