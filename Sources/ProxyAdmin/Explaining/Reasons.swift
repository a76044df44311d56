import HTTPCaching
import ProxyCore

/// A reason as a sentence, with its RFC section. A reason that is missing in the tables is shown by its word.
struct ReasonText {
    let says: String
    let section: String

    init(_ says: String, _ section: String = "") {
        self.says = says
        self.section = section
    }

    init(_ reason: ForwardReason) { self = Self.forwarding[reason] ?? ReasonText("\(reason.word)") }

    init(_ reason: StaleReason) {
        self = Self.staleUse[reason] ?? ReasonText("stale, but allowed: \(reason.word)", "RFC 9111 §4.2.4")
    }

    init(_ refusal: StorageRefusal) { self = Self.refusals[refusal] ?? ReasonText("\(refusal.word)") }

    init(_ source: LifetimeSource) { self = Self.sources[source] ?? ReasonText(source.word) }

    init(_ transform: TransformTrace) {
        self =
            switch transform {
            case .made(.json): ReasonText("a rule changes the JSON of the response", "RFC 9110 §7.7")
            case .made(.xml): ReasonText("a rule converts the XML of the response to JSON", "RFC 9110 §7.7")
            case .made(.propertyList): ReasonText("a rule converts the property list of the response to JSON", "RFC 9110 §7.7")
            case .made(.text): ReasonText("a rule converts the text of the response to another charset", "RFC 9110 §7.7")
            case .skipped(.noTransform):
                ReasonText("the content is unchanged: the response has no-transform", "RFC 9111 §5.2.2.6")
            case .skipped(.requestNoTransform):
                ReasonText("the content is unchanged: the request has no-transform", "RFC 9111 §5.2.1.6")
            case .skipped(.contentType): ReasonText("the content is unchanged: the rule does not apply to its content type")
            case .failed(let fault): ReasonText("the transform of a rule failed: \(fault.word)")
            }
    }

    // One table per kind of reason. A reason that is missing is shown by its word, but a test requires that none is missing.

    static let forwarding: [ForwardReason: ReasonText] = [
        .method: ReasonText("only GET and HEAD are served from the store", "RFC 9111 §4"),
        .uriMiss: ReasonText("nothing is stored under the key", "RFC 9111 §4"),
        .varyMiss: ReasonText("every response stored under the key has other values of the Vary fields", "RFC 9111 §4.1"),
        .partial: ReasonText("only a part of the response is stored, and the rest must be fetched", "RFC 9111 §3.4"),
        .fill: ReasonText("only a part of the response is stored, and a rule fetches the rest", "RFC 9111 §3.4"),
        .requestContent: ReasonText("the request has content, which could select a different response", "RFC 9110 §9.3.1"),
        .reload: ReasonText("a rule's policy is reload"),
        .reloadAll: ReasonText("a rule's policy is reload_all"),
        .revalidate: ReasonText("a rule's policy is revalidate"),
        .requestNoCache: ReasonText("the request has no-cache", "RFC 9111 §5.2.1.4"),
        .requestPragma: ReasonText("the request has Pragma: no-cache", "RFC 9111 §5.4"),
        .requestMaxAge: ReasonText("the request's max-age requires a younger response", "RFC 9111 §5.2.1.1"),
        .requestMinFresh: ReasonText(
            "the stored response is not fresh long enough for the request's min-fresh", "RFC 9111 §5.2.1.3"),
        .originCondition: ReasonText("the origin server evaluates If-Match and If-Unmodified-Since", "RFC 9111 §4.3.2"),
        .stale: ReasonText("the stored response is stale", "RFC 9111 §4.2"),
        .mustRevalidate: ReasonText("the stored response is stale, and has must-revalidate", "RFC 9111 §5.2.2.2"),
        .proxyRevalidate: ReasonText("the stored response is stale, and has proxy-revalidate", "RFC 9111 §5.2.2.8"),
        .sMaxAge: ReasonText("the stored response is stale, and its s-maxage implies proxy-revalidate", "RFC 9111 §5.2.2.10"),
        .maxStaleOffline: ReasonText("the stored response is stale by more than cache.max_stale_offline", "RFC 9111 §4.2.4"),
        .noCache: ReasonText("the stored response has no-cache, so it needs validation", "RFC 9111 §5.2.2.4"),
        .unsafeRuleGone: ReasonText("a rule with `unsafe: true` stored the response, and this rule no longer applies"),
        .trustChanged: ReasonText("the response was stored under a trust policy that is no longer active"),
        .upgrade: ReasonText("the request upgrades its connection to another protocol", "RFC 9110 §7.8"),
    ]

    static let staleUse: [StaleReason: ReasonText] = [
        .maxStale: ReasonText("stale, but the request's max-stale allows it", "RFC 9111 §5.2.1.2"),
        .storedElseLoad: ReasonText("stale, but a rule's policy is stored_else_load", "RFC 9111 §4.2.4"),
        .storedOnly: ReasonText("stale, but a rule's policy is stored_only", "RFC 9111 §4.2.4"),
        .staleWhileRevalidate: ReasonText(
            "stale, but within stale-while-revalidate, and validated in the background", "RFC 5861 §3"),
        .grace: ReasonText("stale, but within a rule's grace"),
        .offline: ReasonText("stale, but Larder is offline", "RFC 9111 §4.2.4"),
        .staleIfError: ReasonText("stale, but within stale-if-error, and the origin fails", "RFC 5861 §4"),
    ]

    static let refusals: [StorageRefusal: ReasonText] = [
        .method: ReasonText("only responses to GET are stored", "RFC 9111 §3"),
        .requestContent: ReasonText("the request had content"),
        .unkeyedInput: ReasonText(
            "the request has a field that can select a different response, and that is not part of the cache key"),
        .requestNoStore: ReasonText("the request has no-store", "RFC 9111 §5.2.1.5"),
        .rule: ReasonText("a rule sets store: never"),
        .partialContent: ReasonText("the response is partial content", "RFC 9111 §3.3"),
        .notModified: ReasonText("the response is a 304 to the client's own conditional request", "RFC 9111 §4.3.3"),
        .status: ReasonText("the response's status applies only to this request", "RFC 9110 §15"),
        .mustUnderstand: ReasonText(
            "the response has must-understand, and Larder does not understand the status", "RFC 9111 §5.2.2.3"),
        .noStore: ReasonText("the response has no-store", "RFC 9111 §5.2.2.5"),
        .private: ReasonText("the response has private, and this cache is shared", "RFC 9111 §5.2.2.7"),
        .authorization: ReasonText(
            "the request has Authorization, and the response does not allow sharing", "RFC 9111 §3.5"),
        .setCookie: ReasonText("the response sets a cookie, and the origin gave it no explicit lifetime", "RFC 9111 §7.3"),
        .varyAny: ReasonText("the response has Vary: *", "RFC 9111 §4.1"),
        .varyInvalid: ReasonText("the response's Vary field is malformed, or lists too many fields", "RFC 9111 §4.1"),
        .notCacheable: ReasonText("no field, status or rule allows the response to be stored", "RFC 9111 §3"),
        .noLifetime: ReasonText(
            "the response has neither a lifetime nor a validator, so Larder could never reuse it", "RFC 9111 §3"),
        .signature: ReasonText("the signature in the response's Location has expired"),
        .bodyTooLarge: ReasonText("the response's body is longer than a rule allows"),
        .headTooLarge: ReasonText("the response's head has more or longer fields than the store allows"),
        .validation: ReasonText("the response failed a rule's validation"),
        .invalidated: ReasonText(
            "while this response was in flight, its key was invalidated, or the origin sent a newer response",
            "RFC 9111 §3.4, §4.4"),
        .storeBusy: ReasonText("the store was busy"),
    ]

    static let sources: [LifetimeSource: ReasonText] = [
        .none: ReasonText("the response gives no lifetime", "RFC 9111 §4.2.1"),
        .heuristic: ReasonText("heuristic, a tenth of the time since Last-Modified", "RFC 9111 §4.2.2"),
        .expires: ReasonText("Expires", "RFC 9111 §5.3"),
        .maxAge: ReasonText("max-age", "RFC 9111 §5.2.2.1"),
        .sMaxAge: ReasonText("s-maxage", "RFC 9111 §5.2.2.10"),
        .rule: ReasonText("a rule's ttl"),
        .signature: ReasonText("the response is fresh until the signature in its Location expires"),
    ]
}
