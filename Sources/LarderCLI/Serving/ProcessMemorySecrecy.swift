import CLinux
import CommandSupport
import Foundation

/// Keeps what stands in memory to the process: keys, passphrases, and what passes through for others.
enum ProcessMemorySecrecy {
    /// Before the first secret is read and the first thread is begun: a crash leaves no core file and no report of what stood in memory,
    /// nobody but root looks into the process, and no library writes keys of TLS because the environment says so.
    /// - Parameter hasChild: whether a program is begun from here, which gets back what it would have had.
    static func begin(hasChild: Bool = false) {
        unsetenv("SSLKEYLOGFILE")
        if larder_forbid_dumps(hasChild ? 1 : 0) != 0 {
            Terminal.talk("larder: warning: the system may write a core file of this process\n")
        }
        // Swift's own report shows the memory that registers point to, and takes its time. Who wants one says so.
        if getenv("SWIFT_BACKTRACE") == nil {
            for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { signal(number, SIG_DFL) }
        }
    }
}
