import CommandSupport
import Foundation
import TextCoding

/// The user's decisions about the settings of projects. They are in the file `$XDG_STATE_HOME/larder/projects`, as one JSON object per
/// line. Only the user can read the file.
package struct ProjectDecisions {
    package enum Word: String { case allow, deny }

    package struct Decision: Equatable {
        let folder: String
        let digest: String
        let word: Word

        package init(folder: String, digest: String, word: Word) {
            self.folder = folder
            self.digest = digest
            self.word = word
        }
    }

    package struct Failure: Error { package let reason: String }

    private(set) var all: [Decision] = []
    private let path: String

    private static let lengthLimit = 4 << 20

    /// Reads the decisions. If the file is missing, there are none.
    /// - Throws: if another user could have written the file, or if the file is damaged. Larder never guesses that a project is
    ///   allowed.
    package init(_ environment: [String: String]) throws(Failure) {
        guard let folder = UserFolders(environment).state else {
            throw Failure(reason: "neither XDG_STATE_HOME nor HOME is set, so decisions about projects cannot be stored")
        }
        path = "\(folder)/projects"
        all = try Self.read(path)
    }

    subscript(folder: String) -> Decision? { all.first { $0.folder == folder } }

    /// Replaces the decision about this folder, and writes the file.
    package func storing(_ decision: Decision) throws(Failure) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        try Self.makeFolder(folder)
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw Failure(reason: "cannot open \(folder): \(String(cString: strerror(errno)))") }
        defer { close(lock) }
        flock(lock, LOCK_EX)
        // The file is read again under the lock, because another `larder project` command may have written it in the meantime.
        var decisions = try Self.read(path).filter { $0.folder != decision.folder }
        decisions.append(decision)
        let text = decisions.map { Self.line($0) + "\n" }.joined()
        let hidden = "\(folder)/.projects.\(getpid())"
        unlink(hidden)
        let descriptor = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure(reason: "cannot write to \(folder): \(String(cString: strerror(errno)))") }
        var code = Descriptor.write(Array(text.utf8)[...], to: descriptor)
        if code == 0, fsync(descriptor) != 0 { code = errno }
        close(descriptor)
        if code == 0, rename(hidden, path) != 0 { code = errno }
        if code != 0 {
            unlink(hidden)
            throw Failure(reason: "cannot write \(path): \(String(cString: strerror(code)))")
        }
    }

    private static func line(_ decision: Decision) -> String {
        JSONText.object([
            ("folder", .string(decision.folder)), ("digest", .string(decision.digest)),
            ("decision", .string(decision.word.rawValue)),
        ]).writtenInLine()
    }

    private static func read(_ path: String) throws(Failure) -> [Decision] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw Failure(reason: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw Failure(reason: "\(path) is not a regular file")
        }
        guard facts.st_uid == geteuid() else { throw Failure(reason: "\(path) belongs to another user") }
        guard facts.st_mode & 0o077 == 0 else {
            throw Failure(reason: "other users can access \(path); check its contents, then run `chmod 600` on it")
        }
        let bytes: [UInt8]
        do throws(LocalFile.Unreadable) {
            bytes = try LocalFile.bytes(from: handle, atMost: lengthLimit)
        } catch { throw Failure(reason: "cannot read \(path): \(error.reason)") }
        var decisions: [Decision] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            let object = JSONAnswer(String(decoding: line, as: UTF8.self))
            guard let folder = object["folder"] as? String, let digest = object["digest"] as? String,
                let word = (object["decision"] as? String).flatMap(Word.init)
            else { throw Failure(reason: "\(path):\(index + 1): not a valid decision; delete the line") }
            decisions.append(Decision(folder: folder, digest: digest, word: word))
        }
        return decisions
    }

    /// Creates the folder and its parent folders for the owner alone. An existing folder is kept, unless other users can write to it.
    private static func makeFolder(_ folder: String) throws(Failure) {
        var facts = stat()
        if stat(folder, &facts) == 0 {
            guard facts.st_mode & 0o022 == 0, [geteuid(), 0].contains(facts.st_uid) else {
                throw Failure(reason: "other users can write to \(folder)")
            }
            return
        }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw Failure(reason: "cannot create \(folder)") }
    }
}
