import Foundation

/// What this process was begun with about signals, for a child; and from then on signals wait to be taken.
///
/// Made before any other thread, so that every thread inherits the mask.
struct GivenSignals {
    /// Those that are the child's to deal with, and its end.
    static let waitedFor = forwarded + [SIGCHLD]
    static let forwarded = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2]

    let mask: sigset_t
    let ignoresBrokenPipes: Bool

    init() {
        // A peer that has gone is an error of a write, not the end of the process.
        let before = signal(SIGPIPE, SIG_IGN)
        ignoresBrokenPipes = unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        // One that is ignored is never waited for, and its child's end would go unnoticed.
        signal(SIGCHLD, SIG_DFL)
        var given = sigset_t()
        var set = Self.set
        let result = pthread_sigmask(SIG_BLOCK, &set, &given)
        precondition(result == 0, "pthread_sigmask: \(result)")
        mask = given
    }

    static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in waitedFor { sigaddset(&set, number) }
        return set
    }

    /// One that has come and means the end, before there is a child.
    static var pendingEnd: Int32? {
        var pending = sigset_t()
        sigpending(&pending)
        return [SIGTERM, SIGINT, SIGQUIT, SIGHUP].first { sigismember(&pending, $0) == 1 }
    }
}
