/// A stored cookie (RFC 6265 §5.3).
public struct Cookie: Hashable, Codable, Sendable {
    /// The cookie's name.
    public let name: String
    /// The cookie's value.
    public let value: String
    /// The domain, in lower case and without a leading dot.
    public let domain: String
    /// Whether the cookie is sent only to the domain itself, not to its subdomains.
    public let isHostOnly: Bool
    /// The cookie is sent with requests for this path and the paths below it.
    public let path: String
    /// The expiry time, in seconds since 1970; `nil` for a session cookie.
    public let expires: Int64?
    /// Whether the cookie is sent only over https.
    public let isSecure: Bool
    /// Whether the server forbids page scripts to read the cookie (HttpOnly). Larder runs no scripts.
    public let isHTTPOnly: Bool
    /// The creation time, in milliseconds since 1970.
    public let created: Int64
    var lastUsed: Int64

    var key: Key { Key(name: name, domain: domain, path: path) }

    /// Cookies with equal keys replace each other (RFC 6265 §5.3, step 11).
    struct Key: Hashable {
        let name: String
        let domain: String
        let path: String
    }
}

extension Cookie: CustomStringConvertible {
    /// A description of the cookie without its value, which may be secret.
    public var description: String { "\(name) of \(domain)\(path)" }
}
