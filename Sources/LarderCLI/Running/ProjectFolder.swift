import Foundation
import ProxyAdmin

/// A project's own folder `.larder`, found in the working folder or above it: its recording, its policy, its key.
///
/// What stands there is believed as the project's other files are that a build runs: so it has to be the user's own, or root's, and nobody else's
/// to write to.
struct ProjectFolder {
    let path: String

    private static let name = ".larder"

    /// - Returns: `nil` where there is none that may be believed.
    init?(above start: String = FileManager.default.currentDirectoryPath) {
        var folder = URL(filePath: start)
        while true {
            let candidate = folder.appending(path: Self.name).path
            if Self.isThere(candidate) {
                guard Self.isOwn(candidate) else {
                    Terminal.talk("larder: \(printable(candidate, limit: 4096)) is passed over: others may write to it\n")
                    return nil
                }
                path = candidate
                return
            }
            guard folder.path != "/" else { return nil }
            folder.deleteLastPathComponent()
        }
    }

    /// Where the project's recording stands, or is to stand.
    var recording: String { "\(path)/recording.larder" }
    /// Settings that take the place of the settings file's; `nil` where there are none.
    var policy: String? { existing("policy.yaml") }
    /// `nil` where there is none.
    var key: String? { existing("project.key") }

    private func existing(_ name: String) -> String? {
        let file = "\(path)/\(name)"
        return FileManager.default.fileExists(atPath: file) ? file : nil
    }

    private static func isThere(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func isOwn(_ path: String) -> Bool {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return false }
        return [geteuid(), 0].contains(facts.st_uid) && facts.st_mode & S_IWOTH == 0
    }
}
