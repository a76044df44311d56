import Glibc

/// A short file that is read and replaced as a whole.
enum SmallFile {
    struct Failure: Error {
        let code: Int32
        let reason: String

        init(code: Int32) {
            self.code = code
            reason = String(cString: strerror(code))
        }

        init(reason: String) {
            code = 0
            self.reason = reason
        }
    }

    private static let lengthLimit = 64 << 10

    /// - Parameter isSecret: whether to reject a file that other users can access.
    static func read(_ path: String, isSecret: Bool = false) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw Failure(code: errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw Failure(reason: "not a regular file") }
        if isSecret, facts.st_mode & 0o077 != 0 {
            throw Failure(reason: "other users can access the file; restrict it with `chmod 600`")
        }
        var bytes = [UInt8](repeating: 0, count: lengthLimit)
        var count = 0
        while count < lengthLimit {
            let step = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + count, lengthLimit - count) }
            if step == 0 { break }
            if step < 0 {
                if errno == EINTR { continue }
                throw Failure(code: errno)
            }
            count += step
        }
        return Array(bytes.prefix(count))
    }

    /// Writes a file beside it and renames it, so that the file is complete or unchanged even after a crash.
    /// - Parameter replaces: whether an existing file is replaced. Otherwise it is an error with the code EEXIST.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t, replaces: Bool = true) throws(Failure) {
        let hidden = "\(path).\(getpid())"
        unlink(hidden)
        let descriptor = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        var code: Int32 = count == bytes.count ? 0 : (count < 0 ? errno : ENOSPC)
        if code == 0, fdatasync(descriptor) != 0 { code = errno }
        close(descriptor)
        if code == 0, (replaces ? rename(hidden, path) : link(hidden, path)) != 0 { code = errno }
        // This does nothing after a successful rename.
        unlink(hidden)
        if code != 0 { throw Failure(code: code) }
    }
}
