import HTTPMessage
import HTTPWire

/// A request as it leaves: its head in bytes, and what the transport has to know of it.
package struct UpstreamRequest: Sendable {
    package var origin: Origin
    package var method: Method
    /// The complete head in origin form (or `OPTIONS *`), hop-by-hop fields settled. For an upstream proxy the transport
    /// makes the target absolute and adds `Proxy-Authorization`.
    package var head: [UInt8]
    /// `none`, `length` or `chunked`; the head already says the same.
    package var body: BodyFraming
    /// `nil` uses the configuration's.
    package var timeouts: UpstreamTimeouts?
    /// The value of Via with which an upstream proxy is asked for a tunnel to the origin (RFC 9110 §7.6.3), where one is needed.
    package var via: String
    /// Whether a pooled connection found dead may be replaced by a new one. Done once, for idempotent methods without
    /// a body only (RFC 9110 §9.2.2).
    package var isRetryable: Bool
    /// The head asks for another protocol: a 101 ends the exchange by `didSwitchProtocols`. To any other request it is a fault.
    package var isForSwitch: Bool
    /// Whether a proxy's 407 is a response like others. Else it is a failure: it concerns nobody behind us.
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
