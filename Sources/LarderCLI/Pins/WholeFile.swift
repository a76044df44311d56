import Foundation
import ServerTrust

/// A file that is there whole, or as it was before: it is written beside its place, under a hidden name, and then put there.
enum WholeFile {
    /// - Parameter replaces: whether it takes the place of one that is there; else that is left alone, and an error.
    static func write(_ text: String, to path: String, replaces: Bool) throws(SettingsFile.Unreadable) {
        let place = replaces ? URL(filePath: path).resolvingSymlinksInPath() : URL(filePath: path)
        let hidden = place.deletingLastPathComponent().path + "/.\(place.lastPathComponent).\(getpid())"
        let descriptor = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw lastError() }
        var code: Int32 = 0
        var facts = stat()
        if replaces, stat(place.path, &facts) == 0 {
            // In this order, since a change of the owner takes bits of the mode away.
            if fchown(descriptor, facts.st_uid, facts.st_gid) != 0 || fchmod(descriptor, facts.st_mode & 0o7777) != 0 {
                code = errno
            }
        }
        if code == 0 { code = Descriptor.write(Array(text.utf8)[...], to: descriptor) }
        if code == 0, fsync(descriptor) != 0 { code = errno }
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0 {
            let isPut = replaces ? rename(hidden, place.path) : link(hidden, place.path)
            if isPut != 0 { code = errno }
        }
        // After a rename there is none left.
        unlink(hidden)
        if code != 0 { throw SettingsFile.Unreadable(reason: String(cString: strerror(code))) }
    }

    private static func lastError() -> SettingsFile.Unreadable {
        SettingsFile.Unreadable(reason: String(cString: strerror(errno)))
    }
}
