import CLinux
import Glibc

/// Room kept for the day the disk is full: deleting entries needs room for SQLite's log first.
struct ReservedSpace: Sendable {
    let path: String
    let length: Int
    /// The name of before, whose file goes at the first start.
    private let formerPath: String

    init(besideStoreAt path: String, length: Int) {
        self.path = path + ".reserved"
        formerPath = path + ".ballast"
        self.length = length
    }

    /// Makes the file unless it is there, and unless it would take more than half of what is free.
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

    /// - Returns: Whether it was there.
    @discardableResult
    func remove() -> Bool { unlink(path) == 0 }
}
