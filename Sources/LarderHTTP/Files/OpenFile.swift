import EventLoop
import Glibc

/// A file, open until the last reference is released. Used by the file thread, one operation at a time.
final class OpenFile: Sendable {
    private let descriptor: Int32
    let path: String

    private init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { Glibc.close(descriptor) }

    static func reading(_ path: String) throws(SystemError) -> OpenFile {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw SystemError("open", code: errno) }
        return OpenFile(descriptor, path: path)
    }

    /// Creates a file; fails if the name is taken. The kernel subtracts the umask, or the folder's default ACL, from its mode.
    static func making(_ path: String, mode: mode_t = 0o666) throws(SystemError) -> OpenFile {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if descriptor < 0 { throw SystemError("open", code: errno) }
        return OpenFile(descriptor, path: path)
    }

    /// Opens an existing file to continue writing. Fails for a symbolic link and for anything but a regular file.
    static func continuing(_ path: String) throws(SystemError) -> OpenFile {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        if descriptor < 0 { throw SystemError("open", code: errno) }
        let file = OpenFile(descriptor, path: path)
        guard try file.isPlain else { throw SystemError("open", code: EINVAL) }
        return file
    }

    private var status: stat {
        get throws(SystemError) {
            var status = stat()
            if fstat(descriptor, &status) != 0 { throw SystemError("fstat", code: errno) }
            return status
        }
    }

    var isPlain: Bool { get throws(SystemError) { try status.st_mode & S_IFMT == S_IFREG } }
    var length: UInt64 { get throws(SystemError) { UInt64(try status.st_size) } }

    /// Reads at most `count` bytes from `offset`; returns no bytes at the end of the file.
    func read(at offset: UInt64, atMost count: Int) throws(SystemError) -> [UInt8] {
        var code: Int32 = 0
        let octets = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let got = pread(descriptor, buffer.baseAddress, count, off_t(offset))
            if got < 0 { code = errno }
            filled = max(0, got)
        }
        if code != 0 { throw SystemError("read", code: code) }
        return octets
    }

    func write(_ octets: [UInt8], at offset: UInt64) throws(SystemError) {
        var done = 0
        while done < octets.count {
            let step = octets.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset) + off_t(done))
            }
            if step < 0 {
                if errno == EINTR { continue }
                throw SystemError("write", code: errno)
            }
            done += step
        }
    }

    func truncate(to length: UInt64) throws(SystemError) {
        if ftruncate(descriptor, off_t(length)) != 0 { throw SystemError("ftruncate", code: errno) }
    }

    enum Lock { case taken, heldByOther, unsupported }

    /// Takes the lock on the file, which the kernel releases when the file is closed or the process ends.
    func lock() -> Lock {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            return errno == EWOULDBLOCK ? .heldByOther : .unsupported
        }
        return .taken
    }

    /// Whether the file has a name.
    var isLinked: Bool { get throws(SystemError) { try status.st_nlink > 0 } }

    /// Waits until all content is on disk.
    func synchronize() throws(SystemError) {
        if fsync(descriptor) != 0 { throw SystemError("fsync", code: errno) }
    }
}
