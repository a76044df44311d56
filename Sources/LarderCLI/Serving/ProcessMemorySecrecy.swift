import CLinux
import ProxyAdmin

/// Keeps what stands in memory to the process: keys, passphrases, and what passes through for others.
enum ProcessMemorySecrecy {
    /// Before the first secret is read: a crash leaves no core file, and nobody but root looks into the process.
    static func begin() {
        if larder_forbid_dumps() != 0 { Terminal.talk("larder: warning: the system may write a core file of this process\n") }
    }
}
