import CommandSupport
import Foundation
import HTTPMessage
import HTTPSerialization

/// The digest of all files in a project's folder, except the recording, which Larder writes, and the key. The project's settings are in
/// the digested files, or name them.
package enum ProjectDigest {
    /// Why the digest could not be made.
    package struct Failure: Error { package let reason: String }

    static let fileLimit = 1000
    static let lengthLimit = 64 << 20
    static let depthLimit = 8

    /// Files that are not digested: the key, the recording that Larder writes, and SQLite's companion files, which exist while the
    /// recording is written.
    private static let left: Set = {
        let recording = ProjectFolder.recordingName
        let files = [recording, "\(recording).partial"]
        return Set([ProjectFolder.keyName] + files + files.flatMap { file in ["-wal", "-shm", "-journal"].map { file + $0 } })
    }()

    /// - Parameter policy: the content of `policy.yaml` as it was read, so that the digest covers exactly the content that is used.
    package static func make(of folder: ProjectFolder, policy: [UInt8]) throws(Failure) -> String {
        var files = Files()
        try files.add(folder.path, name: "", depth: 0, policy: policy)
        let hasher = DigestHasher(.sha256)
        // A digest and a length precede each name, so that different folders give different texts.
        for file in files.found.sorted(by: { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }) {
            hasher.update(Array("\(file.digest) \(file.name.utf8.count) \(file.name)\n".utf8).span)
        }
        return "sha256:\(Hexadecimal.encode(hasher.finish().octets))"
    }

    private struct Files {
        var found: [(name: String, digest: String)] = []
        private var length = 0

        init() {}

        mutating func add(_ folder: String, name prefix: String, depth: Int, policy: [UInt8]) throws(Failure) {
            guard depth < depthLimit else { throw Failure(reason: "\(folder) is nested more than \(depthLimit) levels deep") }
            let names: [String]
            do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
                throw Failure(reason: "\(folder) cannot be read")
            }
            for name in names where depth > 0 || !left.contains(name) {
                let (path, full) = ("\(folder)/\(name)", prefix + name)
                var facts = stat()
                guard lstat(path, &facts) == 0 else { throw Failure(reason: "\(path): \(String(cString: strerror(errno)))") }
                switch facts.st_mode & S_IFMT {
                case S_IFDIR: try add(path, name: full + "/", depth: depth + 1, policy: policy)
                case S_IFREG:
                    try add(full, depth == 0 && name == ProjectFolder.policyName ? policy : read(path))
                case S_IFLNK: throw Failure(reason: "\(path) is a symbolic link, and the file that it points to may change")
                default: throw Failure(reason: "\(path) is not a regular file")
                }
            }
        }

        private mutating func add(_ name: String, _ bytes: [UInt8]) throws(Failure) {
            length += bytes.count
            guard length <= lengthLimit else {
                throw Failure(reason: "the project's files have more than \(lengthLimit >> 20) MiB in total")
            }
            guard found.count < fileLimit else { throw Failure(reason: "the project has more than \(fileLimit) files") }
            let hasher = DigestHasher(.sha256)
            hasher.update(bytes.span)
            found.append((name, Hexadecimal.encode(hasher.finish().octets)))
        }

        private func read(_ path: String) throws(Failure) -> [UInt8] {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
            guard descriptor >= 0 else { throw Failure(reason: "\(path): \(String(cString: strerror(errno)))") }
            do throws(LocalFile.Unreadable) {
                return try LocalFile.bytes(
                    from: FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), atMost: lengthLimit - length)
            } catch { throw Failure(reason: "\(path): \(error.reason)") }
        }
    }
}
