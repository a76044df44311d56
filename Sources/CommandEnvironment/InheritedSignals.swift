import CommandSupport
import Foundation

/// The signal state that this process inherited, for a child. When this value is made, it blocks the signals, so that `sigwaitinfo` can
/// take them.
///
/// Must be made before any other thread starts, so that every thread inherits the mask.
package struct InheritedSignals {
    let mask: sigset_t
    /// The blocked signals: all that another process may send. Signals that were ignored are not blocked: they stay ignored for the child.
    let taken: sigset_t
    /// Ignored only by this process: a disconnected peer, and a file at its size limit, are write errors and must not end the process.
    let ignoredHere: sigset_t

    /// SIGKILL and SIGSTOP cannot be caught. The next three stop the job that has the terminal: this process and its child alike.
    /// SIGCHLD is left out, because this process waits for the child's end in another way. The others report a fault in this
    /// process.
    private static let left: Set = [
        SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS,
    ]
    private static let errorsOfWrites: Set = [SIGPIPE, SIGXFSZ]
    /// The kernel's last signal number.
    private static let last: Int32 = 64

    init() {
        var (taken, ignoredHere, given) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&taken)
        sigemptyset(&ignoredHere)
        for number in 1...Self.last where !Self.left.contains(number) && !IgnoredSignals.contains(number) {
            if Self.errorsOfWrites.contains(number) {
                signal(number, SIG_IGN)
                sigaddset(&ignoredHere, number)
            } else {
                // Adding a signal has no effect if the C library uses the signal itself; there are two such signals.
                sigaddset(&taken, number)
            }
        }
        // If SIGCHLD is ignored, a child's exit code is lost.
        signal(SIGCHLD, SIG_DFL)
        let result = pthread_sigmask(SIG_BLOCK, &taken, &given)
        precondition(result == 0, "pthread_sigmask: \(result)")
        mask = given
        self.taken = taken
        self.ignoredHere = ignoredHere
    }
}
