import CLarderLinux
import Glibc

/// Ensures one process per store: an advisory lock on a file that names its holder. The kernel releases it when the process ends.
final class StoreLock: Sendable {
    private let descriptor: Int32
    private let path: String
    /// Whether this process created the lock file.
    private let isNew: Bool

    init(besideStoreAt path: String) throws(StoreError) {
        let lockPath = path + ".lock"
        let made = open(lockPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let descriptor = made >= 0 ? made : open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorePlace.uncreated(lockPath, besideStoreAt: path, code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = StoreLock.readHolder(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else { throw StoreError(systemCall: "flock", path: lockPath, code: code) }
            throw StoreError(
                .lockedByProcess(holder), path: path,
                message: holder > 0 ? "the store is in use by process \(holder)" : "the store is in use by another process")
        }
        self.descriptor = descriptor
        self.path = lockPath
        isNew = made >= 0
        fchmod(descriptor, 0o600)
        // The text is only for people and for the error message of another process: failing to write it does not weaken the lock.
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    deinit { close(descriptor) }

    /// Deletes the lock file if this process created it. Call this only for a file that is not a store. A store's lock file stays,
    /// since two processes could otherwise each hold a lock.
    func removeNewFile() {
        if isNew { unlink(path) }
    }

    private static func readHolder(_ descriptor: Int32) -> Int32 {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return 0 }
        let digits = bytes[0..<count].prefix { $0 >= 0x30 && $0 <= 0x39 }
        return Int32(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}
