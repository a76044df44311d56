import CLarderLinux
import Glibc

/// Blocks threads until it is opened. A wait ends at the deadline in any case.
package final class Gate: Sendable {
    private let descriptor = eventfd(0, larder_efd_cloexec)

    package init() { precondition(descriptor >= 0, "no eventfd") }

    deinit { close(descriptor) }

    package func open() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// - Returns: whether it was opened.
    @discardableResult
    package func wait() -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, Deadline.milliseconds) > 0
    }
}
