import HTTPMessage
import ProxyPolicy

/// The scheme, host and port of the server to which requests were sent.
package struct ObservedOrigin: Hashable, Sendable {
    package let scheme: RequestTarget.Scheme
    /// The host in lower case, without a final dot; an IPv6 address in brackets.
    package let host: String
    package let port: UInt16

    /// - Parameter authority: `host` or `host:port`, with or without user and password.
    /// - Returns: `nil` if no rule can name the host.
    init?(scheme: RequestTarget.Scheme, authority: Substring) {
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        let colon = place.lastIndex { $0 == ":" || $0 == "]" }.flatMap { place[$0] == ":" ? $0 : nil }
        var host = place[..<(colon ?? place.endIndex)].lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        // A star is valid in a pattern, but not in a host.
        guard !host.contains("*"), (try? HostPattern(host)) != nil else { return nil }
        let usual: UInt16 = scheme == .https ? 443 : 80
        let written = colon.map { place[place.index(after: $0)...] } ?? ""
        guard let port = written.isEmpty ? usual : UInt16(written), port > 0 else { return nil }
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }

    var isUsualPort: Bool { port == (scheme == .https ? 443 : 80) }

    /// The origin as `https://host:port`, without the scheme's default port.
    var text: String { "\(scheme == .https ? "https" : "http")://\(host)\(isUsualPort ? "" : ":\(port)")" }
}

/// A request that a proxy received. The query is left out, because it may contain secrets and learned rules do not match queries.
package struct ObservedRequest: Hashable, Sendable {
    /// The mark that replaces a secret in a path: `SecretMark.canonical`.
    package static let secretMark = "{secret}"

    package let origin: ObservedOrigin
    package let method: String
    /// The path as the client sent it.
    package let path: String

    /// - Parameter url: `http://…` or `https://…`, with `secretMark` in place of each secret.
    /// - Returns: `nil` if the text is not an http or https URL, or if no rule can name its host or its method.
    package init?(method: String, url: String) {
        guard let separator = url.firstRange(ofText: "://") else { return nil }
        let scheme: RequestTarget.Scheme
        switch url[..<separator.lowerBound].lowercased() {
        case "http": scheme = .http
        case "https": scheme = .https
        default: return nil
        }
        let rest = url[separator.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        guard let origin = ObservedOrigin(scheme: scheme, authority: authority), Self.isMatchable(method) else { return nil }
        self.origin = origin
        self.method = method
        path = authority.endIndex == rest.endIndex ? "/" : String(rest[authority.endIndex...])
    }

    /// Whether a rule can name this method. A rule cannot name a well-known method in another case, such as `get`.
    private static func isMatchable(_ method: String) -> Bool {
        guard RuleCondition.MethodName(method) != nil else { return false }
        let known = Method.allCases.filter { $0 != .other }.map { "\($0.name)" }
        return known.contains(method) || !known.contains(method.uppercased())
    }
}

/// A tunnel whose requests Larder could not see.
package struct ObservedTunnel: Hashable, Sendable {
    let origin: ObservedOrigin
    /// Whether the client sent something other than TLS.
    let isClearText: Bool

    /// - Parameter authority: the target of the CONNECT request.
    package init?(authority: String, isClearText: Bool) {
        guard let origin = ObservedOrigin(scheme: .https, authority: authority[...]) else { return nil }
        self.origin = origin
        self.isClearText = isClearText
    }

    package var port: UInt16 { origin.port }
}

extension String {
    /// Finds the first occurrence of a text. The standard library can do this only with Foundation or a regular expression.
    func firstRange(ofText text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
