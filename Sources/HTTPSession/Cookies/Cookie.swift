/// A stored cookie (RFC 6265 §5.3).
public struct Cookie: Hashable, Codable, Sendable {
    /// Its name.
    public let name: String
    /// Its value.
    public let value: String
    /// In lower case, without a leading dot.
    public let domain: String
    /// Sent only to the domain itself, not to its subdomains.
    public let isHostOnly: Bool
    /// Sent with requests for this path and the paths below it.
    public let path: String
    /// In seconds since 1970; `nil` for a session cookie.
    public let expires: Int64?
    /// Sent only over https.
    public let isSecure: Bool
    /// Whether page scripts must not read it; Larder runs no scripts.
    public let isHTTPOnly: Bool
    /// In milliseconds since 1970.
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
    /// The cookie without its value.
    public var description: String { "\(name) of \(domain)\(path)" }
}
