import HTTPMessage

/// A request method (RFC 9110 §9). Case-sensitive.
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
    /// The method's name, as it is sent.
    public let name: String
    let known: Method

    /// - Returns: `nil` if the name is not a token (RFC 9110 §5.6.2), and for CONNECT, which does not name a resource.
    public init?(_ name: String) {
        let octets = Array(name.utf8)
        guard !octets.isEmpty, octets.allSatisfy(ASCII.isTokenCharacter) else { return nil }
        let known = Method(octets.span)
        if known == .connect { return nil }
        self.name = name
        self.known = known
    }

    private init(_ known: Method) {
        name = "\(known.name)"
        self.known = known
    }

    /// GET (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(.get)
    /// HEAD (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(.head)
    /// POST (RFC 9110 §9.3.3).
    public static let post = HTTPMethod(.post)
    /// PUT (RFC 9110 §9.3.4).
    public static let put = HTTPMethod(.put)
    /// PATCH (RFC 5789).
    public static let patch = HTTPMethod(.patch)
    /// DELETE (RFC 9110 §9.3.5).
    public static let delete = HTTPMethod(.delete)
    /// OPTIONS (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(.options)

    /// Whether the method is safe (RFC 9110 §9.2.1). An unknown method is treated as unsafe.
    public var isSafe: Bool { known.isSafe }
    /// Whether the method is idempotent (RFC 9110 §9.2.2). An unknown method is treated as not idempotent.
    public var isIdempotent: Bool { known.isIdempotent }

    /// Whether a request without content still sends `Content-Length: 0` (RFC 9110 §8.6).
    var anticipatesContent: Bool { known == .post || known == .put || known == .patch }

    public var description: String { name }
    public static func == (left: HTTPMethod, right: HTTPMethod) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
