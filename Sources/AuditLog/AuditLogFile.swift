import Glibc
import HTTPMessage
import ServerTrust

/// An audit log that was opened and locked, before its writer takes it.
struct OpenedAuditFile: Sendable {
    let path: String
    let descriptor: Int32
    let device: dev_t
    let inode: ino_t
    private(set) var size: Int64
    /// The time of the first line, in milliseconds since 1970; `nil` in an empty file.
    private(set) var beganAt: Int64?

    /// Opens and locks the file. It is readable only by its owner.
    init(_ path: String) throws(AuditLogUnusable) {
        let descriptor = Glibc.open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw AuditLogUnusable(path, code: errno) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw AuditLogUnusable("\(path) is not a regular file")
        }
        // A file from before may be readable by others.
        if facts.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 {
            let code = errno
            Glibc.close(descriptor)
            throw AuditLogUnusable(path, code: code)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw AuditLogUnusable("another process writes to \(path); give each Larder its own audit log")
        }
        self.path = path
        self.descriptor = descriptor
        device = facts.st_dev
        inode = facts.st_ino
        size = Int64(facts.st_size)
    }

    func close() { Glibc.close(descriptor) }

    /// Checks all lines, and removes an incomplete line at the end, which a crash may leave.
    /// - Returns: the number of bytes removed.
    mutating func scan(into scan: inout AuditScan) throws(AuditLogUnusable) -> Int64 {
        var begin: Int64?
        let complete: Int64
        do throws(SmallFile.Failure) {
            complete = try AuditLines.read(descriptor) { line in
                if begin == nil { begin = AuditLine.read(line).flatMap { Self.milliseconds($0.time) } ?? 0 }
                scan.take(line)
            }
        } catch {
            throw AuditLogUnusable("\(path): \(error.reason)")
        }
        beganAt = begin
        // A file that is not an audit log stays as it is. A crash may leave a part of the first line.
        if scan.last == 0, size > 0, complete > 0 || !beginsAsLine {
            throw AuditLogUnusable("\(path) is not an audit log; name another file")
        }
        let cut = size - complete
        if cut > 0 {
            guard ftruncate(descriptor, off_t(complete)) == 0 else { throw AuditLogUnusable(path, code: errno) }
            size = complete
        }
        return cut
    }

    /// Whether the file begins as the first line of a log does.
    private var beginsAsLine: Bool {
        var bytes = Array("{\"seq\":".utf8)
        let expected = bytes
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return count > 0 && bytes.prefix(count).elementsEqual(expected.prefix(count))
    }

    private static func milliseconds(_ text: [UInt8]) -> Int64? {
        RFC3339Time.read(String(decoding: text, as: UTF8.self))?.milliseconds
    }
}

/// The file that the writer appends to. Confined to its thread.
final class AuditLogFile {
    private let path: String
    private let descriptor: Int32
    private let device: dev_t
    private let inode: ino_t
    private(set) var size: Int64
    /// The time of the first line, in milliseconds since 1970; `nil` in an empty file.
    private(set) var beganAt: Int64?

    init(_ opened: OpenedAuditFile) {
        path = opened.path
        descriptor = opened.descriptor
        device = opened.device
        inode = opened.inode
        size = opened.size
        beganAt = opened.beganAt
    }

    deinit { close(descriptor) }

    /// Whether the path still names this file.
    var isInPlace: Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_ino == inode && facts.st_dev == device
    }

    /// Appends whole lines; if that fails, none of them.
    /// - Parameter time: the wall-clock time in milliseconds.
    /// - Returns: `errno`; 0 if the lines were written.
    func append(_ bytes: [UInt8], at time: Int64) -> Int32 {
        var written = 0
        var code: Int32 = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, bytes.count - written) }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                code = count == 0 ? ENOSPC : errno
                break
            }
        }
        if code != 0 {
            // Otherwise the next line would continue an incomplete line.
            if written > 0 { _ = ftruncate(descriptor, off_t(size)) }
            return code
        }
        size += Int64(written)
        if beganAt == nil { beganAt = time }
        return 0
    }

    func synchronize() { fdatasync(descriptor) }
}
