import Foundation

/// The process's signals, as calls on a thread of their own: no handler runs in the middle of anything.
///
/// `block()` comes first, before any other thread is made, so that every thread inherits the mask.
enum SignalThread {
    enum Event: Sendable {
        /// SIGTERM or SIGINT, the first: finish what is under way.
        case drain
        /// The second: end at once.
        case end
        /// SIGHUP: read the settings again.
        case reload
        /// SIGUSR1: open the logs again.
        case reopenLogs
    }

    private static let waitedFor = [SIGTERM, SIGINT, SIGHUP, SIGUSR1]

    /// A peer that has gone is an error of a write, not the end of the process.
    static func block() {
        signal(SIGPIPE, SIG_IGN)
        var set = signalSet()
        let result = pthread_sigmask(SIG_BLOCK, &set, nil)
        precondition(result == 0, "pthread_sigmask: \(result)")
    }

    /// Waits for signals for as long as the process lives, and calls `handle` for each on this thread.
    static func run(_ handle: (Event) -> Void) -> Never {
        var set = signalSet()
        var hasDrained = false
        while true {
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            switch number {
            case SIGHUP: handle(.reload)
            case SIGUSR1: handle(.reopenLogs)
            default:
                handle(hasDrained ? .end : .drain)
                hasDrained = true
            }
        }
    }

    private static func signalSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in waitedFor { sigaddset(&set, number) }
        return set
    }
}
