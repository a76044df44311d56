public import HTTPCaching

/// The part of a session's configuration that a file can hold: `Codable`, with defaults for missing keys. An unknown key is a
/// `DecodingError` with the path of the key.
///
/// Durations are texts such as `30s` and `500ms`. Closures, caches, cookies and credentials are set on the `SessionConfiguration` that is
/// made of it.
public struct SessionSettings: Equatable, Sendable {
    /// How redirects are handled.
    public enum Redirects: Hashable, Sendable {
        /// Follow at most this many redirects.
        case follow(atMost: Int)
        /// Follow at most this many redirects within a site.
        case sameSite(atMost: Int)
        /// Deliver the redirect as the response.
        case deliver
        /// Fail with `redirect_refused`.
        case deny
    }

    /// The proxy.
    public enum Proxy: Hashable, Sendable {
        /// The proxies that the environment names.
        case environment
        /// This proxy.
        case server(host: String, port: UInt16)
    }

    /// The base URI for relative targets.
    public var base: String?
    /// The fields sent with every request that does not set them itself.
    public var defaultFields: [String: String] = ["Accept": "*/*", "User-Agent": "Larder"]
    /// The timeouts for requests that have none of their own.
    public var timeouts = SessionTimeouts()
    /// Limits on exchanges, memory and idle connections.
    public var limits = SessionLimits()
    /// The number of threads that carry transfers.
    public var threads = 1
    /// How redirects are handled.
    public var redirects = Redirects.follow(atMost: 10)
    /// When a request is retried.
    public var retries = RetryPolicy.standard
    /// Whether the session requests and decodes content codings.
    public var decodesContent = true
    /// The cache policy for requests that have none of their own.
    public var cachePolicy = CachePolicy.useProtocol
    /// The proxy; `nil`: none.
    public var proxy: Proxy?
    /// Whether https origins are offered HTTP/2.
    public var offersHTTP2 = true
    /// Host names in lower case, with the addresses to connect to.
    public var resolve: [String: [String]] = [:]

    /// The defaults of `SessionConfiguration`.
    public init() {}
}

extension SessionConfiguration {
    /// A configuration with these settings.
    /// - Throws: `bad_url` for an invalid base.
    public init(_ settings: SessionSettings) throws(SessionError) {
        self.init()
        if let base = settings.base {
            do throws(TargetURI.Fault) { self.base = try TargetURI(base) } catch {
                throw SessionError(.badURL, "the base \(base): \(error)")
            }
        }
        defaultFields = SessionFields()
        for (name, value) in settings.defaultFields.sorted(by: { $0.key < $1.key }) { defaultFields.append(name, value) }
        timeouts = settings.timeouts
        limits = settings.limits
        threads = settings.threads
        switch settings.redirects {
        case .follow(let limit): redirects = .follow(atMost: limit)
        case .sameSite(let limit): redirects = .sameSite(atMost: limit)
        case .deliver: redirects = .deliver
        case .deny: redirects = .deny
        }
        retries = settings.retries
        decodesContent = settings.decodesContent
        cachePolicy = settings.cachePolicy
        switch settings.proxy {
        case .environment: proxy = .environment
        case .server(let host, let port): proxy = SessionProxy(host: host, port: port)
        case nil: proxy = nil
        }
        offersHTTP2 = settings.offersHTTP2
        resolve = settings.resolve
    }
}
