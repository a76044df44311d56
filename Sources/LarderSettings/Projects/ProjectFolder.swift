import CommandSupport
import Foundation
import ProxyPolicy
import TextCoding

/// A project's folder `.larder`, with the project's recording, policy and key. Larder looks for it in the working folder and in the
/// folders above.
///
/// A user who clones a project did not write its settings. So `ProjectSettings` decides how much of the policy is used. The
/// folder, the policy and the key must belong to the user or to root. No other user and no group may be able to write to them.
/// None of them may be a symbolic link, which could lead to another project's file.
package struct ProjectFolder: Equatable, Sendable {
    package let path: String

    private static let name = ".larder"
    static let policyName = "policy.yaml"
    static let keyName = "project.key"
    static let recordingName = "recording.larder"

    /// - Returns: `nil` if there is no usable folder. A folder that is not usable is reported and ignored.
    package init?(above start: String = FileManager.default.currentDirectoryPath) {
        var folder = URL(filePath: start).standardizedFileURL
        while true {
            let candidate = folder.appending(path: Self.name).path
            if Self.isThere(candidate) {
                guard let resolved = Self.usable(candidate) else { return nil }
                path = resolved
                return
            }
            guard folder.path != "/" else { return nil }
            folder.deleteLastPathComponent()
        }
    }

    /// The path of the project's recording, whether or not it exists.
    package var recording: String { "\(path)/\(Self.recordingName)" }

    /// The recording to use if the command names no file: the project's recording, or else a recording in the working folder.
    package static func recording(of project: ProjectFolder?) -> String { project?.recording ?? recordingName }
    /// The path of the project's settings, whether or not they exist.
    package var policy: String { "\(path)/\(Self.policyName)" }
    /// The path of the project's key; `nil` if there is no usable key.
    package var key: String? {
        let file = "\(path)/\(Self.keyName)"
        var facts = stat()
        guard lstat(file, &facts) == 0 else { return nil }
        return Self.mayBeUsed(file, facts) ? file : nil
    }
    /// The folder of the project: the folder that contains `.larder`.
    var project: String { URL(filePath: path).deletingLastPathComponent().path }

    /// Reads the project's settings, once.
    /// - Returns: `nil` if the project has no settings, or if they are ignored, which is reported.
    package func readPolicy() throws(LocalFile.Unreadable) -> [UInt8]? {
        let descriptor = open(policy, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP:
                Self.passOver(policy, Self.linkFault)
                return nil
            default: throw LocalFile.Unreadable(reason: String(cString: strerror(errno)))
            }
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw LocalFile.Unreadable(reason: String(cString: strerror(errno))) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw LocalFile.Unreadable(reason: "not a regular file") }
        guard Self.mayBeUsed(policy, facts) else { return nil }
        return try LocalFile.bytes(from: handle, atMost: YAMLReader.lengthLimit)
    }

    private static func isThere(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// - Returns: the path with symbolic links resolved.
    private static func usable(_ path: String) -> String? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        guard mayBeUsed(path, facts), let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether the file may be used. If not, the reason is reported.
    private static func mayBeUsed(_ path: String, _ facts: stat) -> Bool {
        guard let fault = fault(of: facts) else { return true }
        passOver(path, fault)
        return false
    }

    private static func passOver(_ path: String, _ fault: String) {
        Terminal.talk("larder: \(printable(path, limit: 4096)) is ignored: \(fault)\n")
    }

    private static let linkFault = "the path is a symbolic link"

    private static func fault(of facts: stat) -> String? {
        if facts.st_mode & S_IFMT == S_IFLNK { return linkFault }
        if ![geteuid(), 0].contains(facts.st_uid) { return "the path belongs to another user" }
        if facts.st_mode & S_IWOTH != 0 { return "every user can write to the path" }
        if facts.st_mode & S_IWGRP != 0 { return "the group can write to the path" }
        return nil
    }
}
