import EventLoop
import Glibc

/// The file or standard output to which lines are appended.
struct AccessLogFile: ~Copyable {
    let path: String
    private var descriptor: Int32

    /// - Parameter descriptor: the result of `open` for this path; owned from now on.
    init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { if descriptor > 2 { Glibc.close(descriptor) } }

    static func open(_ path: String) throws(SystemError) -> Int32 {
        if path == "-" { return STDOUT_FILENO }
        // The file is readable only by its owner, because URLs reveal what people do. A pipe without a reader is an error, and `open` does
        // not wait for one.
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor < 0 { throw SystemError("open", code: errno) }
        // The descriptor should block from now on. If this fails, `write` waits with poll.
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
        return descriptor
    }

    /// Opens the path again; if that fails, the open file stays in use.
    mutating func reopen() throws(SystemError) {
        let new = try Self.open(path)
        if descriptor > 2 { Glibc.close(descriptor) }
        descriptor = new
    }

    /// - Returns: the number of bytes written before the file accepted no more.
    func write(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count > 0 {
                    written += count
                } else if count < 0 && errno == EAGAIN {
                    // Another process that shares standard output may have made it non-blocking.
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    if poll(&wait, 1, 1000) <= 0 { break }
                } else if count == 0 || errno != EINTR {
                    break
                }
            }
            return written
        }
    }
}
