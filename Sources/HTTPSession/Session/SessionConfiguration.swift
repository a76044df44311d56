public import HTTPCaching
import HTTPMessage

/// What a session is told once, when it is made.
public struct SessionConfiguration: Sendable {
    /// What relative targets are resolved against; a slash is added to its path where it lacks one.
    public var base: TargetURI?
    /// Fields of every request that does not have them itself.
    public var defaultFields: HTTPFields = ["Accept": "*/*", "User-Agent": "Larder"]
    /// For requests that have none of their own.
    public var timeouts = SessionTimeouts()
    /// How much of each thing there may be.
    public var limits = SessionLimits()
    /// Threads that carry transfers; an origin's all run on one of them.
    public var threads = 1
    /// What becomes of redirects.
    public var redirects = RedirectPolicy.follow()
    /// When a request is sent again.
    public var retries = RetryPolicy.standard
    /// Whether responses are asked for in gzip, deflate, br or zstd, and decoded. What a request's own Accept-Encoding asks for is not.
    public var decodesContent = true
    /// Keeps responses to be used again, those that are read in pieces and downloads too: what is read to its end is kept.
    public var cache: (any ResponseCaching)?
    /// For requests that do not say another.
    public var cachePolicy = CachePolicy.useProtocol
    /// Asked before a response is kept that may be.
    public var willCache: (@Sendable (CacheCandidate) async -> CacheDecision)?
    /// Keeps cookies and sends them. A request's own Cookie stays as it is.
    public var cookies: CookieJar?
    /// How challenges (401, and 407 of the proxy) are answered.
    public var authentication = ChallengePolicy()
    /// `nil`: everything is connected to directly.
    public var proxy: SessionProxy?
    /// Who we are for https origins that ask for a certificate.
    public var identities: [SessionIdentity] = []
    /// Asked in their order, before the session's own policies.
    public var interceptors: [any RequestInterceptor] = []
    /// Hear of each event, in their order.
    public var monitors: [any EventMonitor] = []
    /// Names, in lower case, that are not looked up but connected to these addresses.
    public var resolve: [String: [String]] = [:]

    /// What most programs want: nothing that is kept, nothing that is told of anybody.
    public init() {}
}

/// How much of each thing there may be.
public struct SessionLimits: Equatable, Sendable {
    /// Exchanges under way at once, over all origins and with each. Others wait, by their priority.
    public var activeExchanges = 256
    /// With one origin.
    public var activeExchangesPerOrigin = 64
    /// Transfers that wait for their turn; the next one fails with `queue_full`.
    public var waitingTransfers = 16_384
    /// Times that one request is tried, whoever asks for another.
    public var tries = 10
    /// Times that one download goes on where it broke off, as long as each of them brings something.
    public var resumptions = 100
    /// Bytes of a body that is held whole in memory; one more is `body_too_large`.
    public var bodyLength = 256 * 1024 * 1024
    /// Bytes of a body that `willCache` is asked about. A longer one is not kept where there is such a hook; else the cache has its own limit.
    public var cachedBodyLength = 8 * 1024 * 1024
    /// Bytes of a streamed body that were received and not read yet, before reading from the origin stops. One read more
    /// (64 KiB) may stand above it.
    public var unreadBodyLength = 512 * 1024
    /// Idle connections kept for one origin, for all, and for how long.
    public var idleConnectionsPerOrigin = 16
    /// For all origins.
    public var idleConnections = 128
    /// How long an idle connection is kept.
    public var idleConnectionTime: Duration = .seconds(60)

    /// The usual limits.
    public init() {}
}
