/// The fields that Larder itself reads, so that finding one is a comparison of numbers. Any other field is `other`.
@usableFromInline
package enum KnownField: UInt8, Sendable, CaseIterable {
    case other = 0
    case accept, acceptEncoding, acceptLanguage, age, allow, authorization, cacheControl, cacheStatus, cdnCacheControl
    case connection, contentEncoding, contentLength, contentLocation, contentRange, contentType, cookie, date, etag
    case expect, expires, forwarded, host, http2Settings, ifMatch, ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince
    case keepAlive, lastModified, location, maxForwards, pragma, proxy, proxyAuthenticate, proxyAuthenticationInfo
    case proxyAuthorization, proxyConnection, proxyStatus, range, retryAfter, server, setCookie, te, trailer
    case transferEncoding, upgrade, userAgent, vary, via, warning, wwwAuthenticate, xForwardedFor

    /// The name in lower case, as it is compared. `other` has none.
    package var lowercaseName: StaticString {
        switch self {
        case .other: ""
        case .accept: "accept"
        case .acceptEncoding: "accept-encoding"
        case .acceptLanguage: "accept-language"
        case .age: "age"
        case .allow: "allow"
        case .authorization: "authorization"
        case .cacheControl: "cache-control"
        case .cacheStatus: "cache-status"
        case .cdnCacheControl: "cdn-cache-control"
        case .connection: "connection"
        case .contentEncoding: "content-encoding"
        case .contentLength: "content-length"
        case .contentLocation: "content-location"
        case .contentRange: "content-range"
        case .contentType: "content-type"
        case .cookie: "cookie"
        case .date: "date"
        case .etag: "etag"
        case .expect: "expect"
        case .expires: "expires"
        case .forwarded: "forwarded"
        case .host: "host"
        case .http2Settings: "http2-settings"
        case .ifMatch: "if-match"
        case .ifModifiedSince: "if-modified-since"
        case .ifNoneMatch: "if-none-match"
        case .ifRange: "if-range"
        case .ifUnmodifiedSince: "if-unmodified-since"
        case .keepAlive: "keep-alive"
        case .lastModified: "last-modified"
        case .location: "location"
        case .maxForwards: "max-forwards"
        case .pragma: "pragma"
        case .proxy: "proxy"
        case .proxyAuthenticate: "proxy-authenticate"
        case .proxyAuthenticationInfo: "proxy-authentication-info"
        case .proxyAuthorization: "proxy-authorization"
        case .proxyConnection: "proxy-connection"
        case .proxyStatus: "proxy-status"
        case .range: "range"
        case .retryAfter: "retry-after"
        case .server: "server"
        case .setCookie: "set-cookie"
        case .te: "te"
        case .trailer: "trailer"
        case .transferEncoding: "transfer-encoding"
        case .upgrade: "upgrade"
        case .userAgent: "user-agent"
        case .vary: "vary"
        case .via: "via"
        case .warning: "warning"
        case .wwwAuthenticate: "www-authenticate"
        case .xForwardedFor: "x-forwarded-for"
        }
    }

    package var bit: UInt64 { 1 << UInt64(rawValue) }

    /// Which of the known fields bears this name, without regard to case (RFC 9110 §5.1).
    package init(_ name: Span<UInt8>) {
        self = .other
        guard !name.isEmpty, name.count <= KnownFieldTable.longest else { return }
        let bucket = KnownFieldTable.bucket(first: name[0], last: name[name.count - 1], count: name.count)
        var candidate = KnownFieldTable.shared.first[bucket]
        while candidate != 0 {
            guard let field = KnownField(rawValue: candidate) else { return }
            if name.equalsIgnoringCase(field.lowercaseName) {
                self = field
                return
            }
            candidate = KnownFieldTable.shared.next[Int(candidate)]
        }
    }
}

/// A small chained hash table over the known names, so that most names cost one probe.
struct KnownFieldTable: Sendable {
    static let longest = 25
    static let shared = KnownFieldTable()

    var first: [UInt8] = Array(repeating: 0, count: 256)
    var next: [UInt8] = Array(repeating: 0, count: 64)

    init() {
        for field in KnownField.allCases where field != .other {
            let name = field.lowercaseName
            let count = name.utf8CodeUnitCount
            let bucket = Self.bucket(first: name.utf8Start[0], last: name.utf8Start[count - 1], count: count)
            next[Int(field.rawValue)] = first[bucket]
            first[bucket] = field.rawValue
        }
    }

    @inline(__always)
    static func bucket(first: UInt8, last: UInt8, count: Int) -> Int {
        (Int(first | 0x20) &* 31 &+ Int(last | 0x20) &* 7 &+ count &* 17) & 255
    }
}
