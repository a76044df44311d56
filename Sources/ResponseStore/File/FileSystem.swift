import CLinux
import Glibc

/// What the store asks of the file system.
enum FileSystem {
    /// The folder's path, `.` for a bare name.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the folder and those above it, each for the owner alone. What is there stays as it is.
    static func makeFolder(_ path: String) throws(StoreError) {
        var status = stat()
        if stat(path, &status) == 0 { return }
        let parent = folder(of: path)
        if parent != path { try makeFolder(parent) }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw StoreError(systemCall: "mkdir", path: path, code: errno) }
    }

    /// Makes an empty file for the owner alone unless there is one.
    static func makeFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(systemCall: "open", path: path, code: errno) }
        close(descriptor)
    }

    /// Gives the file and what SQLite keeps beside it mode 0600, whatever it was and whatever the umask.
    static func makePrivate(_ path: String) {
        // Refused where the file is another user's: then the mode is not ours to choose.
        for suffix in ["", "-wal", "-shm"] { chmod(path + suffix, 0o600) }
    }

    /// How much this user may still write where the path is, or `nil`.
    static func freeBytes(besides path: String) -> Int? {
        var status = statvfs()
        guard statvfs(folder(of: path), &status) == 0 else { return nil }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    static func length(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// The names in a folder.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { place in
                place.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }

    static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
