import EventLoop
import Glibc

/// The file, or standard output, that lines are appended to.
struct AccessLogFile: ~Copyable {
    let path: String
    private var descriptor: Int32

    /// - Parameter descriptor: what `open` gave for this path; owned from now on.
    init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { if descriptor > 2 { Glibc.close(descriptor) } }

    static func open(_ path: String) throws(SystemError) -> Int32 {
        if path == "-" { return STDOUT_FILENO }
        // URLs say what people do: for the owner alone. A pipe without a reader is an error, and is not waited for.
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor < 0 { throw SystemError("open", code: errno) }
        // Where it goes on not to block, `write` waits.
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
        return descriptor
    }

    /// Opens the path again; when that fails, what was open stays.
    mutating func reopen() throws(SystemError) {
        let new = try Self.open(path)
        if descriptor > 2 { Glibc.close(descriptor) }
        descriptor = new
    }

    /// - Returns: how many bytes were written before the file took no more.
    func write(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count > 0 {
                    written += count
                } else if count < 0 && errno == EAGAIN {
                    // Standard output may be set not to block by whoever shares it.
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
