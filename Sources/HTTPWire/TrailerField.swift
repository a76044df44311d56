import HTTPMessage

/// Which fields may stand in a trailer section (RFC 9110 §6.5.1).
enum TrailerField {
    enum Permission {
        case kept
        /// Passed over: its meaning would be needed before the content, or it concerns one connection alone.
        case dropped
        /// A message that frames or routes itself once more at its end is an attack, not a message.
        case forbidden
    }

    static func permission(for field: KnownField) -> Permission {
        switch field {
        case .contentLength, .transferEncoding, .host:
            .forbidden
        case .connection, .keepAlive, .proxyConnection, .te, .upgrade, .http2Settings, .trailer, .proxy,
            .authorization, .proxyAuthorization, .proxyAuthenticate, .proxyAuthenticationInfo, .wwwAuthenticate,
            .cookie, .setCookie,
            .cacheControl, .cdnCacheControl, .pragma, .age, .expires, .date, .vary, .warning, .location, .retryAfter,
            .contentEncoding, .contentType, .contentRange, .contentLocation,
            .expect, .maxForwards, .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
            .forwarded, .xForwardedFor, .via:
            .dropped
        case .other, .accept, .acceptEncoding, .acceptLanguage, .allow, .cacheStatus, .etag, .lastModified,
            .proxyStatus, .server, .userAgent:
            .kept
        }
    }
}
