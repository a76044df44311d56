public import HTTPSerialization

/// What one request changes of its session's configuration. A property that is `nil` leaves the session's value.
///
/// Redirects keep the options. A request that an interceptor or a redirect policy makes has its own options, except that the
/// interceptors are always those of the caller's request.
public struct RequestOptions: Sendable {
    /// How redirects are handled.
    public var redirects: RedirectPolicy?
    /// When the request is retried.
    public var retries: RetryPolicy?
    /// The interceptors, in place of the session's; an empty list for none.
    public var interceptors: [any RequestInterceptor]?
    /// How challenges are answered, in place of the session's policy; an empty policy sends no credentials to origins. The credentials of
    /// this policy are used for this request only. The proxy's credentials stay those of the session.
    public var authentication: ChallengePolicy?
    /// Whether cookies are sent and stored. If `true`, the session must have a cookie jar.
    public var usesCookies: Bool?
    /// Whether content codings are requested and decoded. If `true`, the session also decodes the codings that the request's own
    /// Accept-Encoding lists. Downloads are never decoded.
    public var decodesContent: Bool?
    /// Called before a storable response is stored. The session must have a cache.
    public var willCache: (@Sendable (CacheCandidate) async -> CacheDecision)?
    /// Whether the request is answered from the cache alone, with a response of any age that may be served stale. Without such a response
    /// the call fails with `offline`.
    public var isOffline: Bool?
    /// Sends the request's content slowly, for tests.
    public var throttle: PacketThrottle?

    /// Options that change nothing.
    public init() {}

    /// - Throws: `request_malformed`, if the session lacks what an option needs.
    func check(_ configuration: SessionConfiguration) throws(SessionError) {
        if usesCookies == true, configuration.cookies == nil {
            throw SessionError(.malformedRequest, "the option usesCookies needs a session with a cookie jar")
        }
        if willCache != nil, configuration.cache == nil {
            throw SessionError(.malformedRequest, "the option willCache needs a session with a cache")
        }
    }
}

/// Options on the heap, because most requests have none and requests are copied often.
final class RequestOptionsBox: Sendable {
    let options: RequestOptions

    init(_ options: RequestOptions) { self.options = options }
}
