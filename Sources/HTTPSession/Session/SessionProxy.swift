import UpstreamTransport

/// An HTTP proxy for all requests: http requests are sent to it, and for https it is asked to open tunnels (CONNECT).
public struct SessionProxy: Sendable {
    /// A name in lower case, or an address.
    public let host: String
    /// Its port.
    public let port: UInt16
    /// Our credential for it. Tunnels are requested with a password by Digest, if the proxy offers that, or by Basic.
    public let credential: HTTPCredential?
    /// Whether https requests are sent to it in plain text as well: the proxy itself speaks TLS with the origins, and verifies them.
    let asksSecurely: Bool

    /// A proxy that is contacted in plain HTTP.
    public init(host: String, port: UInt16, credential: HTTPCredential? = nil) {
        self.host = host
        self.port = port
        self.credential = credential
        asksSecurely = false
    }

    /// A Larder on this machine that contacts https origins itself: no byte of these requests leaves the machine in plain text.
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
