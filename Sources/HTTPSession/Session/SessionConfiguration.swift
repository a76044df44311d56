public import HTTPCaching
import HTTPMessage

/// The settings of a session, fixed when it is created.
public struct SessionConfiguration: Sendable {
    /// The base URI for relative targets; a slash is added if its path does not end with one.
    public var base: TargetURI?
    /// Sent with every request that does not set them itself.
    public var defaultFields: HTTPFields = ["Accept": "*/*", "User-Agent": "Larder"]
    /// For requests without timeouts of their own.
    public var timeouts = SessionTimeouts()
    /// Limits on exchanges, memory and idle connections.
    public var limits = SessionLimits()
    /// Threads that carry transfers; all exchanges with one origin run on the same thread.
    public var threads = 1
    /// How redirects are handled.
    public var redirects = RedirectPolicy.follow()
    /// When a request is retried.
    public var retries = RetryPolicy.standard
    /// Whether the session requests gzip, deflate, br and zstd, and decodes them. Codings that a request's own Accept-Encoding
    /// requests are not decoded.
    public var decodesContent = true
    /// Stores responses for reuse, including streamed bodies and downloads. A body is stored if it is read to its end.
    public var cache: (any ResponseCaching)?
    /// For requests without a cache policy of their own.
    public var cachePolicy = CachePolicy.useProtocol
    /// Called before a storable response is stored.
    public var willCache: (@Sendable (CacheCandidate) async -> CacheDecision)?
    /// Stores cookies and sends them. A request's own Cookie field is not changed.
    public var cookies: CookieJar?
    /// How authentication challenges (401, and 407 from the proxy) are answered.
    public var authentication = ChallengePolicy()
    /// `nil`: the session connects to every origin directly.
    public var proxy: SessionProxy?
    /// Client certificates for https origins that request one.
    public var identities: [SessionIdentity] = []
    /// Called in this order, before the session's own policies.
    public var interceptors: [any RequestInterceptor] = []
    /// Receive each event, in this order.
    public var monitors: [any EventMonitor] = []
    /// Host names in lower case, with the addresses to connect to instead of looking the name up.
    public var resolve: [String: [String]] = [:]

    /// Defaults for most programs: no cache, no cookies, no credentials.
    public init() {}
}

/// Limits on exchanges, memory and idle connections.
public struct SessionLimits: Equatable, Sendable {
    /// Exchanges in flight at once, over all origins. Others wait, by priority.
    public var activeExchanges = 256
    /// Exchanges in flight at once with one origin.
    public var activeExchangesPerOrigin = 64
    /// Transfers that wait for their turn; one more fails with `queue_full`.
    public var waitingTransfers = 16_384
    /// How often one request is tried at most, whether the policy or an interceptor asks for another try.
    public var tries = 10
    /// Times that one download is resumed, as long as each try brings some bytes.
    public var resumptions = 100
    /// Bytes of a body that is kept whole in memory; one more fails with `body_too_large`.
    public var bodyLength = 256 * 1024 * 1024
    /// Longest body, in bytes, that is passed to `willCache`; with that hook a longer one is not stored. Without it the cache's
    /// own limit applies.
    public var cachedBodyLength = 8 * 1024 * 1024
    /// Bytes of a streamed body that may be received and unread before reading from the origin stops. One more read (64 KiB)
    /// may exceed it.
    public var unreadBodyLength = 512 * 1024
    /// Idle connections kept for one origin.
    public var idleConnectionsPerOrigin = 16
    /// Idle connections kept over all origins.
    public var idleConnections = 128
    /// How long an idle connection is kept.
    public var idleConnectionTime: Duration = .seconds(60)

    /// The default limits.
    public init() {}
}
