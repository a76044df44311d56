import EventLoop
import HTTPMessage

/// The part of a download that is on disk, with the entity tag and total length of the complete file.
struct DownloadPart {
    let file: OpenFile
    private let files: FileThread
    private(set) var length: UInt64
    /// How many of the part's bytes an earlier call wrote.
    private(set) var keptLength: UInt64
    /// The strong entity tag of the entity that the part belongs to, or `nil`.
    private(set) var entityTag: String?
    private(set) var total: UInt64?

    private init(_ file: OpenFile, _ files: FileThread, length: UInt64, entityTag: String?, total: UInt64?) {
        self.file = file
        self.files = files
        self.length = length
        keptLength = length
        self.entityTag = entityTag
        self.total = total
    }

    /// An empty part file under an unused name.
    static func begin(in folder: String, _ files: FileThread) async throws(SystemError) -> DownloadPart {
        let name = ".larder-" + String(UInt64.random(in: 0 ... .max), radix: 16) + ".part"
        let file = try await files.run { () throws(SystemError) in try OpenFile.making(folder + "/" + name) }
        return DownloadPart(file, files, length: 0, entityTag: nil, total: nil)
    }

    /// Opens the part file that a token names; bytes after the token's length are cut off.
    static func take(_ token: ResumeToken, _ files: FileThread) async throws(SystemError) -> DownloadPart {
        let (file, length) = try await files.run { () throws(SystemError) in
            let file = try OpenFile.continuing(token.path)
            let length = try file.length
            // The file is shorter than the token's length, so its content cannot be trusted.
            let kept = length < token.length ? 0 : token.length
            try file.truncate(to: kept)
            return (file, kept)
        }
        return DownloadPart(
            file, files, length: length, entityTag: length > 0 ? token.entityTag : nil, total: length > 0 ? token.total : nil)
    }

    /// Whether the part can be resumed.
    var canGoOn: Bool { entityTag != nil && length > 0 }

    /// Discards the part's content.
    mutating func beginAnew() async throws(SystemError) {
        try await files.run { [file] () throws(SystemError) in try file.truncate(to: 0) }
        length = 0
        keptLength = 0
        entityTag = nil
        total = nil
    }

    /// Records the entity tag and total length from a response.
    mutating func note(entityTag: String?, total: UInt64?) {
        self.entityTag = entityTag
        self.total = total ?? self.total
    }

    mutating func append(_ octets: [UInt8]) async throws(SystemError) {
        let offset = length
        try await files.run { [file] () throws(SystemError) in try file.write(octets, at: offset) }
        length += UInt64(octets.count)
    }

    /// Flushes the part to disk, and returns a token to resume the download with. Without a strong validator, removes the part file.
    func token(for target: String) async -> ResumeToken? {
        guard canGoOn, let entityTag else {
            await remove()
            return nil
        }
        do throws(SystemError) {
            try await files.run { [file] () throws(SystemError) in try file.synchronize() }
        } catch {
            await remove()
            return nil
        }
        return ResumeToken(target: target, entityTag: entityTag, path: file.path, length: length, total: total)
    }

    func remove() async {
        // No later call needs this part file; if it cannot be removed, it is left.
        try? await files.run { [file] () throws(SystemError) in try FileMove.remove(file.path) }
    }

    /// Moves the complete file to its destination, after its content is on disk.
    func move(to destination: DownloadDestination, suggested: String) async throws(SystemError) -> String {
        try await files.run { [file] () throws(SystemError) in
            try file.synchronize()
            return try FileMove.move(file.path, to: destination, suggested: suggested)
        }
    }
}
