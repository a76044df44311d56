import CertificateAuthority
import Foundation
import ServerTrust

/// Where an authority is kept: a folder with one below it for each root, `current` and, while a rotation is under way, `next`. In each
/// stand `root.pem` and `root.key`; in `next` also `from`, the day from whose first second on it certifies. What was `current` leaves
/// its certificate in `former`, so that it can be taken out of stores.
///
/// Folders are 0700 and files 0600, and their owner's who runs this (T27); anything else is refused, not mended: whoever could read
/// the key may have done so. A folder below is made under a hidden name and then put there, so that there is all of it or none.
struct AuthorityFolder {
    enum Seat: String {
        case current, next
    }

    /// A root without its key.
    struct Seated {
        let seat: Seat
        let certificate: Certificate
    }

    /// The roots at a time.
    struct Roots {
        /// The one that certifies.
        let signing: Seated
        /// Beside it, while a rotation is under way: the one to come, or the one that was.
        let other: Seated?
        /// The day of the turn.
        let turn: CalendarDay?

        var all: [Seated] { [signing] + (other.map { [$0] } ?? []) }
    }

    static let certificateLimit = 64 * 1024
    static let keyLimit = 16 * 1024

    let path: String

    init(path: String) { self.path = URL(filePath: path).path }

    /// The usual one; `nil` where nothing says where it could stand.
    init?(_ environment: [String: String]) {
        guard let data = UserFolders(environment).data else { return nil }
        self.init(path: "\(data)/ca")
    }

    func rootPath(_ seat: Seat) -> String { "\(path)/\(seat.rawValue)/root.pem" }
    func keyPath(_ seat: Seat) -> String { "\(path)/\(seat.rawValue)/root.key" }
    private var turnPath: String { "\(path)/next/from" }
    private var formerPath: String { "\(path)/former" }

    // MARK: Reading

    /// The roots without their keys.
    /// - Parameter asRoot: whether the superuser may read another's, who is about to install what that one has made.
    func roots(at now: POSIXTime, asRoot: Bool = false) throws(AuthorityFolderFault) -> Roots {
        guard exists(path) else { throw .missing(path) }
        try check(path, isFolder: true, asRoot: asRoot)
        // Between two steps of the end of a rotation the next one stands alone.
        let seats = [Seat.current, .next].filter { exists("\(path)/\($0.rawValue)") }
        var seated: [Seated] = []
        for seat in seats {
            try check("\(path)/\(seat.rawValue)", isFolder: true, asRoot: asRoot)
            seated.append(Seated(seat: seat, certificate: try certificate(at: rootPath(seat), asRoot: asRoot)))
        }
        guard let first = seated.first else { throw .missing(path) }
        guard let next = seated.dropFirst().first else { return Roots(signing: first, other: nil, turn: nil) }
        let turn = try turn(asRoot: asRoot)
        return now >= turn.firstSecond
            ? Roots(signing: next, other: first, turn: turn) : Roots(signing: first, other: next, turn: turn)
    }

    /// The authority of a root, with its key.
    func authority(_ seat: Seat, passphrase: [UInt8]?) throws(AuthorityFolderFault) -> LocalAuthority {
        try check(path, isFolder: true)
        try check("\(path)/\(seat.rawValue)", isFolder: true)
        let root = try octets(at: rootPath(seat), atMost: Self.certificateLimit)
        let key = try octets(at: keyPath(seat), atMost: Self.keyLimit)
        do throws(AuthorityFault) {
            return try LocalAuthority(root: root, key: key, passphrase: passphrase)
        } catch {
            throw AuthorityFolderFault(error, root: rootPath(seat), key: keyPath(seat))
        }
    }

    /// Roots that are gone, whose certificates may still stand in stores.
    func formerRoots(asRoot: Bool) throws(AuthorityFolderFault) -> [Certificate] {
        guard exists(formerPath) else { return [] }
        try check(formerPath, isFolder: true, asRoot: asRoot)
        let names: [String]
        do throws(SettingsFile.Unreadable) {
            names = try SettingsFile.names(in: formerPath, endings: [".pem"])
        } catch {
            throw AuthorityFolderFault("\(formerPath): \(error.reason)")
        }
        return try names.map { name throws(AuthorityFolderFault) in
            try certificate(at: "\(formerPath)/\(name)", asRoot: asRoot)
        }
    }

    private func certificate(at file: String, asRoot: Bool) throws(AuthorityFolderFault) -> Certificate {
        let octets = try octets(at: file, atMost: Self.certificateLimit, asRoot: asRoot)
        guard let read = Certificate.reading(pem: octets), read.count == 1 else {
            throw AuthorityFolderFault("\(file): is not one certificate in PEM")
        }
        return read[0]
    }

    private func turn(asRoot: Bool) throws(AuthorityFolderFault) -> CalendarDay {
        let text = try String(decoding: octets(at: turnPath, atMost: 64, asRoot: asRoot), as: UTF8.self)
        guard let day = CalendarDay(text.trimmingCharacters(in: .newlines)) else {
            throw AuthorityFolderFault("\(turnPath): is no day like 2027-01-31")
        }
        return day
    }

    private func isEncrypted(_ seat: Seat) throws(AuthorityFolderFault) -> Bool {
        let text = try octets(at: keyPath(seat), atMost: Self.keyLimit)
        return String(decoding: text, as: UTF8.self).contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    }

    private func octets(at file: String, atMost limit: Int, asRoot: Bool = false) throws(AuthorityFolderFault) -> [UInt8] {
        try check(file, isFolder: false, asRoot: asRoot)
        do throws(SettingsFile.Unreadable) {
            return try SettingsFile.secretOctets(at: file, atMost: limit)
        } catch {
            throw AuthorityFolderFault("\(file): \(error.reason)")
        }
    }

    private func exists(_ place: String) -> Bool {
        var facts = stat()
        return lstat(place, &facts) == 0
    }

    /// T27. A link is refused as well: where it leads is another's to say.
    private func check(_ place: String, isFolder: Bool, asRoot: Bool = false) throws(AuthorityFolderFault) {
        var facts = stat()
        guard lstat(place, &facts) == 0 else { throw .system(place) }
        guard facts.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
            throw AuthorityFolderFault("\(place): is no \(isFolder ? "folder" : "file")")
        }
        guard facts.st_uid == geteuid() || (asRoot && geteuid() == 0) else {
            throw AuthorityFolderFault("\(place): belongs to another user")
        }
        guard facts.st_mode & 0o077 == 0 else {
            throw AuthorityFolderFault(
                "\(place): others may get at it; `chmod \(isFolder ? "700" : "600")` it, and make another root if they may have read the key"
            )
        }
    }

    // MARK: Writing

    /// The first root.
    func begin(_ authority: LocalAuthority, passphrase: [UInt8]?) throws(AuthorityFolderFault) {
        try makeFolder()
        guard !exists("\(path)/current"), !exists("\(path)/next") else {
            throw AuthorityFolderFault("there is an authority in \(path) already; `larder ca rotate` makes the next root")
        }
        try seat(authority, passphrase: passphrase, at: .current, from: nil)
    }

    /// The next root, beside the one that there is.
    func beginRotation(to next: LocalAuthority, passphrase: [UInt8]?, from day: CalendarDay) throws(AuthorityFolderFault) {
        guard !exists("\(path)/next") else {
            throw AuthorityFolderFault("a rotation is under way; `larder ca rotate --finish` ends it")
        }
        // The next key is not to lie there plain because a word was forgotten.
        if passphrase == nil, try isEncrypted(.current) {
            throw AuthorityFolderFault("\(keyPath(.current)): is encrypted; `--passphrase-file` says by what the next one is")
        }
        try seat(next, passphrase: passphrase, at: .next, from: day)
    }

    /// The next root takes the place of the current one, whose key is deleted.
    /// - Parameter former: the current one; `nil` where an end was cut off behind its leaving.
    func finishRotation(from former: Certificate?) throws(AuthorityFolderFault) {
        if let former {
            try makeFolder(formerPath)
            let name = "\(formerPath)/\(RootEntry(former).name).pem"
            if !exists(name) { try write(former.text, to: name) }
            let leaving = "\(path)/\(Self.leaving)\(getpid())"
            guard rename("\(path)/current", leaving) == 0 else { throw .system("\(path)/current") }
        }
        guard rename("\(path)/next", "\(path)/current") == 0 else { throw .system("\(path)/next") }
        unlink("\(path)/current/from")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // it was read just before
        for name in names where name.hasPrefix(Self.leaving) { try delete("\(path)/\(name)") }
    }

    /// Of the name of a folder whose key is about to be deleted.
    private static let leaving = ".leaving."

    private func seat(
        _ authority: LocalAuthority, passphrase: [UInt8]?, at seat: Seat, from day: CalendarDay?
    ) throws(AuthorityFolderFault) {
        let hidden = "\(path)/.\(seat.rawValue).\(getpid())"
        guard mkdir(hidden, 0o700) == 0 else { throw .system(hidden) }
        do throws(AuthorityFolderFault) {
            let key: String
            do throws(AuthorityFault) {
                key = try authority.keyText(passphrase: passphrase)
            } catch {
                throw AuthorityFolderFault(error, root: rootPath(seat), key: keyPath(seat))
            }
            try write(key, to: "\(hidden)/root.key")
            try write(authority.rootText, to: "\(hidden)/root.pem")
            if let day { try write("\(day)\n", to: "\(hidden)/from") }
            // Fails where one has come there meanwhile: it is not empty.
            guard rename(hidden, "\(path)/\(seat.rawValue)") == 0 else { throw .system("\(path)/\(seat.rawValue)") }
        } catch {
            try? delete(hidden)  // the first fault is the one to tell
            throw error
        }
    }

    private func makeFolder() throws(AuthorityFolderFault) {
        let parent = URL(filePath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw AuthorityFolderFault("\(parent): cannot be made")
        }
        try makeFolder(path)
    }

    private func makeFolder(_ place: String) throws(AuthorityFolderFault) {
        if mkdir(place, 0o700) != 0, errno != EEXIST { throw .system(place) }
        try check(place, isFolder: true)
    }

    private func write(_ text: String, to file: String) throws(AuthorityFolderFault) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(file) }
        var code = Descriptor.write(Array(text.utf8)[...], to: descriptor)
        if code == 0, fsync(descriptor) != 0 { code = errno }
        if close(descriptor) != 0, code == 0 { code = errno }
        if code != 0 { throw .system(file, code) }
    }

    private func delete(_ folder: String) throws(AuthorityFolderFault) {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            throw AuthorityFolderFault("\(folder): cannot be deleted; a key that is used no more may stand in it")
        }
    }
}

extension Certificate {
    /// PEM.
    var text: String { PEM.text("CERTIFICATE", der: der) }
}
