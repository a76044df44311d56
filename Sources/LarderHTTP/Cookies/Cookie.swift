import HTTPMessage

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

    /// A cookie for the host of a URI.
    /// - Parameters:
    ///   - name: a token (RFC 9110 §5.6.2).
    ///   - value: without control characters, semicolons, and blanks at its ends.
    ///   - uri: the cookie is for the host of this URI.
    ///   - path: the cookie is sent with requests for this path and the paths below it.
    ///   - includesSubdomains: whether the cookie is also for the subdomains of the host.
    ///   - expires: in seconds since 1970; `nil` for a session cookie.
    ///   - isSecure: whether the cookie is sent only over https; `nil`: if the URI is https.
    ///   - isHTTPOnly: for programs that show the cookie to scripts.
    /// - Returns: `nil` if a jar would reject the same cookie in a response from the URI.
    public init?(
        _ name: String, _ value: String, for uri: TargetURI, path: String = "/", includesSubdomains: Bool = false,
        expires: Int64? = nil, isSecure: Bool? = nil, isHTTPOnly: Bool = false
    ) {
        let isSecure = isSecure ?? uri.isSecure
        guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isTokenCharacter), path.hasPrefix("/"),
            !(value + path).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: ";") }),
            value.trimmingBlanks == value, name.utf8.count + value.utf8.count <= SetCookie.lengthLimit
        else { return nil }
        if isSecure, !uri.isSecure { return nil }
        // Only a registered name has subdomains that one site owns.
        if includesSubdomains, PublicSuffixes.registrableDomain(of: uri.host) == nil { return nil }
        let prefix = name.lowercased()
        if prefix.hasPrefix("__secure-"), !isSecure { return nil }
        if prefix.hasPrefix("__host-"), !isSecure || includesSubdomains || path != "/" { return nil }
        let now = Timestamp.now.milliseconds
        self.init(
            name: name, value: value, domain: uri.host, isHostOnly: !includesSubdomains, path: path, expires: expires,
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, created: now, lastUsed: now)
    }

    init(
        name: String, value: String, domain: String, isHostOnly: Bool, path: String, expires: Int64?, isSecure: Bool,
        isHTTPOnly: Bool, created: Int64, lastUsed: Int64
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.created = created
        self.lastUsed = lastUsed
    }

    /// Decodes a cookie. A cookie that no response could have set is a `DecodingError`: the session sends cookies as they are.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            name: values.decode(String.self, forKey: .name), value: values.decode(String.self, forKey: .value),
            domain: values.decode(String.self, forKey: .domain), isHostOnly: values.decode(Bool.self, forKey: .isHostOnly),
            path: values.decode(String.self, forKey: .path), expires: values.decodeIfPresent(Int64.self, forKey: .expires),
            isSecure: values.decode(Bool.self, forKey: .isSecure), isHTTPOnly: values.decode(Bool.self, forKey: .isHTTPOnly),
            created: values.decode(Int64.self, forKey: .created), lastUsed: values.decode(Int64.self, forKey: .lastUsed))
        guard SetCookie.permits(name: name, value: value), path.hasPrefix("/"), !domain.isEmpty else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a cookie"))
        }
    }

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
