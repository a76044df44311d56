import Foundation

/// The limit on this process's open files and sockets.
enum DescriptorLimit {
    /// The highest limit that Larder requests. Some kernels allow a billion, but descriptor tables are sized by the limit.
    static let mostAsked: rlim_t = 1 << 20

    /// Raises the limit as far as possible without privileges.
    /// - Returns: the limit that applies.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        let wanted = min(limit.rlim_max, mostAsked)
        if limit.rlim_cur < wanted {
            var raised = rlimit(rlim_cur: wanted, rlim_max: limit.rlim_max)
            if setrlimit(resource, &raised) == 0 { limit.rlim_cur = wanted }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Makes the kernel allocate this process's descriptor table at full size now. Before it enlarges a table that several threads share,
    /// the kernel waits for every core. That would delay the connections that arrive meanwhile by some ten milliseconds.
    static func reserve(_ count: Int) {
        let highest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(clamping: count - 1))
        if highest >= 0 { close(highest) }
    }
}
