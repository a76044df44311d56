import CommandSupport
import Foundation
import LarderSettings
import ProxyAdmin
import TextCoding

extension Diagnosis {
    /// The least free space that is not a problem, in bytes. SQLite's log beside the file may alone need as much.
    private static let leastRoom: UInt64 = 64 << 20

    /// Checks the place of the store's file, and its free space.
    /// - Parameter isRunning: whether a running Larder has the file open.
    package func store(_ loaded: LoadedSettings, isRunning: Bool) -> Finding {
        let path = loaded.settings.store.path ?? UserFolders(environment).cache.map { "\($0)/store.sqlite" }
        guard let path else {
            return Finding(
                "store", .bad, "neither XDG_CACHE_HOME nor HOME is set, so the store's path is unknown", remedy: "export HOME=~")
        }
        if path == ":memory:" { return Finding("store", .good, "in memory only") }
        let full = URL(filePath: path).path
        let place = Self.nearestThere(full)
        guard access(place, place == full ? R_OK | W_OK : W_OK | X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            let word = ShellWord.of(place)
            return Finding(
                "store", .bad, "cannot write to \(place): \(reason)",
                remedy: Self.isOurs(place) ? "chmod u+rwX \(word)" : "sudo chown \"$(id -u)\" \(word) && chmod u+rwX \(word)")
        }
        var room = statvfs()
        guard statvfs(place, &room) == 0 else {
            return Finding("store", .notable, "\(full): the free space on the disk is unknown")
        }
        let free = UInt64(room.f_bavail) * UInt64(room.f_frsize)
        if free < Self.leastRoom {
            return fullDisk(loaded, full, free: free, isRunning: isRunning)
        }
        return Finding("store", .good, "\(full), \(EntryText.size(free)) free")
    }

    /// A purge does not shrink the file, whose space is reused: only deleting the file frees space on the disk.
    private func fullDisk(_ loaded: LoadedSettings, _ path: String, free: UInt64, isRunning: Bool) -> Finding {
        let files = ["", "-wal", "-shm", ".reserved"].map { path + $0 }.filter { access($0, F_OK) == 0 }
        let own = files.reduce(0) { $0 + Self.room(of: $1) }
        let explanation =
            "the disk of \(path) is almost full: \(EntryText.size(free)) are free, and the store uses \(EntryText.size(own))"
        guard free + own >= Self.leastRoom else {
            return Finding("store", .bad, "\(explanation); other files use the rest of the disk", remedy: Self.edit(loaded))
        }
        let removal = "rm -f \(files.map(ShellWord.of).joined(separator: " "))"
        return Finding(
            "store", .bad, explanation, remedy: isRunning ? "larder stop && \(removal); larder serve &" : removal)
    }

    /// The disk space that a file uses.
    private static func room(of file: String) -> UInt64 {
        var facts = stat()
        return stat(file, &facts) == 0 ? UInt64(facts.st_blocks) * 512 : 0
    }

    private static func isOurs(_ place: String) -> Bool {
        var facts = stat()
        return stat(place, &facts) == 0 && facts.st_uid == geteuid()
    }

    /// The path itself, or its nearest existing parent.
    private static func nearestThere(_ path: String) -> String {
        var place = path
        while place != "/", access(place, F_OK) != 0 { place = URL(filePath: place).deletingLastPathComponent().path }
        return place
    }
}
