/// What a rule or a session wants the cache to do with a request; the six policies of `NSURLRequest`.
public enum CachePolicy: UInt8, Sendable, CaseIterable {
    /// As RFC 9111 says.
    case useProtocol
    /// Do not look into the cache; the answer is stored.
    case reload
    /// As `reload`, and ask the caches on the way to do the same (`Cache-Control: no-cache`).
    case reloadAll
    /// Serve what is stored whatever its age, and load only what is not there.
    case storedElseLoad
    /// Serve what is stored whatever its age, and never load.
    case storedOnly
    /// Never serve what is stored without asking the origin whether it still holds.
    case revalidate

    /// The word for it in settings.
    public var word: StaticString {
        switch self {
        case .useProtocol: "use_protocol"
        case .reload: "reload"
        case .reloadAll: "reload_all"
        case .storedElseLoad: "stored_else_load"
        case .storedOnly: "stored_only"
        case .revalidate: "revalidate"
        }
    }
}

/// Which responses that bear Set-Cookie may be stored (RFC 9111 §7.3 leaves it to us).
public enum SetCookieStorage: UInt8, Sendable {
    /// Those to which the origin server gave an explicit lifetime.
    case explicit
    case never
    /// On a heuristic or a rule's lifetime too: only an unsafe rule says so.
    case always
}
