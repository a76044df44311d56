import EventLoop
import HTTPMessage

/// The part of a download that is on disk, with the validator and total length of the complete file. The file is made when the first
/// response has been accepted.
struct DownloadPart {
    /// A strong validator (RFC 9110 §8.8.1), as it is sent in If-Range.
    enum Validator: Equatable {
        case entityTag(String)
        case lastModified(String)

        var text: String {
            switch self {
            case .entityTag(let text), .lastModified(let text): text
            }
        }
    }

    private var file: OpenFile?
    private let files: FileThread
    private(set) var length: UInt64
    /// How many of the part's bytes an earlier call wrote.
    private(set) var keptLength: UInt64
    /// The strong validator of the entity that the part belongs to, or `nil`.
    private(set) var validator: Validator?
    private(set) var total: UInt64?
    /// Where the complete file goes, once it is known.
    var destination: DownloadDestination?

    /// A part without a file.
    init(_ files: FileThread) {
        self.init(nil, files, length: 0, validator: nil, total: nil)
    }

    private init(_ file: OpenFile?, _ files: FileThread, length: UInt64, validator: Validator?, total: UInt64?) {
        self.file = file
        self.files = files
        self.length = length
        keptLength = length
        self.validator = validator
        self.total = total
    }

    var hasFile: Bool { file != nil }

    /// Makes an empty part file under an unused name. The first call for a folder removes the parts that killed processes have left.
    mutating func makeFile(in folder: String) async throws(SystemError) {
        file = try await files.run { [files] () throws(SystemError) in
            if files.isFirstUse(of: folder) { PartNames.sweep(folder) }
            return try PartNames.make(in: folder)
        }
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
        let validator: Validator? =
            if let tag = token.entityTag { .entityTag(tag) } else { token.lastModified.map { .lastModified($0) } }
        return DownloadPart(
            file, files, length: length, validator: length > 0 ? validator : nil, total: length > 0 ? token.total : nil)
    }

    /// Whether the part can be resumed.
    var canGoOn: Bool { validator != nil && length > 0 }

    /// Whether a response to a request with If-Range is about the part's entity.
    func matches(_ fields: Fields) -> Bool {
        switch validator {
        case .entityTag(let tag): fields.strongEntityTag == tag
        // The response is newer than the one that showed that the date is strong. With an entity tag, it is another entity.
        case .lastModified(let date): fields.entityTagLine == nil && SessionFields(fields).values(of: "Last-Modified") == [date]
        case nil: false
        }
    }

    /// Discards the part's content.
    mutating func beginAnew() async throws(SystemError) {
        if let file { try await files.run { () throws(SystemError) in try file.truncate(to: 0) } }
        length = 0
        keptLength = 0
        validator = nil
        total = nil
    }

    /// Records the validator and total length from a response.
    mutating func note(_ validator: Validator?, total: UInt64?) {
        self.validator = validator
        self.total = total ?? self.total
    }

    mutating func append(_ octets: [UInt8]) async throws(SystemError) {
        guard let file else { preconditionFailure("the file is made before its first bytes") }
        let offset = length
        try await files.run { () throws(SystemError) in try file.write(octets, at: offset) }
        length += UInt64(octets.count)
    }

    /// Flushes the part to disk, and returns a token to resume the download with. Without a strong validator, removes the part file.
    func token(for target: String) async -> ResumeToken? {
        guard canGoOn, let validator, let file else {
            await remove()
            return nil
        }
        let path: String
        do throws(SystemError) {
            path = try await files.run { () throws(SystemError) in
                try file.synchronize()
                return try PartNames.keep(file.path)
            }
        } catch {
            await remove()
            return nil
        }
        var entityTag: String?
        var lastModified: String?
        switch validator {
        case .entityTag(let tag): entityTag = tag
        case .lastModified(let date): lastModified = date
        }
        return ResumeToken(
            target: target, entityTag: entityTag, lastModified: lastModified, path: path, length: length, total: total)
    }

    func remove() async {
        guard let file else { return }
        // No later call needs this part file; if it cannot be removed, it is left.
        try? await files.run { () throws(SystemError) in try FileMove.remove(file.path) }
    }

    /// Moves the complete file to its destination, after its content is on disk.
    func move(to destination: DownloadDestination, suggested: String) async throws(SystemError) -> String {
        guard let file else { preconditionFailure("a complete download has a file") }
        return try await files.run { () throws(SystemError) in
            try file.synchronize()
            return try FileMove.move(file.path, to: destination, suggested: suggested)
        }
    }
}
