import HTTPMessage

/// Whether a field may be in a trailer section (RFC 9110 §6.5.1).
package enum TrailerField {
    package enum Permission {
        case kept
        /// The field is ignored, because recipients need it before the content, or because it applies to one connection only.
        case dropped
        /// The field frames or routes the message. In a trailer section that is an attack, so the message is rejected.
        case forbidden
    }

    package static func permission(for field: KnownField) -> Permission {
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
