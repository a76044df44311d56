/// Where a download is written. An existing file with the same name is left unchanged until the download is complete.
public struct DownloadDestination: Sendable {
    enum Place: Sendable {
        case file(String)
        case folder(String)
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

    /// The folder that holds the part file and later the complete file.
    var folder: String {
        switch place {
        case .folder(let path): return path.isEmpty ? "." : path
        case .file(let path):
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
            return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
        }
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
    public let fields: HTTPFields
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
    /// The strong entity tag, with its quotes.
    public let entityTag: String
    /// The path of the part file.
    public let path: String
    /// How many bytes of the part file are valid.
    public let length: UInt64
    /// The length of the complete file, in bytes; `nil` if it is not known.
    public let total: UInt64?
}
