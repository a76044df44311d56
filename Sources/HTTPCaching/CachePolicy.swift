/// How the cache handles a request, as a rule or a session sets it: the six policies of `NSURLRequest`.
public enum CachePolicy: UInt8, Sendable, CaseIterable {
    /// Handle the request as RFC 9111 says.
    case useProtocol
    /// Do not use a stored response; store the new one.
    case reload
    /// Like `reload`, and ask caches along the path to do the same (`Cache-Control: no-cache`).
    case reloadAll
    /// Use a stored response of any age; fetch only if none is stored.
    case storedElseLoad
    /// Use a stored response of any age; never fetch.
    case storedOnly
    /// Validate a stored response with the origin server before every use.
    case revalidate

    /// The policy's name in settings.
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

/// Which responses with Set-Cookie may be stored (RFC 9111 §7.3 leaves this to the cache).
public enum SetCookieStorage: UInt8, Sendable {
    /// Responses with an explicit lifetime from the origin server.
    case explicit
    case never
    /// Also responses whose lifetime is heuristic or from a rule. Only an unsafe rule sets this value.
    case always
}
