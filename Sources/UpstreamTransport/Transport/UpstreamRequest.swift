import HTTPMessage
import HTTPWire
import ParentSelection

/// A request ready to be sent: the bytes of its head, and properties for the transport.
package struct UpstreamRequest: Sendable {
    package var origin: Origin
    package var method: Method
    /// The complete head in origin form (or `OPTIONS *`), with hop-by-hop fields already set. For an upstream proxy the
    /// transport makes the target absolute and adds `Proxy-Authorization`.
    package var head: [UInt8]
    /// The framing of the body, as the head declares it: `none`, `length` or `chunked`.
    package var body: BodyFraming
    /// The timeouts for this request; `nil` for the timeouts of the configuration.
    package var timeouts: UpstreamTimeouts?
    /// The value of Via in the CONNECT to an upstream proxy (RFC 9110 §7.6.3), if a tunnel to the origin is needed.
    package var via: String
    /// Whether a new connection may replace a pooled one that turns out to be dead. A request is retried in this way only once, and only if
    /// its method is idempotent and it has no body (RFC 9110 §9.2.2).
    package var isRetryable: Bool
    /// Whether the head requests WebSocket: then a 101 ends the exchange with `didSwitchProtocols`. For any other request a 101 is an
    /// error. In HTTP/2 the request is an extended CONNECT, and the delegate gets its response as a 101.
    package var isForSwitch: Bool
    /// Whether a request that asks for WebSocket goes through a tunnel of the upstream proxy even to an http origin (RFC 6455 §4.1): few
    /// proxies forward Upgrade.
    package var tunnelsForSwitch = false
    /// Whether the recipient of the response can use trailers (RFC 9110 §6.5.1). In HTTP/2 the request says so to the server.
    package var acceptsTrailers = false
    /// Whether the server is known to speak HTTP/2 without TLS, since its client does (RFC 9113 §3.3).
    package var isForKnownHTTP2 = false
    /// The hash of the cache key, by which parents share the requests.
    package var parentKey = KeyHash(value: 0)
    /// The party that verifies an https origin, if the way leads through parents. A parent that verifies it gets the request itself.
    package var verifier = OriginVerifier.larder
    /// The parent that gets this request and no other, to find out whether it responds.
    var probedParent: Int?
    /// Whether a proxy's 407 is delivered as a response. If not, it is a failure: clients cannot answer it.
    package var takesProxyChallenges = false

    package init(
        origin: Origin, method: Method, head: [UInt8], body: BodyFraming = .none, timeouts: UpstreamTimeouts? = nil,
        via: String = "", isRetryable: Bool = true, isForSwitch: Bool = false
    ) {
        self.origin = origin
        self.method = method
        self.head = head
        self.body = body
        self.timeouts = timeouts
        self.via = via
        self.isRetryable = isRetryable
        self.isForSwitch = isForSwitch
    }
}
