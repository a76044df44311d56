import CLarderLinux
import Glibc

/// The file system operations of the store.
enum FileSystem {
    /// The path of the directory that contains a file; `.` if the file's path is a bare name.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates the directory and its parents, accessible to the owner only. Existing ones stay unchanged.
    static func makeFolder(_ path: String) throws(StoreError) {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { return }
            throw StoreError(.cannotOpen, path: path, message: "this is not a folder, so no store can be in it")
        }
        let parent = folder(of: path)
        if parent != path { try makeFolder(parent) }
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let reason = String(cString: strerror(errno))
        let kind = StoreError(systemCall: "mkdir", path: path, code: errno).code
        throw StoreError(kind, path: path, message: "cannot create this folder for the store: \(reason)")
    }

    /// Creates an empty file, accessible to the owner only, unless it exists.
    static func makeFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(systemCall: "open", path: path, code: errno) }
        close(descriptor)
    }

    /// Sets mode 0600 for the file and SQLite's files beside it, whatever the mode and the umask were.
    static func makePrivate(_ path: String) {
        // This fails if the file belongs to another user; the file then keeps its mode.
        for suffix in ["", "-wal", "-shm"] { chmod(path + suffix, 0o600) }
    }

    /// The space that this user may still write at this path, in bytes; `nil` if unknown.
    static func freeBytes(besides path: String) -> Int? {
        var status = statvfs()
        guard statvfs(folder(of: path), &status) == 0 else { return nil }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    static func length(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// - Returns: the first bytes of a file; `nil` if it cannot be read.
    static func beginning(of path: String, atMost count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, 0)
        return read < 0 ? nil : Array(bytes[..<read])
    }

    /// The names in a directory.
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
