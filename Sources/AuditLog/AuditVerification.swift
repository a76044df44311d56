import Glibc
import HTTPMessage
import ServerTrust

/// Verifies all files of an audit log.
package enum AuditVerification {
    package struct Unreadable: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// - Parameters:
    ///   - path: the newest file, or the only file. Its older files beside it are read first.
    ///   - keys: public keys that seals may be signed with.
    ///   - seal: a seal that the log must contain.
    package static func verify(
        _ path: String, keys: [[UInt8]], seal: AuditSeal?
    ) throws(Unreadable) -> AuditScan {
        var scan = AuditScan(keys: keys, wanted: seal)
        for file in AuditFiles.rotated(of: path) + [path] {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw Unreadable(reason: "\(file): \(String(cString: strerror(errno)))") }
            defer { close(descriptor) }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
                throw Unreadable(reason: "\(file) is not a regular file")
            }
            scan.begin(file)
            do throws(SmallFile.Failure) {
                let complete = try AuditLines.read(descriptor) { scan.take($0) }
                // A running Larder may append lines in the meantime; only what was there at the beginning counts.
                if complete < Int64(facts.st_size) { scan.noteCut() }
            } catch {
                throw Unreadable(reason: "\(file): \(error.reason)")
            }
        }
        scan.end()
        return scan
    }

    /// The public key in the folder of the audit logs' key and seals.
    package static func key(inFolder folder: String) throws(Unreadable) -> [UInt8] {
        try key(at: AuditFolder.publicKeyPath(folder))
    }

    /// The public key in a file in PEM.
    package static func key(at path: String) throws(Unreadable) -> [UInt8] {
        do throws(SmallFile.Failure) {
            guard let key = Ed25519.publicOctets(pem: try SmallFile.read(path)) else {
                throw SmallFile.Failure(reason: "not an Ed25519 key in PEM")
            }
            return key
        } catch {
            throw Unreadable(reason: "\(path): \(error.reason)")
        }
    }
}
