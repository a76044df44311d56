public import HTTPSerialization

/// Where a download is written. An existing file with the same name is left unchanged until the download is complete.
public struct DownloadDestination: Sendable {
    enum Place: Sendable {
        case file(String)
        case folder(String)
        case chosen(@Sendable (DownloadResponse) async throws -> DownloadDestination)
    }

    let place: Place
    /// Whether an existing file of the same name is replaced. If not, a download to a named file fails, and a download to a
    /// folder gets another name.
    public var replaces: Bool
    /// Whether missing folders are created.
    public var makesFolders: Bool

    /// Writes to this file.
    public static func file(_ path: String, replaces: Bool = true, makesFolders: Bool = false) -> DownloadDestination {
        DownloadDestination(place: .file(path), replaces: replaces, makesFolders: makesFolders)
    }

    /// Writes to a file in this folder, under the name that the response suggests (`SuggestedName`).
    public static func folder(_ path: String, replaces: Bool = false, makesFolders: Bool = false) -> DownloadDestination {
        DownloadDestination(place: .folder(path), replaces: replaces, makesFolders: makesFolders)
    }

    /// Writes where this closure says. It is called once, with the first response that is accepted, before a file is made. An error that
    /// it throws ends the download, with the code `download_move_failed`.
    public static func chosen(
        by choose: @escaping @Sendable (DownloadResponse) async throws -> DownloadDestination
    ) -> DownloadDestination {
        DownloadDestination(place: .chosen(choose), replaces: false, makesFolders: false)
    }

    /// A file or a folder.
    func resolved(_ response: DownloadResponse) async throws(SessionError) -> DownloadDestination {
        guard case .chosen(let choose) = place else { return self }
        let destination = try await SessionError.fromCaller(.downloadMoveFailed) { try await choose(response) }
        return try await destination.resolved(response)
    }

    /// The folder that holds the part file and later the complete file. The destination must be a file or a folder.
    var folder: String {
        switch place {
        case .folder(let path): return path.isEmpty ? "." : path
        case .file(let path):
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
            return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
        case .chosen: preconditionFailure("the destination is resolved first")
        }
    }
}

/// The head of a response to a download, for the choice of its destination.
public struct DownloadResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The fields of the head.
    public let fields: SessionFields
    /// The URI that the response came from, after all redirects.
    public let uri: TargetURI
    /// The length of the complete file, in bytes; `nil` if it is not known.
    public let length: UInt64?

    /// A safe name for the file (`SuggestedName`).
    public var suggestedName: String { SuggestedName.name(for: fields, uri) }
}

/// Which responses to a download are accepted. They are checked before a file is made.
public struct DownloadValidation: Sendable {
    /// The accepted statuses and media types.
    public var response: ResponseValidation
    /// Maximum length of the file in bytes; a longer one fails with `body_too_large`, if possible before the first byte is written.
    public var length: UInt64

    /// By default, every file with a status from 200 to 299 is accepted.
    public init(_ response: ResponseValidation = ResponseValidation(), length: UInt64 = .max) {
        self.response = response
        self.length = length
    }

    /// - Parameter total: the length of the complete file, if it is known.
    func check(_ head: ResponseChannel.Head, total: UInt64?) throws(SessionError) {
        let received = ReceivedHead(
            status: Int(head.status.code), contentTypes: SessionFields(head.fields).values(of: "Content-Type"))
        var response = response
        // The session requests the ranges of a file itself, so the caller's statuses apply to whole files only.
        if head.status.code == 206 { response.statuses = [] }
        if let fault = response.faults(of: received, hasBody: total != 0).first {
            throw SessionError(SessionError.Code(rawValue: fault.code.rawValue) ?? .unacceptableStatus, fault.detail)
        }
        if let total { try check(length: total) }
    }

    func check(length count: UInt64) throws(SessionError) {
        if count > length { throw SessionError(.bodyTooLarge, "the file has more than \(length) bytes") }
    }
}

/// A complete download.
public struct DownloadedFile: Sendable {
    /// The path of the file.
    public let path: String
    /// The length of the file, in bytes.
    public let length: UInt64
    /// The status of the response that brought the last part; 416 if no bytes were missing.
    public let status: Int
    /// The fields of the response that brought the last part.
    public let fields: SessionFields
    /// The URI that the file came from, after all redirects.
    public let uri: TargetURI
    /// How many of the file's bytes an earlier, interrupted call received.
    public let keptLength: UInt64
    /// Timings and counts of the exchanges.
    public let metrics: TransferMetrics
}

/// Resumes an interrupted download, also in another process. Created only if the entity has a strong validator (RFC 9110 §8.8.1):
/// without a validator, the missing bytes might be those of another version of the file.
public struct ResumeToken: Hashable, Codable, Sendable {
    /// The target of the request.
    public let target: String
    /// The strong entity tag, with its quotes; `nil` if the server sent none.
    public let entityTag: String?
    /// Without an entity tag: the time of the last modification as the server sent it, which is a strong validator here.
    public let lastModified: String?
    /// The path of the part file.
    public let path: String
    /// How many bytes of the part file are valid.
    public let length: UInt64
    /// The length of the complete file, in bytes; `nil` if it is not known.
    public let total: UInt64?

    init(target: String, entityTag: String?, lastModified: String? = nil, path: String, length: UInt64, total: UInt64?) {
        self.target = target
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.path = path
        self.length = length
        self.total = total
    }
}
