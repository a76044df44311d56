import CertificateAuthority
import CommandSupport
import Foundation
import ServerTrust

extension AuthorityFolder {
    /// Stores the first root.
    package func begin(_ authority: LocalAuthority, passphrase: [UInt8]?) throws(AuthorityFolderError) {
        try makeFolder()
        try changing { () throws(AuthorityFolderError) in
            guard !exists("\(path)/current"), !exists("\(path)/next") else {
                throw AuthorityFolderError("a CA already exists in \(path); `larder ca rotate` creates the next root")
            }
            try seat(authority, passphrase: passphrase, at: .current, from: nil)
        }
    }

    /// Stores the next root beside the current one.
    package func beginRotation(to next: LocalAuthority, passphrase: [UInt8]?, from day: CalendarDay) throws(AuthorityFolderError)
    {
        try changing { () throws(AuthorityFolderError) in
            guard !exists("\(path)/next") else {
                throw AuthorityFolderError("a rotation is in progress; `larder ca rotate --finish` completes it")
            }
            // If the current key is encrypted, the next one must be too: the user may only have forgotten the option.
            if passphrase == nil, try isLocked(.current, passphrase: nil) {
                throw AuthorityFolderError(
                    "\(keyPath(.current)) is encrypted; give the passphrase of the next key with `--passphrase-file`")
            }
            try seat(next, passphrase: passphrase, at: .next, from: day)
        }
    }

    /// Replaces the current root by the next one, and deletes the former root's key.
    package func finishRotation(at now: POSIXTime) throws(AuthorityFolderError) {
        try changing { () throws(AuthorityFolderError) in
            let roots = try roots(at: now)
            guard roots.all.contains(where: { $0.seat == .next }) else {
                throw AuthorityFolderError("no rotation is in progress")
            }
            // The next root's key is checked first: if it is missing or damaged, the CA would be unusable.
            _ = try isLocked(.next, passphrase: nil)
            // There is no current root if an earlier attempt was interrupted after that root was moved.
            let former = roots.all.first { $0.seat == .current }?.certificate
            if let former {
                try makeFolder(formerPath)
                let name = "\(formerPath)/\(RootEntry(former).name).pem"
                if !exists(name) { try write(former.pem, to: name) }
                let leaving = hidden("leaving")
                guard rename("\(path)/current", leaving) == 0 else { throw .system("\(path)/current") }
            }
            guard rename("\(path)/next", "\(path)/current") == 0 else { throw .system("\(path)/next") }
            unlink("\(path)/current/from")
            try sweep()
        }
    }

    /// Changes the folder under a lock, so that each writer reads what the previous one has written. First deletes the keys that an
    /// interrupted run left: a key that was being deleted, or a new key that was not reported.
    private func changing(_ change: () throws(AuthorityFolderError) -> Void) throws(AuthorityFolderError) {
        guard exists(path) else { throw .missing(path) }
        try check(path, isFolder: true)
        let lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard lock >= 0 else { throw .system(path) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw .system(path) } }
        try sweep()
        try change()
    }

    private static let hiddenPrefixes = [OriginSlot.current.rawValue, OriginSlot.next.rawValue, "leaving"].map { ".\($0)." }

    /// A name that is unique to this run.
    private func hidden(_ name: String) -> String { "\(path)/.\(name).\(UUID().uuidString)" }

    private func sweep() throws(AuthorityFolderError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // the folder was opened just before
        for name in names where Self.hiddenPrefixes.contains(where: name.hasPrefix) { try delete("\(path)/\(name)") }
    }

    private func seat(
        _ authority: LocalAuthority, passphrase: [UInt8]?, at seat: OriginSlot, from day: CalendarDay?
    ) throws(AuthorityFolderError) {
        let hidden = hidden(seat.rawValue)
        guard mkdir(hidden, 0o700) == 0 else { throw .system(hidden) }
        do throws(AuthorityFolderError) {
            // `chmod` sets the mode regardless of the umask.
            guard chmod(hidden, 0o700) == 0 else { throw .system(hidden) }
            let key: String
            do throws(AuthorityFault) {
                key = try authority.keyText(passphrase: passphrase)
            } catch {
                throw AuthorityFolderError(error, root: rootPath(seat), key: keyPath(seat))
            }
            try write(key, to: "\(hidden)/root.key")
            try write(authority.rootText, to: "\(hidden)/root.pem")
            if let day { try write("\(day)\n", to: "\(hidden)/from") }
            // This fails if another root was stored meanwhile, because the folder of that root is not empty.
            guard rename(hidden, "\(path)/\(seat.rawValue)") == 0 else { throw .system("\(path)/\(seat.rawValue)") }
        } catch {
            try? delete(hidden)  // only the first error is reported
            throw error
        }
    }

    private func makeFolder() throws(AuthorityFolderError) {
        let parent = URL(filePath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw AuthorityFolderError("\(parent) cannot be created")
        }
        try makeFolder(path)
    }

    private func makeFolder(_ place: String) throws(AuthorityFolderError) {
        if mkdir(place, 0o700) == 0 {
            guard chmod(place, 0o700) == 0 else { throw .system(place) }
        } else if errno != EEXIST {
            throw .system(place)
        }
        try check(place, isFolder: true)
    }

    private func write(_ text: String, to file: String) throws(AuthorityFolderError) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(file) }
        var code = fchmod(descriptor, 0o600) == 0 ? 0 : errno
        if code == 0 { code = Descriptor.write(Array(text.utf8)[...], to: descriptor) }
        if code == 0, fsync(descriptor) != 0 { code = errno }
        if close(descriptor) != 0, code == 0 { code = errno }
        if code != 0 { throw .system(file, code) }
    }

    private func delete(_ folder: String) throws(AuthorityFolderError) {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            throw AuthorityFolderError("\(folder) cannot be deleted; it may contain a key that is no longer used")
        }
    }
}
