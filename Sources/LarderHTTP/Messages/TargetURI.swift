import Glibc
import HTTPMessage
import UpstreamTransport

/// The target of a request: an http or https URI (RFC 9110 §4.2, §7.1), in the form in which it is sent.
///
/// The host is in lower case. Bytes that a path or query may not contain (blanks, controls, bytes above ASCII, `"<>^`{|}\`) are
/// percent-encoded when the URI is parsed. Encoded bytes stay as they are. The fragment is kept apart and never sent.
public struct TargetURI: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is not a valid target URI.
    public enum Fault: Error, Equatable, Sendable {
        /// The scheme is not http or https, or it is missing and there is no base to resolve against.
        case scheme
        /// The URI has a name and password before the host. Credentials are configured separately (RFC 9110 §4.2.4).
        case userinfo
        /// The host is missing, or is not a name of A-labels or an IP address.
        case host
        case port
        /// The URI is longer than `TargetURI.lengthLimit` bytes.
        case tooLong
    }

    /// Maximum length in bytes; a longer text is rejected.
    public static let lengthLimit = 16 * 1024

    /// Whether the scheme is https.
    public var isSecure: Bool { origin.scheme == .https }
    /// The host in lower case; an IPv6 address has no brackets.
    public var host: String { origin.host }
    /// The port in the URI, or the scheme's default port.
    public var port: UInt16 { origin.port }
    /// The path, with its leading slash.
    public var path: String { parts.path }
    /// The query without its question mark; `nil` if the URI has no query. An empty query is not `nil`.
    public var query: String? { parts.query }
    /// The fragment, without its number sign.
    public var fragment: String? { parts.fragment }

    var origin: Origin { parts.origin }
    private let parts: Parts

    /// A class, so that copying a URI copies one reference.
    private final class Parts: Sendable {
        let origin: Origin
        let path: String
        let query: String?
        let fragment: String?

        init(_ origin: Origin, _ path: String, _ query: String?, _ fragment: String?) {
            self.origin = origin
            self.path = path
            self.query = query
            self.fragment = fragment
        }
    }

    /// Parses an absolute URI.
    public init(_ text: String) throws(Fault) {
        if text.utf8.count > Self.lengthLimit { throw .tooLong }
        if let plain = Self.plain(text) {
            self = plain
            return
        }
        let parts = URIReference(text.utf8)
        guard let scheme = parts.scheme, let authority = parts.authority else { throw .scheme }
        guard let isSecure = Self.isSecure(scheme) else { throw .scheme }
        try self.init(isSecure: isSecure, authority: authority, path: parts.path, query: parts.query, fragment: parts.fragment)
    }

    private init(
        isSecure: Bool, authority: ArraySlice<UInt8>, path: some Collection<UInt8>, query: ArraySlice<UInt8>?,
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
        let host = Self.lowercased(octets[read.host.range])
        self.init(
            Origin(scheme: isSecure ? .https : .http, host: host, port: read.port ?? (isSecure ? 443 : 80)),
            path: Self.path(path), query: query.map(Self.encoded), fragment: fragment.map(Self.text))
    }

    /// The fast path for most URIs, without copying the text first: a scheme and a host in lower case, and no byte that must be
    /// encoded or resolved.
    /// - Returns: `nil` for any other text, valid or not.
    private static func plain(_ text: String) -> TargetURI? {
        let octets = text.utf8.span
        let isSecure: Bool
        let start: Int
        if octets.begins(with: "https://") {
            (isSecure, start) = (true, 8)
        } else if octets.begins(with: "http://") {
            (isSecure, start) = (false, 7)
        } else {
            return nil
        }
        var pathStart = start
        while pathStart < octets.count, octets[pathStart] != ASCII.slash { pathStart += 1 }
        // The slow path reports the error of an invalid text.
        guard pathStart < octets.count, let read = try? Authority(parsing: start..<pathStart, in: octets),
            !octets.extracting(read.host.range).contains(where: { $0 >= 0x41 && $0 <= 0x5A }),
            let pathEnd = PercentEncoding.endOfPlainPath(octets, from: pathStart)
        else { return nil }
        var query: String?
        if pathEnd < octets.count {
            guard octets[pathEnd] == ASCII.question, PercentEncoding.isPlainQuery(octets.extracting((pathEnd + 1)...)) else {
                return nil
            }
            query = octets.extracting((pathEnd + 1)...).text
        }
        let port = read.port ?? (isSecure ? 443 : 80)
        return TargetURI(
            Origin(scheme: isSecure ? .https : .http, host: octets.extracting(read.host.range).text, port: port),
            path: octets.extracting(pathStart..<pathEnd).text, query: query, fragment: nil)
    }

    private init(_ origin: Origin, path: String, query: String?, fragment: String?) {
        parts = Parts(origin, path.utf8.first == ASCII.slash ? path : "/" + path, query, fragment)
    }

    /// Resolves a reference against this URI (RFC 3986 §5.2). A reference without a fragment does not inherit one.
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

    private static func path(_ octets: some Collection<UInt8>) -> String {
        if PercentEncoding.isPlainPath(octets) { return octets.isEmpty ? "/" : text(octets) }
        return text(URIReference.withoutDots(PercentEncoding.encoded(octets)))
    }

    private static func encoded(_ octets: some Sequence<UInt8>) -> String { text(PercentEncoding.encoded(octets)) }

    private static func text(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }

    /// The same URI with `encoded` appended to its query, before the fragment. An empty text changes nothing.
    public func addingQuery(_ encoded: String) -> TargetURI {
        if encoded.isEmpty { return self }
        let query = query.flatMap { $0.isEmpty ? nil : $0 + "&" + encoded } ?? encoded
        return with(path: path, query: query, fragment: fragment)
    }

    /// RFC 9110 §10.2.2: a redirect without a fragment keeps the fragment of the requested URI.
    func inheritingFragment(of other: TargetURI) -> TargetURI {
        fragment == nil ? with(path: path, query: query, fragment: other.fragment) : self
    }

    private func with(path: String, query: String?, fragment: String?) -> TargetURI {
        TargetURI(origin, path: path, query: query, fragment: fragment)
    }

    private static func isSecure(_ scheme: ArraySlice<UInt8>) -> Bool? {
        switch lowercased(scheme) {
        case "https": true
        case "http": false
        default: nil
        }
    }

    private static func lowercased(_ octets: ArraySlice<UInt8>) -> String {
        let isLower = octets.allSatisfy { $0 < 0x41 || $0 > 0x5A }
        return isLower ? text(octets) : text(octets).lowercased()
    }

    // MARK: Parts

    /// The scheme: `http` or `https`.
    public var scheme: String { isSecure ? "https" : "http" }

    /// Host and port as in the Host field (RFC 9110 §7.2): the scheme's default port is left out.
    public var authority: String {
        let name = host.utf8.contains(ASCII.colon) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// `authority` as bytes.
    func writeAuthority(into octets: inout [UInt8]) {
        let isIPv6 = host.utf8.contains(ASCII.colon)
        if isIPv6 { octets.append(UInt8(ascii: "[")) }
        octets += host.utf8
        if isIPv6 { octets.append(UInt8(ascii: "]")) }
        if port == (isSecure ? 443 : 80) { return }
        octets.append(ASCII.colon)
        octets.append(decimal: UInt64(port))
    }

    /// Path and query, in the form in which they are sent (RFC 9112 §3.2.1).
    public var originForm: String { query.map { path + "?" + $0 } ?? path }

    /// The URI without its fragment.
    public var description: String { "\(scheme)://\(authority)\(originForm)" }

    /// `description` without the query, which may hold secrets.
    public var descriptionWithoutQuery: String { "\(scheme)://\(authority)\(path)" }

    /// Whether scheme, host and port are equal (RFC 9110 §4.3.1).
    public func isSameOrigin(as other: TargetURI) -> Bool {
        origin == other.origin
    }

    public static func == (left: TargetURI, right: TargetURI) -> Bool {
        if left.parts === right.parts { return true }
        return left.origin == right.origin && left.path == right.path && left.query == right.query
            && left.fragment == right.fragment
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(path)
        hasher.combine(query)
        hasher.combine(fragment)
    }
}

extension Span<UInt8> {
    fileprivate func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        // The text is not empty, so the span has a base address.
        return withUnsafeBufferPointer { memcmp($0.baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0 }
    }

    fileprivate func contains(where isMeant: (UInt8) -> Bool) -> Bool {
        for index in 0..<count where isMeant(self[index]) { return true }
        return false
    }

    fileprivate var text: String { withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
}
