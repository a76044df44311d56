import EventLoop
import HTTPMessage

/// The part of a download that is on the disk, and what is known of the whole.
struct DownloadPart {
    let file: OpenFile
    private let files: FileThread
    private(set) var length: UInt64
    /// How many bytes of it an earlier call has left.
    private(set) var keptLength: UInt64
    /// Of the entity to which the part belongs: strong, or `nil`.
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

    /// An empty one, under a name that nobody else has.
    static func begin(in folder: String, _ files: FileThread) async throws(SystemError) -> DownloadPart {
        let name = ".larder-" + String(UInt64.random(in: 0 ... .max), radix: 16) + ".part"
        let file = try await files.run { () throws(SystemError) in try OpenFile.making(folder + "/" + name) }
        return DownloadPart(file, files, length: 0, entityTag: nil, total: nil)
    }

    /// What a token names, as far as it is there; what stands behind it is cut off.
    static func take(_ token: ResumeToken, _ files: FileThread) async throws(SystemError) -> DownloadPart {
        let (file, length) = try await files.run { () throws(SystemError) in
            let file = try OpenFile.continuing(token.path)
            let length = try file.length
            // Less than was said to be there: nobody knows what happened to it.
            let kept = length < token.length ? 0 : token.length
            try file.truncate(to: kept)
            return (file, kept)
        }
        return DownloadPart(
            file, files, length: length, entityTag: length > 0 ? token.entityTag : nil, total: length > 0 ? token.total : nil)
    }

    /// Whether what is there can be gone on with.
    var canGoOn: Bool { entityTag != nil && length > 0 }

    /// Nothing of it is good any more.
    mutating func beginAnew() async throws(SystemError) {
        try await files.run { [file] () throws(SystemError) in try file.truncate(to: 0) }
        length = 0
        keptLength = 0
        entityTag = nil
        total = nil
    }

    /// What a response says of the whole.
    mutating func note(entityTag: String?, total: UInt64?) {
        self.entityTag = entityTag
        self.total = total ?? self.total
    }

    mutating func append(_ octets: [UInt8]) async throws(SystemError) {
        let offset = length
        try await files.run { [file] () throws(SystemError) in try file.write(octets, at: offset) }
        length += UInt64(octets.count)
    }

    /// What goes on from here, once everything is on the disk. Without a strong validator the part is removed.
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
        // It is a part that nobody asks for again; where it cannot be removed, it is left.
        try? await files.run { [file] () throws(SystemError) in try FileMove.remove(file.path) }
    }

    /// Puts the whole in its place: on the disk first, then under its name.
    func move(to destination: DownloadDestination, suggested: String) async throws(SystemError) -> String {
        try await files.run { [file] () throws(SystemError) in
            try file.synchronize()
            return try FileMove.move(file.path, to: destination, suggested: suggested)
        }
    }
}
