import EventLoop
import HTTPMessage

/// Stores the cookies of a session (RFC 6265). A session without a jar neither stores nor sends cookies.
///
/// Beyond the RFC, cookies for public suffixes are rejected. `Secure` cookies are accepted only from https. A cookie whose name
/// begins with `__Secure-` or `__Host-` must meet the requirements of that prefix.
public final class CookieJar: Sendable {
    /// How many cookies are stored. Above these limits, expired cookies are evicted first, then the least recently used ones.
    public struct Limits: Equatable, Sendable {
        /// The maximum number of cookies over all domains.
        public var cookies = 3000
        /// The maximum number of cookies for each domain.
        public var cookiesPerDomain = 50

        /// The default limits.
        public init() {}
    }

    private let cookies: Guarded<[Cookie.Key: Cookie]>
    private let limits: Limits

    /// - Parameters:
    ///   - cookies: the content of an earlier jar.
    ///   - limits: how many cookies are stored.
    public init(_ cookies: [Cookie] = [], limits: Limits = Limits()) {
        self.limits = limits
        self.cookies = Guarded(Dictionary(cookies.map { ($0.key, $0) }, uniquingKeysWith: { $1 }))
    }

    /// All cookies, oldest first; expired ones are left out.
    public var all: [Cookie] { cookies(at: .now) }

    package func cookies(at now: Timestamp) -> [Cookie] {
        cookies.withLock { cookies in
            cookies.values.filter { !$0.hasExpired(at: now) }.sorted { $0.created < $1.created }
        }
    }

    /// The cookies that a request for this URI would send, in that order (RFC 6265 §5.4).
    public func cookies(for uri: TargetURI) -> [Cookie] { cookies(for: uri, at: .now) }

    /// Stores a cookie, in place of a cookie with the same name, domain and path. An expired cookie only removes that cookie.
    public func set(_ cookie: Cookie) { keep(cookie, at: .now) }

    /// Removes the cookie with this cookie's name, domain and path.
    /// - Returns: whether there was one.
    @discardableResult
    public func remove(_ cookie: Cookie) -> Bool { cookies.withLock { $0.removeValue(forKey: cookie.key) != nil } }

    /// Removes the cookies for which the closure returns `true`.
    /// - Returns: how many.
    @discardableResult
    public func remove(where isMeant: (Cookie) -> Bool) -> Int {
        // The closure is the caller's, so it runs outside the lock.
        let meant = cookies.withLock { Array($0.values) }.filter(isMeant)
        return cookies.withLock { cookies in meant.reduce(0) { $0 + (cookies.removeValue(forKey: $1.key) == nil ? 0 : 1) } }
    }

    /// Removes all cookies.
    public func removeAll() { cookies.withLock { $0 = [:] } }

    /// Removes the session cookies; call it when the user ends a session.
    public func removeSessionCookies() { cookies.withLock { cookies in cookies = cookies.filter { $0.value.expires != nil } } }

    // MARK: Receiving

    func store(_ fields: SessionFields, from uri: TargetURI, at now: Timestamp = .now) {
        if fields.contains(.setCookie) { keep(fields.values(of: "Set-Cookie"), from: uri, at: now) }
    }

    /// Stores the cookies of these Set-Cookie values.
    package func keep(_ values: [String], from uri: TargetURI, at now: Timestamp) {
        for value in values {
            guard let received = SetCookie(value), let cookie = accepted(received, from: uri, at: now) else { continue }
            keep(cookie, at: now)
        }
    }

    /// The cookie to store for a received Set-Cookie field (RFC 6265 §5.3); `nil` if the cookie is rejected.
    private func accepted(_ received: SetCookie, from uri: TargetURI, at now: Timestamp) -> Cookie? {
        var domain = uri.host
        if let wanted = received.domain, wanted != uri.host {
            guard Self.domainMatches(uri.host, wanted), PublicSuffixes.permits(host: uri.host, cookiesFor: wanted) else {
                return nil
            }
            domain = wanted
        }
        if received.isSecure, !uri.isSecure { return nil }
        let path = received.path ?? Self.defaultPath(of: uri)
        // Cookie names are case-sensitive, but these prefixes are matched without regard to case.
        let name = received.name.lowercased()
        if name.hasPrefix("__secure-"), !received.isSecure { return nil }
        if name.hasPrefix("__host-"), !received.isSecure || received.domain != nil || received.path != "/" { return nil }
        var expires = received.expires
        if let maxAge = received.maxAge {
            let (sum, overflow) = now.seconds.addingReportingOverflow(maxAge)
            expires = maxAge <= 0 ? 0 : overflow ? .max : sum
        }
        return Cookie(
            name: received.name, value: received.value, domain: domain, isHostOnly: received.domain == nil, path: path,
            expires: expires,
            isSecure: received.isSecure, isHTTPOnly: received.isHTTPOnly, created: now.milliseconds, lastUsed: now.milliseconds)
    }

    private func keep(_ cookie: Cookie, at now: Timestamp) {
        cookies.withLock { cookies in
            if cookie.hasExpired(at: now) {
                cookies[cookie.key] = nil
                return
            }
            // A cookie that is set again keeps its creation time. A new cookie gets a later creation time than all others, even
            // within the same millisecond.
            let newest = cookies.values.lazy.map(\.created).max() ?? 0
            cookies[cookie.key] = cookie.created(cookies[cookie.key]?.created ?? max(cookie.created, newest + 1))
            Self.evict(&cookies, limits.cookiesPerDomain, at: now) { $0.domain == cookie.domain }
            Self.evict(&cookies, limits.cookies, at: now) { _ in true }
        }
    }

    /// Evicts expired cookies first, then the least recently used ones.
    private static func evict(
        _ cookies: inout [Cookie.Key: Cookie], _ limit: Int, at now: Timestamp, where isMeant: (Cookie) -> Bool
    ) {
        guard cookies.count > limit else { return }
        let meant = cookies.values.filter(isMeant)
        guard meant.count > limit else { return }
        let order = meant.sorted { left, right in
            let (first, second) = (left.hasExpired(at: now), right.hasExpired(at: now))
            return first == second ? left.lastUsed < right.lastUsed : first
        }
        for cookie in order.prefix(meant.count - limit) { cookies[cookie.key] = nil }
    }

    // MARK: Sending

    /// The value of the Cookie field for a request (RFC 6265 §5.4); `nil` if no cookie matches.
    package func value(for uri: TargetURI, at now: Timestamp = .now) -> String? {
        let matching = cookies(for: uri, at: now)
        if matching.isEmpty { return nil }
        cookies.withLock { cookies in for cookie in matching { cookies[cookie.key]?.lastUsed = now.milliseconds } }
        return matching.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    private func cookies(for uri: TargetURI, at now: Timestamp) -> [Cookie] {
        let matching = cookies.withLock { cookies in cookies.values.filter { $0.isFor(uri) && !$0.hasExpired(at: now) } }
        return matching.sorted { left, right in
            let (first, second) = (left.path.utf8.count, right.path.utf8.count)
            return first == second ? left.created < right.created : first > second
        }
    }

    /// Whether a cookie's domain matches the host (RFC 6265 §5.1.3). An IP address has no subdomains.
    static func domainMatches(_ host: String, _ domain: String) -> Bool {
        if host == domain { return true }
        let octets = Array(host.utf8)
        return host.hasSuffix("." + domain) && IPAddress(octets.span) == nil
    }

    /// The path of a cookie that has no Path attribute (RFC 6265 §5.1.4).
    private static func defaultPath(of uri: TargetURI) -> String {
        guard let slash = uri.path.lastIndex(of: "/"), slash != uri.path.startIndex else { return "/" }
        return String(uri.path[..<slash])
    }
}

extension Cookie {
    func hasExpired(at now: Timestamp) -> Bool { expires.map { $0 <= now.seconds } ?? false }

    fileprivate func created(_ created: Int64) -> Cookie {
        Cookie(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, expires: expires, isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, created: created, lastUsed: lastUsed)
    }

    fileprivate func isFor(_ uri: TargetURI) -> Bool {
        if isSecure, !uri.isSecure { return false }
        guard isHostOnly ? uri.host == domain : CookieJar.domainMatches(uri.host, domain) else { return false }
        guard uri.path.hasPrefix(path) else { return false }
        return uri.path.utf8.count == path.utf8.count || path.hasSuffix("/") || uri.path.dropFirst(path.count).first == "/"
    }
}
