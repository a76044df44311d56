import HTTPMessage
import ParentSelection
import ServerTrust

/// Connections through proxies and parents.
extension Transport {
    /// The connections to a proxy that forwards requests.
    func useForwarding(_ proxy: UpstreamProxy) throws(TransportError) -> Endpoint {
        guard proxy.scheme == .https else { return pool.use(PoolKey(forwardingProxy: proxy)) }
        let policy = try policy(host: proxy.host, port: proxy.port)
        let endpoint = pool.use(PoolKey(forwardingProxy: proxy, trustFingerprint: policy.fingerprint))
        endpoint.trust = policy
        endpoint.identity = configuration.identities.value(host: proxy.host, port: proxy.port)
        // The target of a request is in absolute form, which is written for HTTP/1.1 only.
        endpoint.requiresHTTP1 = true
        return endpoint
    }

    /// The connections through a parent.
    /// - Parameter isForwarded: whether the parent gets the request itself, and not only a tunnel to the origin.
    func use(_ origin: Origin, through parent: UpstreamProxy, isForwarded: Bool) throws(TransportError) -> Endpoint {
        if let refusal = refusalOfConnecting(to: origin) { throw refusal }
        if origin.scheme == .http, forbidsPlaintext(to: origin.host, port: origin.port) { throw .plaintextToPinnedHost }
        // An origin that is denied here is denied although a parent would verify it.
        if isForwarded, origin.scheme == .https { _ = try policy(host: origin.host, port: origin.port) }
        return isForwarded ? try useForwarding(parent) : try useSecurely(origin, through: parent)
    }

    /// The mark of the policy for an origin that a parent has verified.
    func markOfParentVerified(_ origin: Origin) -> UInt64 {
        guard origin.scheme == .https, let policy = try? policy(host: origin.host, port: origin.port) else { return 0 }
        return policy.mark(at: wallClock)
    }

    /// Sets the proxy of a connection.
    func lead(_ target: inout ConnectTarget, through proxy: UpstreamProxy?) {
        target.tunnelProxy = proxy
        // Without a policy for the proxy, the attempt fails.
        guard let proxy, proxy.scheme == .https, let trust = try? policy(host: proxy.host, port: proxy.port) else { return }
        target.tunnelProxyTerms = ProxyTerms(
            trust: trust, identity: configuration.identities.value(host: proxy.host, port: proxy.port),
            addresses: configuration.resolve[proxy.host] ?? [])
    }

    /// The key by which tunnels to a host are shared among the parents. All connections of a host use one parent, which needs few of them.
    func parentKey(ofHost host: String, port: UInt16) -> KeyHash { KeyHash(of: "\(host):\(port)") }

    /// The proxy for a tunnel that only verifies a server. With parents, it is the parent that a tunnel to this host uses.
    func tunnelProxy(toHost host: String, port: UInt16) -> UpstreamProxy? {
        guard let group = configuration.parents else { return configuration.proxy }
        guard let attempt = ParentAttempt.begin(group, for: parentKey(ofHost: host, port: port)) else { return nil }
        group.ended(attempt.member)
        return attempt.proxy
    }
}
