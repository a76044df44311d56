import Glibc
import SQLiteDatabase

/// Whether a store can be at a path. The checks come before anything is created there, and say what is wrong in words of their own:
/// SQLite's messages say only that it failed.
enum StorePlace {
    /// - Throws: `cannotOpen` if the path exists and is not a regular file, such as a folder or a device.
    static func check(_ path: String) throws(StoreError) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return }
        let kind: String
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: kind = "a folder"
        case S_IFCHR, S_IFBLK: kind = "a device"
        case S_IFIFO: kind = "a named pipe"
        case S_IFSOCK: kind = "a socket"
        default: kind = "not a regular file"
        }
        throw StoreError(.cannotOpen, path: path, message: "this is \(kind), and a store needs a regular file")
    }

    /// The error for a file that cannot be created in the store's folder.
    /// - Parameter code: `errno`.
    static func uncreated(_ file: String, besideStoreAt path: String, code: Int32) -> StoreError {
        let reason = String(cString: strerror(code))
        let kind = StoreError(systemCall: "open", path: file, code: code).code
        if FileSystem.length(of: file) != nil { return StoreError(kind, path: file, message: "cannot open this file: \(reason)") }
        let folder = FileSystem.folder(of: path)
        return StoreError(kind, path: path, message: "cannot create files in the folder \(folder): \(reason)")
    }
}
