import Foundation
import TestSupport
import Testing

/// A temporary home folder with a CA.
final class AuthorityStage {
    let folder: TemporaryFolder

    init(_ options: [String] = []) throws {
        folder = try TemporaryFolder()
        let made = try larder(["init"] + options)
        try #require(made.code == 0, "\(made.talk)")
    }

    var path: String { "\(folder.path)/.local/share/larder/ca" }
    var key: String { "\(path)/current/root.key" }
    var root: String { "\(path)/current/root.pem" }

    func larder(_ words: [String], path: String = "/usr/bin:/bin") throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(["ca"] + words, environment: ["HOME": folder.path, "PATH": path])
    }

    func chmod(_ mode: Int, _ file: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    func text(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    func mode(_ file: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    }
}
