import CommandSupport
import Foundation

/// What this process was begun with about signals, for a child; and from then on signals wait to be taken.
///
/// Made before any other thread, so that every thread inherits the mask.
package struct InheritedSignals {
    let mask: sigset_t
    /// Those that wait: all that somebody may mean by them, but for those that were ignored, and stay so for the child.
    let taken: sigset_t
    /// Ignored by this process alone: a peer that has gone, and a file that may not grow, are errors of a write, and not its end.
    let ignoredHere: sigset_t

    /// Nobody can take the first two; the next three stop who has the terminal, this process and its child alike; the child's end is
    /// waited for in another way; and the others tell of a fault in this process itself.
    private static let left: Set = [
        SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS,
    ]
    private static let errorsOfWrites: Set = [SIGPIPE, SIGXFSZ]
    /// The last of the kernel's.
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
                // Two are the C library's own, and are no signals for it.
                sigaddset(&taken, number)
            }
        }
        // Where it is ignored, a child's end leaves no code.
        signal(SIGCHLD, SIG_DFL)
        let result = pthread_sigmask(SIG_BLOCK, &taken, &given)
        precondition(result == 0, "pthread_sigmask: \(result)")
        mask = given
        self.taken = taken
        self.ignoredHere = ignoredHere
    }
}
