import ServerTrust

/// The properties that two exchanges must share to use the same connection.
struct PoolKey: Hashable, Sendable {
    /// The server connected to. For plain HTTP through an upstream proxy, this is the proxy, whatever the origin.
    let origin: Origin
    /// The upstream proxy through which the tunnel to the origin leads; `nil` without a tunnel.
    let tunnelProxy: UpstreamProxy?
    /// The trust policy that evaluated the connection's certificate, since a pooled connection is not evaluated again. `nil`
    /// without TLS.
    let trustFingerprint: SHA256Digest?
    /// Whether the server is an upstream proxy that forwards requests. Its connections carry exchanges for every origin, so no limit per
    /// origin applies to them.
    let isForwardingProxy: Bool
    /// Whether the server is known to speak HTTP/2 without TLS (RFC 9113 §3.3).
    let isKnownHTTP2: Bool

    var connectedPort: UInt16 { tunnelProxy?.origin.port ?? origin.port }

    init(direct origin: Origin, isKnownHTTP2: Bool = false) {
        self.origin = origin
        tunnelProxy = nil
        trustFingerprint = nil
        isForwardingProxy = false
        self.isKnownHTTP2 = isKnownHTTP2
    }

    /// - Parameter trustFingerprint: of the policy for the proxy itself; `nil` without TLS.
    init(forwardingProxy proxy: UpstreamProxy, trustFingerprint: SHA256Digest? = nil) {
        origin = proxy.origin
        tunnelProxy = nil
        self.trustFingerprint = trustFingerprint
        isForwardingProxy = true
        isKnownHTTP2 = false
    }

    /// Plain HTTP through a proxy that forwards bytes (SOCKS5).
    init(plain origin: Origin, through proxy: UpstreamProxy) {
        self.origin = origin
        tunnelProxy = proxy
        trustFingerprint = nil
        isForwardingProxy = false
        isKnownHTTP2 = false
    }

    init(secure origin: Origin, through proxy: UpstreamProxy?, trustFingerprint: SHA256Digest) {
        self.origin = origin
        tunnelProxy = proxy
        self.trustFingerprint = trustFingerprint
        isForwardingProxy = false
        isKnownHTTP2 = false
    }
}
