import Foundation

/// A file into which the secrets of TLS connections are written, so that a person who looks for a fault can read what passes
/// (the form of `SSLKEYLOGFILE`). Whoever has the file can, too.
final class KeyLog: Sendable {
    /// Why there is none: an `errno`.
    struct Failure: Error { let code: Int32 }

    private let descriptor: Int32

    /// Opens the file, which is its owner's alone where it is a new one; what stands in it stays.
    init(path: String) throws(Failure) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if descriptor < 0 { throw Failure(code: errno) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_mode & 0o077 == 0 else {
            close(descriptor)
            throw Failure(code: EPERM)
        }
    }

    deinit { close(descriptor) }

    /// Any thread; each line is written at once. What the disk does not take is lost.
    func write(_ line: UnsafePointer<CChar>) {
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
