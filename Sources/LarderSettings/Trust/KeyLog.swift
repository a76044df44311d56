import Foundation

/// A file into which the secrets of TLS connections are written, so that a person who looks for a fault can read what passes
/// (the form of `SSLKEYLOGFILE`). Whoever has the file can, too.
package final class KeyLog: Sendable {
    /// Why there is none: an `errno`.
    struct Failure: Error { let code: Int32 }

    private let descriptor: Int32

    /// Opens the file, which has to be this process's user's alone, and is where it is a new one; what stands in it stays.
    init(path: String) throws(Failure) { descriptor = try Self.opened(path, O_CREAT) }

    /// Whether the file could be opened, which is not made if it is not there.
    static func check(path: String) throws(Failure) {
        do throws(Failure) {
            close(try opened(path, 0))
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    /// A FIFO without a reader, a link and another's file are failures, and hold nobody up.
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

    /// Any thread; each line is written at once. What the disk does not take is lost.
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
