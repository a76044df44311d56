import EventLoop
import Glibc

/// The names of part files. They show whether a part that no download writes to is still needed.
///
/// - `.larder-download-….part`: a download writes to it, and holds a lock on it. The kernel releases the lock when the process ends, so a
///   part without a lock is left over from a killed process. No token names it, so it is removed.
/// - `.larder-resume-….part`: a token names it, and only a call with that token uses it. It is never removed here.
///
/// Used by the file thread.
enum PartNames {
    private static let beginning = ".larder-download-"
    private static let keptBeginning = ".larder-resume-"
    private static let ending = ".part"

    /// Makes a part file with a lock.
    static func make(in folder: String) throws(SystemError) -> OpenFile {
        while true {
            let name = beginning + String(UInt64.random(in: 0 ... .max), radix: 16) + ending
            let file = try OpenFile.making(folder + "/" + name)
            // Without a lock, as on file systems that have none, no process removes the part.
            _ = file.lock()
            // Another process may have removed the file before it had its lock.
            if try file.isLinked { return file }
        }
    }

    /// Gives the part the name of one that a token names.
    static func keep(_ path: String) throws(SystemError) -> String {
        guard let slash = path.lastIndex(of: "/"), path[path.index(after: slash)...].hasPrefix(beginning) else { return path }
        let name = path[path.index(after: slash)...]
        let kept = path[...slash] + keptBeginning + name.dropFirst(beginning.count)
        if rename(path, String(kept)) != 0 { throw SystemError("rename", code: errno) }
        return String(kept)
    }

    /// Removes the parts that killed processes have left in the folder. Errors are ignored: the next session tries again.
    static func sweep(_ folder: String) {
        guard let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard name.hasPrefix(beginning), name.hasSuffix(ending),
                let file = try? OpenFile.continuing(folder + "/" + name), file.lock() == .taken
            else { continue }
            try? FileMove.remove(file.path)
        }
    }
}
