import Foundation

/// A file to which Larder writes the secrets of TLS connections (in `SSLKEYLOGFILE` format), for debugging with tools that decrypt
/// traffic. Anyone who can read the file can decrypt the traffic.
package final class KeyLog: Sendable {
    /// Why the file could not be opened: an `errno`.
    struct Failure: Error { let code: Int32 }

    private let descriptor: Int32

    /// Opens the file for appending. Creates a missing file that only this process's user can read and write. An existing file must
    /// already have this owner and these permissions.
    init(path: String) throws(Failure) { descriptor = try Self.opened(path, O_CREAT) }

    /// Checks that the file could be opened, without creating it.
    static func check(path: String) throws(Failure) {
        do throws(Failure) {
            close(try opened(path, 0))
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    /// Opens the file. Never blocks: it fails for a FIFO without a reader. Also fails for a symbolic link and for another user's file.
    private static func opened(_ path: String, _ creation: Int32) throws(Failure) -> Int32 {
        let descriptor = open(path, O_WRONLY | creation | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if descriptor < 0 { throw Failure(code: errno) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_mode & 0o077 == 0,
            facts.st_uid == geteuid()
        else {
            close(descriptor)
            throw Failure(code: EPERM)
        }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Writes a line at once. May be called on any thread. A line that cannot be written is lost.
    package func write(_ line: UnsafePointer<CChar>) {
        var parts = [
            iovec(iov_base: UnsafeMutableRawPointer(mutating: line), iov_len: strlen(line)), iovec(iov_base: nil, iov_len: 1),
        ]
        var end = UInt8(ascii: "\n")
        withUnsafeMutableBytes(of: &end) { end in
            parts[1].iov_base = end.baseAddress
            _ = writev(descriptor, parts, 2)
        }
    }
}
