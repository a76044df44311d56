import UpstreamTransport

/// An HTTP proxy through which everything leaves: plain requests are sent to it, for https it is asked for tunnels.
public struct SessionProxy: Sendable {
    /// A name in lower case, or an address.
    public let host: String
    /// Where it listens.
    public let port: UInt16
    /// Who we are for it. Tunnels are asked for with a password by Digest, where the proxy offers that, or by Basic.
    public let credential: HTTPCredential?
    /// Whether it is asked for https origins, too, as for others, and in plain text: it speaks TLS with them itself, and judges them.
    let asksSecurely: Bool

    /// A proxy that is spoken to in plain HTTP.
    public init(host: String, port: UInt16, credential: HTTPCredential? = nil) {
        self.host = host
        self.port = port
        self.credential = credential
        asksSecurely = false
    }

    /// A Larder on this machine, which asks https origins itself: no byte of that leaves the machine in plain text.
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
