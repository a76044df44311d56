import Foundation
import Snapshots

extension SnapshotError {
    /// Why a recording cannot begin, and what the user can do about it: which options of `larder record`, or which settings of `larder
    /// serve`, to use.
    /// - Parameter path: the finished file, which may not exist yet.
    func advice(recordingInto path: String) -> String {
        if case .exists = self {
            return "\(description): append to it (--append, or --missing for new requests only) or replace it (--overwrite); "
                + "for a server, `record.existing: append` or `overwrite`"
        }
        if case .inTheWay = self { return description }
        let partial = SnapshotWriter.partialPath(of: path)
        switch FileWriter.process(writing: partial) {
        case getpid()?: return "\(partial): this Larder is recording into it; `larder mode live` finishes it"
        case let process?:
            return "\(partial): process \(process) is recording into it; wait until it ends, or record into another file"
        case nil: break
        }
        switch self {
        case .unfinished:
            return "\(description): continue it (--resume; for a server, `record.existing: resume`), or delete it to start again"
        case .nothingToResume: return "\(description): start without --resume (for a server, without `record.existing: resume`)"
        default: return description
        }
    }
}

/// Finds the process that writes a file.
enum FileWriter {
    /// Reads `/proc`, since opening and closing the file would release the locks that SQLite holds in this process.
    /// - Returns: `nil` if no process has the file open for writing, or none that this user may inspect.
    static func process(writing path: String) -> pid_t? {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { return nil }
        return names(in: "/proc").lazy.compactMap { pid_t($0) }.first { process in
            let folder = "/proc/\(process)/fd"
            return names(in: folder).contains { name in
                var link = stat()
                var file = stat()
                // The permissions of a link in `/proc/PID/fd` show how the process opened the file.
                return lstat("\(folder)/\(name)", &link) == 0 && link.st_mode & S_IWUSR != 0
                    && stat("\(folder)/\(name)", &file) == 0 && file.st_ino == wanted.st_ino && file.st_dev == wanted.st_dev
            }
        }
    }

    /// - Returns: an empty list if the process has ended, or belongs to another user.
    private static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
