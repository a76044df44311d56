import UpstreamTransport

/// The proxy of each request: always the same, or as the environment says.
struct ProxyRoutes: Sendable {
    /// The proxies in use; `nil` is a direct connection. Never empty.
    let proxies: [SessionProxy?]
    private let environment: EnvironmentProxies?

    /// - Throws: `bad_url` for a variable that names no usable proxy.
    init(_ proxy: SessionProxy?) throws(SessionError) {
        guard let variables = proxy?.variables else {
            proxies = [proxy]
            environment = nil
            return
        }
        let environment = try EnvironmentProxies(variables())
        proxies = [nil, environment.http, environment.https]
        self.environment = environment
    }

    /// The index of the proxy for an origin.
    func index(isSecure: Bool, host: String) -> Int {
        guard let environment, environment.proxy(isSecure: isSecure, host: host) != nil else { return 0 }
        return isSecure ? 2 : 1
    }

    func proxy(for uri: TargetURI) -> SessionProxy? { proxies[index(isSecure: uri.isSecure, host: uri.host)] }
}
