import LarderHTTP
import ServerTrust

package enum FetchSession {
    /// A session that sends all requests to Larder. Larder limits the waiting times; the session does not retry, cache, decode or verify.
    package static func make(_ proxy: SessionProxy, connections: Int, userAgent: String) throws(SessionError) -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.proxy = proxy
        configuration.defaultFields = ["Accept": "*/*", "User-Agent": userAgent]
        configuration.retries = .never
        configuration.decodesContent = false
        configuration.timeouts.queue = .zero
        configuration.timeouts.firstByte = .zero
        configuration.timeouts.idle = .zero
        configuration.limits.activeExchanges = max(connections, 1)
        configuration.limits.activeExchangesPerOrigin = max(connections, 1)
        let nobody: TrustPolicySet
        do { nobody = try TrustPolicySet([], fallback: .deny) } catch { preconditionFailure("no host is named twice") }
        return try HTTPSession(configuration: configuration, trust: .policies(nobody))
    }
}
