/// A cookie as it is kept (RFC 6265 §5.3).
public struct Cookie: Hashable, Codable, Sendable {
    /// What it is called.
    public let name: String
    /// What it says.
    public let value: String
    /// In lower case, without a leading dot.
    public let domain: String
    /// Only the domain itself gets it, and none below.
    public let isHostOnly: Bool
    /// Requests for this path, and for those below it, get it.
    public let path: String
    /// In seconds since 1970; `nil` for one that ends with its session.
    public let expires: Int64?
    /// Only https gets it.
    public let isSecure: Bool
    /// Whether scripts of pages were not to see it; nothing here runs any.
    public let isHTTPOnly: Bool
    /// In milliseconds since 1970.
    public let created: Int64
    var lastUsed: Int64

    var key: Key { Key(name: name, domain: domain, path: path) }

    /// Cookies with the same are one (RFC 6265 §5.3, step 11).
    struct Key: Hashable {
        let name: String
        let domain: String
        let path: String
    }
}

extension Cookie: CustomStringConvertible {
    /// Without the value.
    public var description: String { "\(name) of \(domain)\(path)" }
}
