import Glibc
import SQLiteDatabase

/// The file system operations that snapshots need.
enum FileBasics {
    /// Whether the name is in use, also by a symbolic link to a file that does not exist.
    static func exists(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0
    }

    /// Whether this is a regular file without content.
    static func isEmpty(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_size == 0
    }

    /// - Returns: the first bytes of a regular file; `nil` if it is not one, or cannot be read.
    static func beginning(of path: String, atMost count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, 0)
        return read < 0 ? nil : Array(bytes[..<read])
    }

    /// Makes an empty file that only the file's owner can read and write.
    static func makeEmpty(_ path: String) throws(SnapshotError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        close(descriptor)
    }

    /// Copies a file. Only the copy's owner can read and write it. Replaces a recording at the target path, which an earlier copy may have
    /// left there.
    /// - Throws: `inTheWay` if another file has the target path.
    static func copy(_ source: String, to target: String) throws(SnapshotError) {
        if exists(target) {
            guard RecordingNames.isRecording(target) || isEmpty(target) else { throw .inTheWay(path: target) }
            unlink(target)
        }
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw failure("open", source) }
        defer { close(input) }
        let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard output >= 0 else { throw failure("open", target) }
        defer { close(output) }
        while true {
            // The kernel copies up to 1 GiB in one call; `sendfile` returns 0 at the end of the file.
            let count = sendfile(output, input, nil, 1 << 30)
            if count == 0 { return }
            guard count > 0 || errno == EINTR else { throw failure("sendfile", target) }
        }
    }

    /// Syncs a finished file to disk and gives it its final name, replacing any file with that name. The new file keeps the mode of the
    /// file that it replaces, and the owner and the group if the system permits that.
    static func publish(_ path: String, as name: String) throws(SnapshotError) {
        var former = stat()
        if stat(name, &former) == 0, former.st_mode & S_IFMT == S_IFREG {
            // Only root can change the owner, but the owner can change the group to another of the owner's groups: hence two
            // calls.
            _ = chown(path, former.st_uid, gid_t.max)
            let keepsGroup = chown(path, uid_t.max, former.st_gid) == 0
            let mode = former.st_mode & 0o777
            // Another group gets only the permissions that all users have.
            let granted = keepsGroup ? mode : mode & 0o707 | (mode & 0o007) << 3
            guard chmod(path, granted) == 0 else { throw failure("chmod", path) }
        }
        try synchronise(path, flags: O_RDONLY)
        guard rename(path, name) == 0 else { throw failure("rename", name) }
        try synchronise(folder(of: name), flags: O_RDONLY | O_DIRECTORY)
    }

    /// The path of the folder that contains the file; `.` for a path without a slash.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func synchronise(_ path: String, flags: Int32) throws(SnapshotError) {
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("fsync", path) }
    }

    static func failure(_ call: StaticString, _ path: String) -> SnapshotError {
        .database(DatabaseError(systemCall: call, path: path, code: errno))
    }
}
