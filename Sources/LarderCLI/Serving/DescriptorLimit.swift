import Foundation

/// How many files and sockets this process may have open.
enum DescriptorLimit {
    /// More than this is never asked for: some kernels allow a billion, and tables are sized by it.
    static let mostAsked: rlim_t = 1 << 20

    /// Raises the limit as far as it goes without privileges.
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

    /// Has the kernel make its table of our descriptors as large as it will be needed. Where several threads share one that is full, it
    /// waits for every core before it takes a larger one into use, and a connection that comes then, with all behind it, for some
    /// ten milliseconds.
    static func reserve(_ count: Int) {
        let highest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(clamping: count - 1))
        if highest >= 0 { close(highest) }
    }
}
