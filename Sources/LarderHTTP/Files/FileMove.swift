import EventLoop
import Glibc

/// Moves and removes files; a file is moved atomically.
enum FileMove {
    static func remove(_ path: String) throws(SystemError) {
        if unlink(path) != 0 { throw SystemError("unlink", code: errno) }
    }

    /// - Returns: the new path.
    static func move(_ path: String, to destination: DownloadDestination, suggested: String) throws(SystemError) -> String {
        let folder = destination.folder
        switch destination.place {
        case .file(let target):
            try destination.replaces ? replace(path, target) : give(path, target)
            try synchronize(folder)
            return target
        case .folder:
            let target = try destination.replaces ? folder + "/" + suggested : freeName(for: path, in: folder, suggested)
            if destination.replaces { try replace(path, target) }
            try synchronize(folder)
            return target
        case .chosen: preconditionFailure("the destination is resolved first")
        }
    }

    /// Writes a file under another name, and renames it once it is complete and on disk.
    static func write(_ octets: [UInt8], to path: String, mode: mode_t) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let part = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
        do throws(SystemError) {
            let file = try OpenFile.making(part, mode: mode)
            try file.write(octets, at: 0)
            try file.synchronize()
            try replace(part, path)
        } catch {
            unlink(part)  // The file may not exist, and the first error is the one to report.
            throw error
        }
        try synchronize(folder)
    }

    /// Creates the folder and its parents.
    static func makeFolder(_ path: String) throws(SystemError) {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            if mkdir(String(path[..<end]), 0o777) != 0, errno != EEXIST { throw SystemError("mkdir", code: errno) }
        }
    }

    private static func replace(_ path: String, _ target: String) throws(SystemError) {
        if rename(path, target) != 0 { throw SystemError("rename", code: errno) }
    }

    /// Moves a file; fails if the new name is taken.
    private static func give(_ path: String, _ target: String) throws(SystemError) {
        if link(path, target) != 0 { throw SystemError("link", code: errno) }
        try remove(path)
    }

    private static let nameLimit = 1000

    private static func freeName(for path: String, in folder: String, _ suggested: String) throws(SystemError) -> String {
        for number in 1...nameLimit {
            let target = folder + "/" + SuggestedName.numbered(suggested, number)
            do throws(SystemError) {
                try give(path, target)
                return target
            } catch {
                if error.code != EEXIST { throw error }
            }
        }
        throw SystemError("link", code: EEXIST)
    }

    /// Flushes the folder, so that a new name in it survives a power failure.
    private static func synchronize(_ folder: String) throws(SystemError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw SystemError("open", code: errno) }
        defer { close(descriptor) }
        // Some file systems cannot flush a folder, and return EINVAL.
        if fsync(descriptor) != 0, errno != EINVAL { throw SystemError("fsync", code: errno) }
    }
}
