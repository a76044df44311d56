import CertificateAuthority
import CommandSupport
import Foundation
import ServerTrust

/// The folder of a CA. It has a subfolder per root: `current` and, during a rotation, `next`. Each contains `root.pem` and `root.key`;
/// `next` also contains `from`, the day from which the next root issues certificates. A former `current` root leaves its certificate in
/// `former`, so that it can be removed from trust stores.
///
/// Folders have mode 0700 and files 0600, and belong to the user who runs the command (threat T27). Anything else is an error and not
/// repaired: another user may already have read the key. A subfolder is created under a hidden name and then renamed, so that it is
/// complete or absent.
package struct AuthorityFolder {
    package enum OriginSlot: String {
        case current, next
    }

    /// A root without its key.
    package struct Seated {
        package let seat: OriginSlot
        package let certificate: Certificate
    }

    /// The roots at a given time.
    package struct Roots {
        /// The root that issues certificates.
        package let signing: Seated
        /// During a rotation, the other root: the next or the former one.
        package let other: Seated?
        /// The day from which the next root issues certificates.
        package let turn: CalendarDay?

        package var all: [Seated] { [signing] + (other.map { [$0] } ?? []) }
    }

    static let certificateLimit = 64 * 1024
    static let keyLimit = 16 * 1024

    package let path: String

    package init(path: String) { self.path = URL(filePath: path).path }

    /// The default folder; `nil` if its place is unknown.
    package init?(_ environment: [String: String]) {
        guard let data = UserFolders(environment).data else { return nil }
        self.init(path: "\(data)/ca")
    }

    package func rootPath(_ seat: OriginSlot) -> String { "\(path)/\(seat.rawValue)/root.pem" }
    package func keyPath(_ seat: OriginSlot) -> String { "\(path)/\(seat.rawValue)/root.key" }
    private var turnPath: String { "\(path)/next/from" }
    var formerPath: String { "\(path)/former" }

    // MARK: Reading

    /// Reads the roots without their keys.
    /// - Parameter asRoot: whether root may read another user's folder, in order to install that user's CA.
    package func roots(at now: POSIXTime, asRoot: Bool = false) throws(AuthorityFolderError) -> Roots {
        guard exists(path) else { throw .missing(path) }
        try check(path, isFolder: true, asRoot: asRoot)
        // For a moment at the end of a rotation, only the next root exists.
        let seats = [OriginSlot.current, .next].filter { exists("\(path)/\($0.rawValue)") }
        var seated: [Seated] = []
        for seat in seats {
            try check("\(path)/\(seat.rawValue)", isFolder: true, asRoot: asRoot)
            // No command proceeds with a key that other users may have read. A missing key is no error here: only certificates are read.
            if exists(keyPath(seat)) { try check(keyPath(seat), isFolder: false, asRoot: asRoot) }
            seated.append(Seated(seat: seat, certificate: try certificate(at: rootPath(seat), asRoot: asRoot)))
        }
        guard let first = seated.first else { throw .missing(path) }
        guard let next = seated.dropFirst().first else { return Roots(signing: first, other: nil, turn: nil) }
        let turn = try turn(asRoot: asRoot)
        return now >= turn.firstSecond
            ? Roots(signing: next, other: first, turn: turn) : Roots(signing: first, other: next, turn: turn)
    }

    /// The CA of a root, with its key.
    package func authority(_ seat: OriginSlot, passphrase: [UInt8]?) throws(AuthorityFolderError) -> LocalAuthority {
        try check(path, isFolder: true)
        try check("\(path)/\(seat.rawValue)", isFolder: true)
        let root = try octets(at: rootPath(seat), atMost: Self.certificateLimit)
        let key = try octets(at: keyPath(seat), atMost: Self.keyLimit)
        do throws(AuthorityFault) {
            return try LocalAuthority(root: root, key: key, passphrase: passphrase)
        } catch {
            throw AuthorityFolderError(error, root: rootPath(seat), key: keyPath(seat))
        }
    }

    /// The readable certificates that may be in trust stores. Removing a certificate needs only the certificate itself; it does not matter
    /// if other users could read the key.
    package func removable(formerOnly: Bool) throws(AuthorityFolderError) -> (
        certificates: [Certificate], faults: [AuthorityFolderError]
    ) {
        guard exists(path) else { throw .missing(path) }
        var faults: [AuthorityFolderError] = []
        func readable(_ files: [String]) -> [Certificate] {
            files.filter(exists).compactMap { file -> Certificate? in
                do throws(AuthorityFolderError) {
                    return try Self.certificate(in: removableOctets(at: file), file)
                } catch {
                    faults.append(error)
                    return nil
                }
            }
        }
        let seated = readable([OriginSlot.current, .next].map(rootPath))
        var formerFiles: [String] = []
        if exists(formerPath) {
            do throws(LocalFile.Unreadable) {
                formerFiles = try LocalFile.names(in: formerPath, endings: [".pem"]).map { "\(formerPath)/\($0)" }
            } catch {
                faults.append(AuthorityFolderError("\(formerPath): \(error.reason)"))
            }
        }
        // After an interrupted rotation, a certificate may be in `former` and also be a present root.
        let former = readable(formerFiles).filter { !seated.contains($0) }
        if seated.isEmpty, former.isEmpty, faults.isEmpty { throw .missing(path) }
        return (formerOnly ? former : seated + former, faults)
    }

    private func removableOctets(at file: String) throws(AuthorityFolderError) -> [UInt8] {
        do throws(LocalFile.Unreadable) {
            return try LocalFile.bytes(at: file, atMost: Self.certificateLimit)
        } catch {
            throw AuthorityFolderError("\(file): \(error.reason)")
        }
    }

    private func certificate(at file: String, asRoot: Bool) throws(AuthorityFolderError) -> Certificate {
        try Self.certificate(in: octets(at: file, atMost: Self.certificateLimit, asRoot: asRoot), file)
    }

    private static func certificate(in octets: [UInt8], _ file: String) throws(AuthorityFolderError) -> Certificate {
        guard let read = Certificate.reading(pem: octets), read.count == 1 else {
            throw AuthorityFolderError("\(file) does not contain exactly one certificate in PEM")
        }
        return read[0]
    }

    private func turn(asRoot: Bool) throws(AuthorityFolderError) -> CalendarDay {
        let text = try String(decoding: octets(at: turnPath, atMost: 64, asRoot: asRoot), as: UTF8.self)
        guard let day = CalendarDay(text.trimmingCharacters(in: .newlines)) else {
            throw AuthorityFolderError("\(turnPath) does not contain a date such as 2027-01-31")
        }
        return day
    }

    /// Whether a root's key could not be checked, because the key is encrypted and no passphrase was given.
    /// - Throws: an error if the root has no valid key.
    package func isLocked(_ seat: OriginSlot, passphrase: [UInt8]?) throws(AuthorityFolderError) -> Bool {
        do throws(AuthorityFolderError) {
            _ = try authority(seat, passphrase: passphrase)
            return false
        } catch {
            if error.isPassphraseMissing { return true }
            throw error
        }
    }

    /// The profile of a root's certificate, without its key.
    package func profile(_ root: Seated) throws(AuthorityFolderError) -> RootProfile {
        do throws(AuthorityFault) {
            return try RootProfile(root.certificate)
        } catch {
            throw AuthorityFolderError(error, root: rootPath(root.seat), key: keyPath(root.seat))
        }
    }

    private func octets(at file: String, atMost limit: Int, asRoot: Bool = false) throws(AuthorityFolderError) -> [UInt8] {
        try check(file, isFolder: false, asRoot: asRoot)
        do throws(LocalFile.Unreadable) {
            return try LocalFile.secretBytes(at: file, atMost: limit)
        } catch {
            throw AuthorityFolderError("\(file): \(error.reason)")
        }
    }

    package func exists(_ place: String) -> Bool {
        var facts = stat()
        return lstat(place, &facts) == 0
    }

    /// Checks the owner and the permissions (threat T27). Rejects symbolic links too: another user may control their target.
    func check(_ place: String, isFolder: Bool, asRoot: Bool = false) throws(AuthorityFolderError) {
        var facts = stat()
        guard lstat(place, &facts) == 0 else { throw .system(place) }
        guard facts.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
            throw AuthorityFolderError("\(place) is not a \(isFolder ? "folder" : "file")")
        }
        guard facts.st_uid == geteuid() || (asRoot && geteuid() == 0) else {
            throw AuthorityFolderError("\(place) belongs to another user")
        }
        guard facts.st_mode & 0o077 == 0 else {
            throw AuthorityFolderError(
                "\(place): other users can access this \(isFolder ? "folder" : "file"); restrict it with `chmod \(isFolder ? "700" : "600")`, and create another root if they may have read the key"
            )
        }
    }
}
