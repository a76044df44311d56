public import HTTPCaching
import HTTPMessage
public import HTTPSerialization

/// The settings of a session, fixed when it is created.
public struct SessionConfiguration: Sendable {
    /// The base URI for relative targets; a slash is added if its path does not end with one.
    public var base: TargetURI?
    /// The fields sent with every request that does not set them itself.
    public var defaultFields: SessionFields = ["Accept": "*/*", "User-Agent": "Larder"]
    /// The timeouts for requests that have none of their own.
    public var timeouts = SessionTimeouts()
    /// Limits on exchanges, memory and idle connections.
    public var limits = SessionLimits()
    /// The number of threads that carry transfers. All exchanges with one origin run on the same thread.
    public var threads = 1
    /// How redirects are handled.
    public var redirects = RedirectPolicy.follow()
    /// When a request is retried.
    public var retries = RetryPolicy.standard
    /// Whether the session requests gzip, deflate, br and zstd, and decodes them. If a request sets Accept-Encoding itself, the
    /// codings that it lists are not decoded.
    public var decodesContent = true
    /// Stores responses for reuse, including streamed bodies and downloads. A body is stored if it is read to its end.
    public var cache: (any ResponseCaching)?
    /// The cache policy for requests that have none of their own.
    public var cachePolicy = CachePolicy.useProtocol
    /// Called before a storable response is stored.
    public var willCache: (@Sendable (CacheCandidate) async -> CacheDecision)?
    /// Sends the content of requests slowly, for tests; `nil`: at full speed.
    public var throttle: PacketThrottle?
    /// Stores cookies and sends them. A request's own Cookie field is not changed.
    public var cookies: CookieJar?
    /// How authentication challenges (401, and 407 from the proxy) are answered.
    public var authentication = ChallengePolicy()
    /// The proxy, or `.environment`; `nil`: the session connects to every origin directly.
    public var proxy: SessionProxy?
    /// How requests wait while there is no network; `nil`: they do not wait.
    public var connectivity: ConnectivityWait?
    /// Whether https origins are offered HTTP/2 (RFC 9113). An origin that does not choose it gets HTTP/1.1.
    public var offersHTTP2 = true
    /// Client certificates for https origins that request one.
    public var identities: [SessionIdentity] = []
    /// The interceptors, called in this order, before the session's own policies.
    public var interceptors: [any RequestInterceptor] = []
    /// The monitors. Each event is sent to them in this order.
    public var monitors: [any EventMonitor] = []
    /// Host names in lower case, with the addresses to connect to instead of looking the name up.
    public var resolve: [String: [String]] = [:]
    /// Carries out all exchanges instead of the session's own connections, for tests.
    package var network: (any SubstituteNetwork)?

    /// Defaults for most programs: no cache, no cookies, no credentials.
    public init() {}
}

/// Limits on exchanges, memory and idle connections.
public struct SessionLimits: Equatable, Sendable {
    /// Maximum number of exchanges in flight at once, over all origins. Further exchanges wait, by priority.
    public var activeExchanges = 256
    /// Maximum number of exchanges in flight at once with one origin.
    public var activeExchangesPerOrigin = 64
    /// Maximum number of transfers that wait to begin; one more fails with `queue_full`.
    public var waitingTransfers = 16_384
    /// How often one request is tried at most, whether the policy or an interceptor asks for another try.
    public var tries = 10
    /// How often one download is resumed at most. Tries that bring no bytes are also limited by the retry policy.
    public var resumptions = 100
    /// Maximum length, in bytes, of a body that is kept whole in memory; a longer body fails with `body_too_large`.
    public var bodyLength = 256 * 1024 * 1024
    /// Longest body, in bytes, that is passed to `willCache`. If `willCache` is set, a longer body is not stored; otherwise the
    /// cache's own limit applies.
    public var cachedBodyLength = 8 * 1024 * 1024
    /// Reading from the origin stops when this many bytes of a streamed body are unread. One more read (64 KiB) may exceed the limit.
    public var unreadBodyLength = 512 * 1024
    /// Maximum number of idle connections kept for one origin.
    public var idleConnectionsPerOrigin = 16
    /// Maximum number of idle connections kept over all origins.
    public var idleConnections = 128
    /// How long an idle connection is kept.
    public var idleConnectionTime: Duration = .seconds(60)

    /// The default limits.
    public init() {}
}
