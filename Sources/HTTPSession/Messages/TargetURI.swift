import HTTPMessage

/// What a request is for: an http or https URI (RFC 9110 §4.2, §7.1), in the form in which it is sent.
///
/// The host is in lower case. What may not stand in a path or query as it is (blanks, controls, octets above ASCII, `"<>^`{|}\`)
/// is percent-encoded when it is read; what is encoded already stays. The fragment is kept apart and never sent.
public struct TargetURI: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no such URI.
    public enum Fault: Error, Equatable, Sendable {
        /// Neither http nor https, or none at all where nothing stands to be resolved against.
        case scheme
        /// A name and password before the host: credentials have their own place (RFC 9110 §4.2.4).
        case userinfo
        /// No host, or what is no name in A-labels and no address.
        case host
        case port
        /// Longer than `TargetURI.lengthLimit` octets.
        case tooLong
    }

    /// Octets of a URI; what is longer is none.
    public static let lengthLimit = 16 * 1024

    /// https, and not http.
    public let isSecure: Bool
    /// In lower case; an IPv6 address without brackets.
    public let host: String
    /// As written, or the scheme's own.
    public let port: UInt16
    /// With its leading slash.
    public let path: String
    /// Without its question mark; `nil` where there is none, which differs from an empty one.
    public let query: String?
    /// Without its number sign.
    public let fragment: String?

    /// Reads an absolute URI.
    public init(_ text: String) throws(Fault) {
        if text.utf8.count > Self.lengthLimit { throw .tooLong }
        let parts = URIReference(text.utf8)
        guard let scheme = parts.scheme, let authority = parts.authority else { throw .scheme }
        guard let isSecure = Self.isSecure(scheme) else { throw .scheme }
        try self.init(isSecure: isSecure, authority: authority, path: parts.path, query: parts.query, fragment: parts.fragment)
    }

    private init(
        isSecure: Bool, authority: ArraySlice<UInt8>, path: some Sequence<UInt8>, query: ArraySlice<UInt8>?,
        fragment: ArraySlice<UInt8>?
    ) throws(Fault) {
        let octets = Array(authority)
        let read: Authority
        do throws(AuthorityFault) { read = try Authority(parsing: 0..<octets.count, in: octets.span) } catch {
            switch error {
            case .userinfo: throw .userinfo
            case .malformedPort: throw .port
            case .emptyHost, .malformedHost: throw .host
            }
        }
        let host = String(decoding: octets[read.host.range], as: UTF8.self).lowercased()
        self.init(
            isSecure: isSecure, host: host, port: read.port ?? (isSecure ? 443 : 80),
            path: Self.path(path), query: query.map(Self.encoded), fragment: fragment.map(Self.text))
    }

    private init(isSecure: Bool, host: String, port: UInt16, path: String, query: String?, fragment: String?) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path.utf8.first == ASCII.slash ? path : "/" + path
        self.query = query
        self.fragment = fragment
    }

    /// The URI that a reference means here (RFC 3986 §5.2). A reference without a fragment takes none over.
    public func resolving(_ reference: String) throws(Fault) -> TargetURI {
        if reference.utf8.count > Self.lengthLimit { throw .tooLong }
        let parts = URIReference(reference.utf8)
        if let scheme = parts.scheme {
            guard let isSecure = Self.isSecure(scheme), let authority = parts.authority else { throw .scheme }
            return try TargetURI(
                isSecure: isSecure, authority: authority, path: parts.path, query: parts.query, fragment: parts.fragment)
        }
        if let authority = parts.authority {
            return try TargetURI(
                isSecure: isSecure, authority: authority, path: parts.path, query: parts.query, fragment: parts.fragment)
        }
        if parts.path.isEmpty {
            return with(path: path, query: parts.query.map(Self.encoded) ?? query, fragment: parts.fragment.map(Self.text))
        }
        let joined = parts.path.first == ASCII.slash ? Array(parts.path) : URIReference.merged(path.utf8, parts.path)
        return with(path: Self.path(joined), query: parts.query.map(Self.encoded), fragment: parts.fragment.map(Self.text))
    }

    private static func path(_ octets: some Sequence<UInt8>) -> String {
        text(URIReference.withoutDots(PercentEncoding.encoded(octets)))
    }

    private static func encoded(_ octets: some Sequence<UInt8>) -> String { text(PercentEncoding.encoded(octets)) }

    private static func text(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }

    /// The same with more behind its query, before the fragment. Nothing is added for an empty text.
    public func addingQuery(_ encoded: String) -> TargetURI {
        if encoded.isEmpty { return self }
        let query = query.flatMap { $0.isEmpty ? nil : $0 + "&" + encoded } ?? encoded
        return with(path: path, query: query, fragment: fragment)
    }

    /// RFC 9110 §10.2.2: a redirect without a fragment keeps the one of what was asked for.
    func inheritingFragment(of other: TargetURI) -> TargetURI {
        fragment == nil ? with(path: path, query: query, fragment: other.fragment) : self
    }

    private func with(path: String, query: String?, fragment: String?) -> TargetURI {
        TargetURI(isSecure: isSecure, host: host, port: port, path: path, query: query, fragment: fragment)
    }

    private static func isSecure(_ scheme: ArraySlice<UInt8>) -> Bool? {
        switch text(scheme).lowercased() {
        case "https": true
        case "http": false
        default: nil
        }
    }

    // MARK: Parts

    /// `http` or `https`.
    public var scheme: String { isSecure ? "https" : "http" }

    /// Host and port as the Host field has them (RFC 9110 §7.2): the scheme's own port is left out.
    public var authority: String {
        let name = host.utf8.contains(ASCII.colon) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Path and query, as they are sent (RFC 9112 §3.2.1).
    public var originForm: String { query.map { path + "?" + $0 } ?? path }

    /// Everything but the fragment.
    public var description: String { "\(scheme)://\(authority)\(originForm)" }

    /// `description` without the query, which may hold secrets.
    public var descriptionWithoutQuery: String { "\(scheme)://\(authority)\(path)" }

    /// Whether scheme, host and port are the same (RFC 9110 §4.3.1).
    public func isSameOrigin(as other: TargetURI) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }

    var origin: Origin { Origin(scheme: isSecure ? .https : .http, host: host, port: port) }
}
