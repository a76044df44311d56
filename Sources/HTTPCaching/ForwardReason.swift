/// Why a request goes forward to the origin server, or would have to (RFC 9211 §2.2).
package enum ForwardReason: UInt8, Sendable, CaseIterable {
    /// The method is neither GET nor HEAD.
    case method
    case uriMiss, varyMiss
    /// Some of the response is stored: what is missing is asked for.
    case partial
    /// The same for the store alone, by a rule.
    case fill
    /// A GET or HEAD with content: it might select another response, and never touches a shared one (T18).
    case requestContent
    /// The policies of these names.
    case reload, reloadAll, revalidate
    /// The request's directives.
    case requestNoCache, requestPragma, requestMaxAge, requestMinFresh
    /// If-Match or If-Unmodified-Since, which the origin server has to evaluate.
    case originCondition
    case stale
    /// Stale, and a word of the origin server forbids what a rule or the client would allow.
    case mustRevalidate, proxyRevalidate, sMaxAge
    /// It is stale for longer than is served where nothing may leave.
    case maxStaleOffline
    /// The stored response says no-cache.
    case noCache
    /// It was stored by an unsafe rule that no longer holds.
    case unsafeRuleGone
    /// It came under another trust policy than the active one.
    case trustChanged
    /// The request asks for another protocol on its connection (RFC 9110 §7.8).
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

    /// The value of `fwd`. Where it tells everything, there is no `detail`.
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

    var hasDetail: Bool {
        switch self {
        case .method, .uriMiss, .varyMiss, .partial, .fill, .stale: false
        default: true
        }
    }
}
