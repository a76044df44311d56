import CLarderLinux
import Glibc

/// A kernel pipe through which `splice` moves bytes without copying them into this process.
package final class KernelPipe {
    package let readEnd: Int32
    package let writeEnd: Int32

    /// The requested capacity of a pipe, in bytes; the kernel may grant less.
    package static let capacity = 256 * 1024

    /// `splice` has no flag against SIGPIPE, so the signal is ignored: a peer that has closed the connection must cause an error, not end
    /// the process.
    private static let ignoringBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    package init?() {
        Self.ignoringBrokenPipes
        var ends: InlineArray<2, Int32> = .init(repeating: -1)
        var span = ends.mutableSpan
        let failed = span.withUnsafeMutableBufferPointer { pipe2($0.baseAddress, O_NONBLOCK | O_CLOEXEC) } != 0
        if failed { return nil }
        readEnd = ends[0]
        writeEnd = ends[1]
        // 1031 is F_SETPIPE_SZ; it fails above the user's limit, and then the default size is used.
        _ = fcntl(writeEnd, 1031, Int32(Self.capacity))
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }
}
