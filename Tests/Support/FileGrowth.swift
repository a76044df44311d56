import CLarderLinux
import Glibc

/// Waits for writes to a file, or for new files in a folder.
package final class FileGrowth: Sendable {
    private let descriptor = inotify_init1(Int32(IN_CLOEXEC))

    package struct NotWatched: Error {
        package let path: String
        package let code: Int32
    }

    /// Later changes are reported.
    package init(of path: String) throws {
        guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0 else {
            throw NotWatched(path: path, code: errno)
        }
    }

    deinit { close(descriptor) }

    /// - Returns: whether anything has changed since the last call.
    package func wait() -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Deadline.milliseconds) > 0 else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { read(descriptor, $0.baseAddress, $0.count) > 0 }
    }
}
