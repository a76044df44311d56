import Glibc
import SQLiteDatabase

/// The file system operations that snapshots need.
enum FileBasics {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func isEmpty(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_size == 0
    }

    /// Makes an empty file that only the file's owner can read and write.
    static func makeEmpty(_ path: String) throws(SnapshotError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        close(descriptor)
    }

    /// Copies a file. Only the copy's owner can read and write it. Replaces any file at the target path.
    static func copy(_ source: String, to target: String) throws(SnapshotError) {
        unlink(target)
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

    /// Syncs a finished file to disk and gives it its final name, replacing any file with that name.
    static func publish(_ path: String, as name: String) throws(SnapshotError) {
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
