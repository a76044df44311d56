/// The fields that Larder itself reads. They have numbers, so that comparing two fields compares numbers. All other fields are `other`.
@usableFromInline
package enum KnownField: UInt8, Sendable, CaseIterable {
    case other = 0
    case accept, acceptEncoding, acceptLanguage, age, allow, authorization, cacheControl, cacheStatus, cdnCacheControl
    case connection, contentEncoding, contentLength, contentLocation, contentRange, contentType, cookie, date, etag
    case expect, expires, forwarded, host, http2Settings, ifMatch, ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince
    case keepAlive, lastModified, location, maxForwards, pragma, proxy, proxyAuthenticate, proxyAuthenticationInfo
    case proxyAuthorization, proxyConnection, proxyStatus, range, retryAfter, server, setCookie, te, trailer
    case transferEncoding, upgrade, userAgent, vary, via, warning, wwwAuthenticate, xForwardedFor

    /// The name of the field in lower case, for comparison. Empty for `other`.
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

    @inlinable package var bit: UInt64 { 1 &<< UInt64(rawValue) }

    /// The known field with this name; `other` if there is none. Names are compared case-insensitively (RFC 9110 §5.1).
    package init(_ name: Span<UInt8>) {
        self = .other
        guard name.count >= KnownFieldTable.shortest, name.count <= KnownFieldTable.longest else { return }
        let bucket = KnownFieldTable.bucket(first: name[0], last: name[name.count - 1], count: name.count)
        guard let candidate = KnownField(rawValue: KnownFieldTable.buckets[bucket]), candidate != .other,
            name.isToken(ignoringCaseOf: candidate.lowercaseName)
        else { return }
        self = candidate
    }
}

/// A perfect hash over the known names. One look-up in the table and one comparison find the field, or show that it is not known.
///
/// The table is a literal, so that the compiler emits it as constant data. If it were filled at its first use, each lookup would have
/// to check whether it is filled. When a name is added, a test computes the table and prints the new literal.
enum KnownFieldTable {
    static let shortest = 2
    static let longest = 25

    @inline(__always)
    static func bucket(first: UInt8, last: UInt8, count: Int) -> Int {
        (Int(first | 0x20) &* 61 &+ Int(last | 0x20) &* 251 &+ count &* 145) & 255
    }

    // For each bucket, the raw value of the field in it; 0 for an empty bucket.
    // swift-format-ignore
    static let buckets: InlineArray<256, UInt8> = [
        0, 0, 0, 0, 16, 49, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 43, 0, 0, 10, 9, 0, 31, 17,
        0, 0, 0, 0, 8, 30, 0, 0, 34, 0, 0, 41, 0, 0, 0, 0, 29, 33, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 39, 0, 1,
        0, 0, 46, 0, 0, 0, 0, 48, 0, 0, 0, 0, 0, 37, 0, 51, 0, 0, 18, 0, 6, 0, 0, 0, 0, 0, 26, 0, 0, 0, 0, 0,
        0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0, 52, 21, 0, 0, 0, 23, 0, 0, 0, 0, 0, 12, 0, 0,
        0, 13, 0, 0, 0, 24, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42, 27, 0, 0, 0, 0, 2, 38, 0, 0, 0, 0, 5,
        0, 0, 0, 3, 11, 0, 0, 0, 0, 0, 0, 0, 0, 25, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 22, 20, 0, 0, 0, 44, 0, 28, 0, 0, 0, 0, 0, 0, 0, 4, 7, 0, 0, 0, 0, 53, 0, 47,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 35, 0, 0, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0,
    ]
}
