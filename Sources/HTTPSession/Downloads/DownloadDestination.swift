/// Where a download goes. What has that name is not touched before the whole is there.
public struct DownloadDestination: Sendable {
    enum Place: Sendable {
        case file(String)
        case folder(String)
    }

    let place: Place
    /// Whether a file that has the name gives way. Else the download fails, or takes another name in a folder.
    public var replaces: Bool
    /// Whether folders that are missing are made.
    public var makesFolders: Bool

    /// This file.
    public static func file(_ path: String, replaces: Bool = true, makesFolders: Bool = false) -> DownloadDestination {
        DownloadDestination(place: .file(path), replaces: replaces, makesFolders: makesFolders)
    }

    /// A file in this folder, by the name that the response suggests (`SuggestedName`).
    public static func folder(_ path: String, replaces: Bool = false, makesFolders: Bool = false) -> DownloadDestination {
        DownloadDestination(place: .folder(path), replaces: replaces, makesFolders: makesFolders)
    }

    /// Where the file will be, and the part of it before.
    var folder: String {
        switch place {
        case .folder(let path): return path.isEmpty ? "." : path
        case .file(let path):
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
            return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
        }
    }
}

/// A file that was downloaded whole.
public struct DownloadedFile: Sendable {
    /// Where it is.
    public let path: String
    /// In bytes.
    public let length: UInt64
    /// Of the response that brought its last part; 416 where nothing was missing any more.
    public let status: Int
    /// Of the response that brought its last part.
    public let fields: HTTPFields
    /// Whence it came, after all redirects.
    public let uri: TargetURI
    /// How many bytes were there before this call, and were kept.
    public let keptLength: UInt64
    /// What the exchanges have met.
    public let metrics: TransferMetrics
}

/// A download that broke off, so that it can be gone on with, also by another process. Made only where the entity has a strong
/// validator (RFC 9110 §8.8.1): no other says that two parts belong together.
public struct ResumeToken: Hashable, Codable, Sendable {
    /// What was asked for.
    public let target: String
    /// The strong entity tag, with its quotes.
    public let entityTag: String
    /// The file that has the part.
    public let path: String
    /// How many bytes of it are good.
    public let length: UInt64
    /// Of the whole; `nil` where it is not known.
    public let total: UInt64?
}
