import CLarderLinux
import CommandSupport
import Foundation

/// Protects the secrets in this process's memory: keys, passphrases, and clients' traffic.
enum ProcessMemorySecrecy {
    /// Call this before the first secret is read and before the first thread is started. Afterwards a crash leaves no core file
    /// and no report of memory contents, and only root can inspect the process. No library logs TLS keys because of an
    /// environment variable.
    /// - Parameter hasChild: whether this process starts a program, for which the former limits are restored.
    static func begin(hasChild: Bool = false) {
        unsetenv("SSLKEYLOGFILE")
        if larder_forbid_dumps(hasChild ? 1 : 0) != 0 {
            Terminal.talk("larder: warning: the system may write a core file of this process\n")
        }
        // Swift's crash report shows the memory that registers point to, and takes time. The user can still request a report with the
        // variable `SWIFT_BACKTRACE`.
        if getenv("SWIFT_BACKTRACE") == nil {
            for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { signal(number, SIG_DFL) }
        }
    }
}
