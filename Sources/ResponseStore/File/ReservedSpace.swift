import CLarderLinux
import Glibc

/// A file that reserves space for the case of a full disk: deleting entries first needs space for SQLite's log.
struct ReservedSpace: Sendable {
    let path: String
    let length: Int
    /// The name of this file in earlier versions. `make` deletes a file with that name.
    private let formerPath: String

    init(besideStoreAt path: String, length: Int) {
        self.path = path + ".reserved"
        formerPath = path + ".ballast"
        self.length = length
    }

    /// Creates the file unless it exists or would take more than half of the free space.
    func make() {
        unlink(formerPath)
        var status = stat()
        if stat(path, &status) == 0, Int(status.st_size) == length { return }
        guard length > 0, let free = FileSystem.freeBytes(besides: path), free >= 2 * length else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        fchmod(descriptor, 0o600)
        let code = posix_fallocate(descriptor, 0, off_t(length))
        close(descriptor)
        if code != 0 { unlink(path) }
    }

    /// - Returns: whether the file existed.
    @discardableResult
    func remove() -> Bool { unlink(path) == 0 }
}
