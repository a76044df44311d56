import Foundation

/// Delivers the process's signals as calls on a separate thread: no handler interrupts other code.
///
/// `block()` must be called before any other thread is made, so that every thread inherits the mask.
enum SignalThread {
    enum Event: Sendable {
        /// The first SIGTERM or SIGINT: finish exchanges in flight.
        case drain
        /// The second: exit at once.
        case end
        /// SIGHUP: reload the settings.
        case reload
        /// SIGUSR1: reopen the logs.
        case reopenLogs
    }

    private static let waitedFor = [SIGTERM, SIGINT, SIGHUP, SIGUSR1]

    /// Blocks the signals that `run` waits for. Ignores SIGPIPE: a disconnected peer makes a write fail, and must not end the process.
    static func block() {
        signal(SIGPIPE, SIG_IGN)
        var set = signalSet()
        let result = pthread_sigmask(SIG_BLOCK, &set, nil)
        precondition(result == 0, "pthread_sigmask: \(result)")
    }

    /// Waits for signals for the life of the process, and calls `handle` for each on this thread.
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
