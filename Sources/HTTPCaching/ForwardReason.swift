/// Why a request is forwarded to the origin server, or would have to be (RFC 9211 §2.2).
public enum ForwardReason: UInt8, Sendable, CaseIterable {
    /// The method is neither GET nor HEAD.
    case method
    case uriMiss, varyMiss
    /// A part of the response is stored; Larder requests the rest.
    case partial
    /// A part of the response is stored. Larder fetches the rest for the store only, because of a rule.
    case fill
    /// A GET or HEAD with content. The content might select another response, so the stored response for requests without content is
    /// not used (T18 in docs/threats.md).
    case requestContent
    /// A rule or session set the cache policy of this name (`CachePolicy`).
    case reload, reloadAll, revalidate
    /// The request directive of this name rejects the stored response, or every stored response.
    case requestNoCache, requestPragma, requestMaxAge, requestMinFresh
    /// The request has If-Match or If-Unmodified-Since, which only the origin server can evaluate.
    case originCondition
    case stale
    /// The stored response is stale. A rule or the client would allow stale use, but this directive of the origin server forbids it.
    case mustRevalidate, proxyRevalidate, sMaxAge
    /// The stored response is stale for longer than a disconnected cache serves it.
    case maxStaleOffline
    /// The stored response has no-cache.
    case noCache
    /// The response was stored because of an unsafe rule, and that rule no longer applies.
    case unsafeRuleGone
    /// The response was received under a trust policy other than the active one.
    case trustChanged
    /// The request asks to upgrade its connection to another protocol (RFC 9110 §7.8).
    case upgrade

    package var word: StaticString {
        switch self {
        case .method: "method"
        case .uriMiss: "uri_miss"
        case .varyMiss: "vary_miss"
        case .partial: "partial"
        case .fill: "fill"
        case .requestContent: "request_content"
        case .reload: "reload"
        case .reloadAll: "reload_all"
        case .revalidate: "revalidate"
        case .requestNoCache: "request_no_cache"
        case .requestPragma: "request_pragma"
        case .requestMaxAge: "request_max_age"
        case .requestMinFresh: "request_min_fresh"
        case .originCondition: "origin_condition"
        case .stale: "stale"
        case .mustRevalidate: "must_revalidate"
        case .proxyRevalidate: "proxy_revalidate"
        case .sMaxAge: "s_maxage"
        case .maxStaleOffline: "max_stale_offline"
        case .noCache: "no_cache"
        case .unsafeRuleGone: "unsafe_rule_gone"
        case .trustChanged: "trust_changed"
        case .upgrade: "upgrade"
        }
    }

    /// The value of `fwd` in Cache-Status. There is no `detail` if this token gives the whole reason.
    package var forwardToken: StaticString {
        switch self {
        case .method: "method"
        case .uriMiss: "uri-miss"
        case .varyMiss: "vary-miss"
        case .partial, .fill: "partial"
        case .requestContent, .reload, .reloadAll, .revalidate, .unsafeRuleGone, .upgrade: "bypass"
        case .requestNoCache, .requestPragma, .requestMaxAge, .requestMinFresh, .originCondition: "request"
        case .stale, .mustRevalidate, .proxyRevalidate, .sMaxAge, .maxStaleOffline, .noCache, .trustChanged: "stale"
        }
    }

    /// Whether the word says more than `forwardToken`.
    package var hasDetail: Bool {
        switch self {
        case .method, .uriMiss, .varyMiss, .partial, .fill, .stale: false
        default: true
        }
    }
}
