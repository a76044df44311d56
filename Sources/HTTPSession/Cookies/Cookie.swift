/// A cookie as it is kept (RFC 6265 §5.3).
public struct Cookie: Hashable, Codable, Sendable {
    public let name: String
    public let value: String
    /// In lower case, without a leading dot.
    public let domain: String
    /// Only the domain itself gets it, and none below.
    public let isHostOnly: Bool
    public let path: String
    /// In seconds since 1970; `nil` for one that ends with its session.
    public let expires: Int64?
    public let isSecure: Bool
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
