import Foundation

/// Writes a file atomically: to a hidden file beside it, which is then renamed. The file is complete, or stays unchanged.
package enum WholeFile {
    /// Why the file was not written and stays unchanged, for a message "cannot write …: REASON".
    package struct Unwritten: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }

        /// - Parameter code: an `errno`.
        package init(code: Int32) { reason = String(cString: strerror(code)) }

        package static var lastError: Unwritten { Unwritten(code: errno) }
    }

    /// - Parameters:
    ///   - replaces: whether to replace an existing file; if not, an existing file is an error and stays unchanged.
    ///   - before: the content that the file must still have. If another process has changed it since it was read, that is an error and
    ///     the file stays unchanged. Two writers that use this type wait for each other; an editor could still write in the microseconds
    ///     between this check and the rename.
    ///   - mode: the mode of a new file. A file that is replaced keeps its mode.
    package static func write(
        _ text: String, to path: String, replaces: Bool, inPlaceOf before: [UInt8]? = nil, mode: mode_t = 0o644
    ) throws(Unwritten) {
        try write(Array(text.utf8), to: path, replaces: replaces, inPlaceOf: before, mode: mode)
    }

    package static func write(
        _ bytes: [UInt8], to path: String, replaces: Bool, inPlaceOf before: [UInt8]? = nil, mode: mode_t = 0o644
    ) throws(Unwritten) {
        let place = replaces ? URL(filePath: path).resolvingSymlinksInPath() : URL(filePath: path)
        let lock = before == nil ? -1 : open(place.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if lock >= 0 { flock(lock, LOCK_EX) }
        defer { if lock >= 0 { close(lock) } }
        let hidden = place.deletingLastPathComponent().path + "/.\(place.lastPathComponent).\(getpid())"
        let descriptor = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .lastError }
        var code: Int32 = 0
        var facts = stat()
        if replaces, stat(place.path, &facts) == 0 {
            // The mode is set after the owner, because a change of the owner clears bits of the mode.
            if fchown(descriptor, facts.st_uid, facts.st_gid) != 0 || fchmod(descriptor, facts.st_mode & 0o7777) != 0 {
                code = errno
            }
        }
        if code == 0 { code = Descriptor.write(bytes[...], to: descriptor) }
        if code == 0, fsync(descriptor) != 0 { code = errno }
        if close(descriptor) != 0, code == 0 { code = errno }
        if let before, (try? LocalFile.bytes(at: place.path, atMost: max(before.count, 1))) != before {
            unlink(hidden)
            throw Unwritten(reason: "the file was changed in the meantime; Larder wrote nothing")
        }
        if code == 0 {
            let isPut = replaces ? rename(hidden, place.path) : link(hidden, place.path)
            if isPut != 0 { code = errno }
        }
        // This does nothing after a successful rename.
        unlink(hidden)
        if code != 0 { throw Unwritten(code: code) }
    }
}
