import HTTPCaching
import ProxyCore

/// What a reason means, as a sentence, and the section behind it. A reason without a row shows its word.
struct ReasonText {
    let says: String
    let section: String

    init(_ says: String, _ section: String = "") {
        self.says = says
        self.section = section
    }

    init(_ reason: ForwardReason) { self = Self.forwarding[reason] ?? ReasonText("\(reason.word)") }

    init(_ reason: StaleReason) {
        self = Self.staleUse[reason] ?? ReasonText("stale, and allowed: \(reason.word)", "RFC 9111 §4.2.4")
    }

    init(_ refusal: StorageRefusal) { self = Self.refusals[refusal] ?? ReasonText("\(refusal.word)") }

    init(_ source: LifetimeSource) { self = Self.sources[source] ?? ReasonText(source.word) }

    init(_ transform: TransformTrace) {
        self =
            switch transform {
            case .made(.json): ReasonText("a rule has its JSON changed", "RFC 9110 §7.7")
            case .made(.xml): ReasonText("a rule has JSON made of its XML", "RFC 9110 §7.7")
            case .made(.propertyList): ReasonText("a rule has JSON made of its property list", "RFC 9110 §7.7")
            case .made(.text): ReasonText("a rule has its text put into another charset", "RFC 9110 §7.7")
            case .skipped(.noTransform):
                ReasonText("the content stays as it came: the response says no-transform", "RFC 9111 §5.2.2.6")
            case .skipped(.requestNoTransform):
                ReasonText("the content stays as it came: the request says no-transform", "RFC 9111 §5.2.1.6")
            case .skipped(.contentType): ReasonText("the content stays as it came: the rule is not for its type")
            case .failed(let fault): ReasonText("what a rule wants of the content cannot be made: \(fault.word)")
            }
    }

    // A table each, so that a word that is new elsewhere shows itself until its row is written; a test asks for every row.

    static let forwarding: [ForwardReason: ReasonText] = [
        .method: ReasonText("only GET and HEAD are answered from the store", "RFC 9111 §4"),
        .uriMiss: ReasonText("nothing is stored under the key", "RFC 9111 §4"),
        .varyMiss: ReasonText("what is stored under the key is for requests with other fields", "RFC 9111 §4.1"),
        .partial: ReasonText("a part of the response is stored, and what is missing has to be asked for", "RFC 9111 §3.4"),
        .fill: ReasonText("a part of the response is stored, and a rule has the rest fetched", "RFC 9111 §3.4"),
        .requestContent: ReasonText("the request has content, which could select another response", "RFC 9110 §9.3.1"),
        .reload: ReasonText("a rule's policy is reload"),
        .reloadAll: ReasonText("a rule's policy is reload_all"),
        .revalidate: ReasonText("a rule's policy is revalidate"),
        .requestNoCache: ReasonText("the request says no-cache", "RFC 9111 §5.2.1.4"),
        .requestPragma: ReasonText("the request says Pragma: no-cache", "RFC 9111 §5.4"),
        .requestMaxAge: ReasonText("the request's max-age asks for a younger response", "RFC 9111 §5.2.1.1"),
        .requestMinFresh: ReasonText("the stored response is not fresh for the request's min-fresh", "RFC 9111 §5.2.1.3"),
        .originCondition: ReasonText("If-Match and If-Unmodified-Since are for the origin server", "RFC 9111 §4.3.2"),
        .stale: ReasonText("the stored response is stale", "RFC 9111 §4.2"),
        .mustRevalidate: ReasonText("it is stale, and says must-revalidate", "RFC 9111 §5.2.2.2"),
        .proxyRevalidate: ReasonText("it is stale, and says proxy-revalidate", "RFC 9111 §5.2.2.8"),
        .sMaxAge: ReasonText("it is stale, and s-maxage means proxy-revalidate too", "RFC 9111 §5.2.2.10"),
        .maxStaleOffline: ReasonText("it is stale by more than cache.max_stale_offline", "RFC 9111 §4.2.4"),
        .noCache: ReasonText("the stored response says no-cache: not without validation", "RFC 9111 §5.2.2.4"),
        .unsafeRuleGone: ReasonText("it was stored by an unsafe rule that no longer holds"),
        .trustChanged: ReasonText("it came under another trust policy than the active one"),
        .upgrade: ReasonText("the request asks for another protocol on its connection", "RFC 9110 §7.8"),
    ]

    static let staleUse: [StaleReason: ReasonText] = [
        .maxStale: ReasonText("stale, and the request's max-stale takes it", "RFC 9111 §5.2.1.2"),
        .storedElseLoad: ReasonText("stale, and a rule's policy is stored_else_load", "RFC 9111 §4.2.4"),
        .storedOnly: ReasonText("stale, and a rule's policy is stored_only", "RFC 9111 §4.2.4"),
        .staleWhileRevalidate: ReasonText("stale, within stale-while-revalidate, and validated behind", "RFC 5861 §3"),
        .grace: ReasonText("stale, within the grace that a rule gives"),
        .offline: ReasonText("stale, and Larder is offline", "RFC 9111 §4.2.4"),
        .staleIfError: ReasonText("stale, within stale-if-error, and the origin fails", "RFC 5861 §4"),
    ]

    static let refusals: [StorageRefusal: ReasonText] = [
        .method: ReasonText("only responses to GET are stored", "RFC 9111 §3"),
        .requestContent: ReasonText("the request had content"),
        .unkeyedInput: ReasonText("the request has a field that may select another response and stands in no key"),
        .requestNoStore: ReasonText("the request says no-store", "RFC 9111 §5.2.1.5"),
        .rule: ReasonText("a rule says store: never"),
        .partialContent: ReasonText("it is a part", "RFC 9111 §3.3"),
        .notModified: ReasonText("a 304 to the client's own condition is not stored", "RFC 9111 §4.3.3"),
        .status: ReasonText("the status speaks of this one request", "RFC 9110 §15"),
        .mustUnderstand: ReasonText("it says must-understand, and the status is not understood here", "RFC 9111 §5.2.2.3"),
        .noStore: ReasonText("the response says no-store", "RFC 9111 §5.2.2.5"),
        .private: ReasonText("the response says private, and this cache is shared", "RFC 9111 §5.2.2.7"),
        .authorization: ReasonText(
            "the request has Authorization, and the response does not say that it may be shared", "RFC 9111 §3.5"),
        .setCookie: ReasonText("it sets a cookie without an explicit lifetime", "RFC 9111 §7.3"),
        .varyAny: ReasonText("it says Vary: *", "RFC 9111 §4.1"),
        .varyInvalid: ReasonText("its Vary cannot be read, or nominates too much", "RFC 9111 §4.1"),
        .notCacheable: ReasonText("nothing says that it may be stored", "RFC 9111 §3"),
        .noLifetime: ReasonText("it has neither a lifetime nor a validator: it could never be used again", "RFC 9111 §3"),
        .signature: ReasonText("the signature in its Location has ended"),
        .bodyTooLarge: ReasonText("its body is longer than a rule lets be kept"),
        .headTooLarge: ReasonText("its head has more or longer fields than the store takes"),
        .validation: ReasonText("a rule's validation found it wanting"),
        .invalidated: ReasonText(
            "the key was invalidated, or the origin said otherwise, while it was under way", "RFC 9111 §3.4, §4.4"),
        .storeBusy: ReasonText("the store took no further body then"),
    ]

    static let sources: [LifetimeSource: ReasonText] = [
        .none: ReasonText("none is given", "RFC 9111 §4.2.1"),
        .heuristic: ReasonText("heuristic, a tenth of the time since Last-Modified", "RFC 9111 §4.2.2"),
        .expires: ReasonText("Expires", "RFC 9111 §5.3"),
        .maxAge: ReasonText("max-age", "RFC 9111 §5.2.2.1"),
        .sMaxAge: ReasonText("s-maxage", "RFC 9111 §5.2.2.10"),
        .rule: ReasonText("a rule's ttl"),
        .signature: ReasonText("the signature in Location ends then"),
    ]
}
