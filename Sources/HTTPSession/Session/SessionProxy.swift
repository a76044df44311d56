import UpstreamTransport

/// An HTTP proxy for all requests: it receives http requests, and for https it opens tunnels (CONNECT).
public struct SessionProxy: Sendable {
    /// The proxy's host: a name in lower case, or an IP address.
    public let host: String
    /// The proxy's port.
    public let port: UInt16
    /// The session's credential for the proxy. For tunnels, a password is sent by Digest if the proxy offers that, else by Basic.
    public let credential: HTTPCredential?
    /// Whether https requests are also sent to the proxy in plain text. The proxy must then speak TLS with the origins itself, and
    /// verify them.
    let asksSecurely: Bool

    /// A proxy that is contacted in plain HTTP.
    public init(host: String, port: UInt16, credential: HTTPCredential? = nil) {
        self.host = host
        self.port = port
        self.credential = credential
        asksSecurely = false
    }

    /// A Larder proxy on this machine that contacts https origins itself: no byte of these requests leaves the machine in plain text.
    package init(larderAt host: String, port: UInt16) {
        self.host = host
        self.port = port
        credential = nil
        asksSecurely = true
    }

    var upstream: UpstreamProxy {
        switch credential {
        case .password(let user, let password): UpstreamProxy(host: host, port: port, asking: user, password: password)
        case .bearer(let token): UpstreamProxy(host: host, port: port, authorization: Array("Bearer \(token)".utf8))
        case nil: UpstreamProxy(host: host, port: port, asksSecurely: asksSecurely)
        }
    }
}
