import Foundation
import ProxyAdmin

/// A project's own folder `.larder`, found in the working folder or above it: its recording, its policy, its key.
///
/// What stands there is believed as the project's other files are that a build runs: so the folder, and the policy and the key in it, have to be the
/// user's own, or root's, and nobody else's to write to, their group's neither.
struct ProjectFolder {
    let path: String

    private static let name = ".larder"

    /// - Returns: `nil` where there is none that may be believed.
    init?(above start: String = FileManager.default.currentDirectoryPath) {
        var folder = URL(filePath: start)
        while true {
            let candidate = folder.appending(path: Self.name).path
            if Self.isThere(candidate) {
                guard Self.isBelieved(candidate) else { return nil }
                path = candidate
                return
            }
            guard folder.path != "/" else { return nil }
            folder.deleteLastPathComponent()
        }
    }

    private static let recordingName = "recording.larder"

    /// Where the project's recording stands, or is to stand.
    var recording: String { "\(path)/\(Self.recordingName)" }

    /// The recording where no file is named: the project's, else one in the working folder.
    static func recording(of project: ProjectFolder?) -> String { project?.recording ?? recordingName }
    /// Settings that take the place of the settings file's; `nil` where there are none.
    var policy: String? { existing("policy.yaml") }
    /// `nil` where there is none.
    var key: String? { existing("project.key") }

    private func existing(_ name: String) -> String? {
        let file = "\(path)/\(name)"
        return FileManager.default.fileExists(atPath: file) && Self.isBelieved(file) ? file : nil
    }

    private static func isThere(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Says why where it is not.
    private static func isBelieved(_ path: String) -> Bool {
        guard let fault = fault(of: path) else { return true }
        Terminal.talk("larder: \(printable(path, limit: 4096)) is passed over: \(fault)\n")
        return false
    }

    private static func fault(of path: String) -> String? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return "it cannot be looked at" }
        if ![geteuid(), 0].contains(facts.st_uid) { return "it belongs to somebody else" }
        if facts.st_mode & S_IWOTH != 0 { return "everybody may write to it" }
        if facts.st_mode & S_IWGRP != 0 { return "its group may write to it" }
        return nil
    }
}
