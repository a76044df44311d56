import CLarderLinux
import EventLoop
import Glibc

/// The listening Unix socket: accessible to its owner alone, and one for each path.
///
/// A lock file beside the socket shows whether the socket is in use: the kernel unlocks the file when the process that holds the lock
/// ends. A leftover socket is replaced; a socket in use is an error. The lock file stays when the socket is removed: otherwise two
/// processes could hold a lock each.
package struct AdminSocket: Sendable {
    package let path: String
    package let descriptor: Int32
    private let lock: Int32

    static let backlog: Int32 = 32
    private static let lockAttempts = 20
    /// The pause between attempts to take the lock, in microseconds.
    private static let lockPause: UInt32 = 10_000

    /// Binds and listens, until `close` or the end of the process.
    package init(path: String) throws(AdminSocketError) {
        guard let address = UnixAddress(path: path) else { throw .pathTooLong(path: path) }
        try Self.makeFolder(Self.folder(of: path), of: path)
        lock = try Self.takeLock(path)
        do throws(AdminSocketError) {
            try Self.removeLeftOver(path, address)
            descriptor = try Self.listen(path, address)
        } catch {
            _ = Glibc.close(lock)
            throw error
        }
        self.path = path
    }

    /// Removes the socket.
    package func close() {
        _ = unlink(path)
        _ = Glibc.close(descriptor)
        _ = Glibc.close(lock)
    }

    /// Removes the socket at this path if the process that listened on it has ended. The lock file stays.
    package static func removeLeftOver(_ path: String) {
        // The socket is checked without the lock first: a process that starts at this path may need the lock.
        guard let address = UnixAddress(path: path), (try? isRefused(path, address)) == true else { return }
        do throws(AdminSocketError) {
            let lock = try takeLock(path)
            defer { _ = Glibc.close(lock) }
            try removeLeftOver(path, address)
        } catch {
            // The socket is in use, or belongs to another user.
        }
    }

    /// The socket has its final mode before it has a name, so that no other user can ever access it.
    private static func listen(_ path: String, _ address: UnixAddress) throws(AdminSocketError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(larder_sock_stream | larder_sock_nonblock | larder_sock_cloexec), 0)
        guard descriptor >= 0 else { throw .failed(SystemError("socket", code: errno), path: path) }
        let isReady =
            fchmod(descriptor, 0o600) == 0 && address.withAddress { bind(descriptor, $0, $1) } == 0
            && Glibc.listen(descriptor, backlog) == 0
        if isReady { return descriptor }
        let code = errno
        _ = Glibc.close(descriptor)
        throw .failed(SystemError("bind", code: code), path: path)
    }

    private static func takeLock(_ path: String) throws(AdminSocketError) -> Int32 {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .failed(SystemError("open", code: errno), path: path + ".lock") }
        var code = EWOULDBLOCK
        // Another Larder that starts holds the lock for a moment, when it looks for sockets that are left over.
        for attempt in 0..<Self.lockAttempts where code == EWOULDBLOCK {
            if attempt > 0 { usleep(Self.lockPause) }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return lock }
            code = errno
        }
        _ = Glibc.close(lock)
        if code == EWOULDBLOCK { throw .inUse(path: path) }
        throw .failed(SystemError("flock", code: code), path: path + ".lock")
    }

    /// Removes the socket of a process that has ended. A socket on which a program accepts connections stays.
    private static func removeLeftOver(_ path: String, _ address: UnixAddress) throws(AdminSocketError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        guard try isRefused(path, address) else { throw .inUse(path: path) }
        _ = unlink(path)
    }

    /// Whether no process listens on the socket.
    private static func isRefused(_ path: String, _ address: UnixAddress) throws(AdminSocketError) -> Bool {
        let probe = socket(AF_UNIX, Int32(larder_sock_stream | larder_sock_nonblock | larder_sock_cloexec), 0)
        guard probe >= 0 else { throw .failed(SystemError("socket", code: errno), path: path) }
        defer { _ = Glibc.close(probe) }
        return address.withAddress { connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates the folder and its parents, each for the owner alone. Existing folders stay unchanged.
    private static func makeFolder(_ folder: String, of path: String) throws(AdminSocketError) {
        var status = stat()
        if stat(folder, &status) == 0 { return }
        let parent = Self.folder(of: folder)
        if parent != folder { try makeFolder(parent, of: path) }
        if mkdir(folder, 0o700) != 0, errno != EEXIST { throw .failed(SystemError("mkdir", code: errno), path: folder) }
    }
}
