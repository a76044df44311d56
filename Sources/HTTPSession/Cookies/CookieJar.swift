import EventLoop
import HTTPMessage

/// The cookies of whoever uses a session (RFC 6265), kept where they are wanted: a session without a jar neither keeps nor sends any.
///
/// Beyond the RFC: no cookie for a public suffix; `Secure` ones only from https; names with `__Secure-` and `__Host-` hold what they promise.
public final class CookieJar: Sendable {
    /// How many are kept; beyond that, what was used longest ago goes.
    public struct Limits: Equatable, Sendable {
        /// Over all domains.
        public var cookies = 3000
        /// Of each domain.
        public var cookiesPerDomain = 50

        /// The usual limits.
        public init() {}
    }

    private let cookies: Guarded<[Cookie.Key: Cookie]>
    private let limits: Limits

    /// - Parameters:
    ///   - cookies: of a former jar.
    ///   - limits: of how many are kept.
    public init(_ cookies: [Cookie] = [], limits: Limits = Limits()) {
        self.limits = limits
        self.cookies = Guarded(Dictionary(cookies.map { ($0.key, $0) }, uniquingKeysWith: { $1 }))
    }

    /// All of them, by their age; what has expired meanwhile is left out.
    public var all: [Cookie] { cookies(at: .now) }

    package func cookies(at now: Timestamp) -> [Cookie] {
        cookies.withLock { cookies in
            cookies.values.filter { !$0.hasExpired(at: now) }.sorted { $0.created < $1.created }
        }
    }

    /// Forgets all of them.
    public func removeAll() { cookies.withLock { $0 = [:] } }

    /// Those that end with a session of the user's, as he ends it.
    public func removeSessionCookies() { cookies.withLock { cookies in cookies = cookies.filter { $0.value.expires != nil } } }

    // MARK: Receiving

    func store(_ fields: HTTPFields, from uri: TargetURI, at now: Timestamp = .now) {
        if fields.contains(.setCookie) { keep(fields.values(of: "Set-Cookie"), from: uri, at: now) }
    }

    /// The values of Set-Cookie.
    package func keep(_ values: [String], from uri: TargetURI, at now: Timestamp) {
        for value in values {
            guard let received = SetCookie(value), let cookie = accepted(received, from: uri, at: now) else { continue }
            keep(cookie, at: now)
        }
    }

    /// RFC 6265 §5.3.
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
        // Told apart by case, as the two that know them do not.
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
            // One that is set anew keeps its place in the order; a new one comes behind all others, also within a millisecond.
            let newest = cookies.values.lazy.map(\.created).max() ?? 0
            cookies[cookie.key] = cookie.created(cookies[cookie.key]?.created ?? max(cookie.created, newest + 1))
            Self.evict(&cookies, limits.cookiesPerDomain, at: now) { $0.domain == cookie.domain }
            Self.evict(&cookies, limits.cookies, at: now) { _ in true }
        }
    }

    /// Those that have expired first, then those that were used longest ago.
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

    /// The value of Cookie for a request (RFC 6265 §5.4); `nil` where there is none.
    package func value(for uri: TargetURI, at now: Timestamp = .now) -> String? {
        let matching: [Cookie] = cookies.withLock { cookies in
            let matching = cookies.values.filter { $0.isFor(uri) && !$0.hasExpired(at: now) }
            for cookie in matching { cookies[cookie.key]?.lastUsed = now.milliseconds }
            return matching
        }
        if matching.isEmpty { return nil }
        return matching.sorted { left, right in
            let (first, second) = (left.path.utf8.count, right.path.utf8.count)
            return first == second ? left.created < right.created : first > second
        }.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// RFC 6265 §5.1.3. An address has nothing below it.
    static func domainMatches(_ host: String, _ domain: String) -> Bool {
        if host == domain { return true }
        let octets = Array(host.utf8)
        return host.hasSuffix("." + domain) && IPAddress(octets.span) == nil
    }

    /// RFC 6265 §5.1.4.
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
