import Foundation

/// A file that Larder writes the secrets of TLS connections to, for debugging with tools that decrypt traffic (in `SSLKEYLOGFILE` format).
/// Anyone who can read the file can decrypt the traffic.
package final class KeyLog: Sendable {
    /// Why the file could not be opened: an `errno`.
    struct Failure: Error { let code: Int32 }

    private let descriptor: Int32

    /// Opens the file for appending, or creates it for this process's user alone. An existing file must already belong to this user alone.
    init(path: String) throws(Failure) { descriptor = try Self.opened(path, O_CREAT) }

    /// Checks that the file could be opened; does not create it.
    static func check(path: String) throws(Failure) {
        do throws(Failure) {
            close(try opened(path, 0))
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    /// Fails for a FIFO without a reader, for a symbolic link and for another user's file, and never blocks.
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

    /// May be called on any thread; each line is written at once. Lines that cannot be written are lost.
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
