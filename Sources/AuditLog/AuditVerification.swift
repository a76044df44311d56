import Glibc
import HTTPMessage
import ServerTrust

/// Verifies all files of an audit log.
package enum AuditVerification {
    package struct Unreadable: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// An older file may be deleted between its listing and its reading. Then the files are listed again, at most this often.
    private static let attempts = 10
    /// How often, and for how long, the check of an incomplete last line waits for the rest.
    private static let waits = 50
    private static let waitMilliseconds: Int32 = 10

    /// - Parameters:
    ///   - path: the newest file, or the only file. Its older files beside it are read first.
    ///   - keys: public keys that seals may be signed with.
    ///   - seal: a seal that the log must contain.
    package static func verify(
        _ path: String, keys: [[UInt8]], seal: AuditSeal?
    ) throws(Unreadable) -> AuditScan {
        for _ in 1..<attempts {
            if let scan = try? scan(path, keys, seal) { return scan }
        }
        return try scan(path, keys, seal)
    }

    private static func scan(_ path: String, _ keys: [[UInt8]], _ seal: AuditSeal?) throws(Unreadable) -> AuditScan {
        var scan = AuditScan(keys: keys, wanted: seal)
        // The newest file is opened before the older ones are listed. If a running Larder renames it in between, it is in the list.
        let newest = try open(path)
        defer { close(newest) }
        let inode = try facts(of: newest, path).st_ino
        for file in AuditFiles.rotated(of: path) {
            let descriptor = try open(file)
            defer { close(descriptor) }
            if try facts(of: descriptor, file).st_ino == inode { break }
            try read(descriptor, file, into: &scan)
        }
        try read(newest, path, into: &scan)
        scan.end()
        return scan
    }

    private static func open(_ file: String) throws(Unreadable) -> Int32 {
        let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unreadable(reason: "\(file): \(String(cString: strerror(errno)))") }
        return descriptor
    }

    private static func facts(of descriptor: Int32, _ file: String) throws(Unreadable) -> stat {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw Unreadable(reason: "\(file) is not a regular file")
        }
        return facts
    }

    private static func read(_ descriptor: Int32, _ file: String, into scan: inout AuditScan) throws(Unreadable) {
        let size = try facts(of: descriptor, file).st_size
        scan.begin(file)
        let complete: Int64
        do throws(SmallFile.Failure) {
            complete = try AuditLines.read(descriptor) { scan.take($0) }
        } catch {
            throw Unreadable(reason: "\(file): \(error.reason)")
        }
        guard complete < Int64(size) else { return }
        // A running Larder may be writing the line: then the file grows soon.
        for _ in 0..<waits {
            if try facts(of: descriptor, file).st_size != size { return }
            poll(nil, 0, waitMilliseconds)
        }
        scan.noteCut()
    }

    /// The public key in the folder of the audit logs' key and seals.
    package static func key(inFolder folder: String) throws(Unreadable) -> [UInt8] {
        try key(at: AuditFolder.publicKeyPath(folder))
    }

    /// The public key in a file in PEM.
    package static func key(at path: String) throws(Unreadable) -> [UInt8] {
        do throws(SmallFile.Failure) {
            guard let key = Ed25519.publicKey(pem: try SmallFile.read(path)) else {
                throw SmallFile.Failure(reason: "not an Ed25519 key in PEM")
            }
            return key
        } catch {
            throw Unreadable(reason: "\(path): \(error.reason)")
        }
    }
}
