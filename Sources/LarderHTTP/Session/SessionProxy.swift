import UpstreamTransport

/// An HTTP proxy for all requests: it receives http requests, and for https it opens tunnels (CONNECT). Or the proxies that the
/// environment names (`.environment`).
public struct SessionProxy: Sendable {
    /// The proxy's host: a name in lower case, or an IP address. Empty if the environment names the proxies.
    public let host: String
    /// The proxy's port.
    public let port: UInt16
    /// The session's credential for the proxy. For tunnels, a password is sent by Digest if the proxy offers that, else by Basic.
    public let credential: HTTPCredential?
    /// Whether https requests are also sent to the proxy in plain text. The proxy must then speak TLS with the origins itself, and
    /// verify them.
    let asksSecurely: Bool
    /// Returns the environment variables that name the proxies; `nil` for this one proxy.
    let variables: (@Sendable () -> [String: String])?

    /// The proxies that the variables of this process name when a session is created: `http_proxy` for http, `https_proxy` or
    /// `HTTPS_PROXY` for https, else `all_proxy` or `ALL_PROXY`, and none for the hosts of `no_proxy` or `NO_PROXY`.
    public static let environment = SessionProxy { EnvironmentProxies.variablesOfProcess() }

    /// The proxies that these variables name.
    public static func environment(_ variables: [String: String]) -> SessionProxy { SessionProxy { variables } }

    private init(_ variables: @escaping @Sendable () -> [String: String]) {
        host = ""
        port = 0
        credential = nil
        asksSecurely = false
        self.variables = variables
    }

    /// A proxy that is contacted in plain HTTP.
    public init(host: String, port: UInt16, credential: HTTPCredential? = nil) {
        self.host = host
        self.port = port
        self.credential = credential
        asksSecurely = false
        variables = nil
    }

    /// A Larder proxy on this machine that contacts https origins itself: no byte of these requests leaves the machine in plain text.
    package init(larderAt host: String, port: UInt16) {
        self.host = host
        self.port = port
        credential = nil
        asksSecurely = true
        variables = nil
    }

    var upstream: UpstreamProxy {
        switch credential {
        case .password(let user, let password): UpstreamProxy(host: host, port: port, asking: user, password: password)
        case .bearer(let token): UpstreamProxy(host: host, port: port, authorization: Array("Bearer \(token)".utf8))
        case nil: UpstreamProxy(host: host, port: port, asksSecurely: asksSecurely)
        }
    }
}
