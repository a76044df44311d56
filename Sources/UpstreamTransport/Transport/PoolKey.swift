import ServerTrust

/// The properties that two exchanges must share to use the same connection.
struct PoolKey: Hashable, Sendable {
    /// The server connected to. For plain HTTP through an upstream proxy that is the proxy, for every origin.
    let origin: Origin
    /// The proxy of the tunnel to the origin.
    let tunnelProxy: UpstreamProxy?
    /// The trust policy that evaluated the connection's certificate, since a pooled connection is not evaluated again. `nil`
    /// without TLS.
    let trustFingerprint: SHA256Digest?
    /// Connections to a forwarding proxy carry exchanges for every origin, so no limit per origin applies.
    let isForwardingProxy: Bool

    var connectedPort: UInt16 { tunnelProxy?.origin.port ?? origin.port }

    init(direct origin: Origin) {
        self.origin = origin
        tunnelProxy = nil
        trustFingerprint = nil
        isForwardingProxy = false
    }

    init(forwardingProxy proxy: UpstreamProxy) {
        origin = proxy.origin
        tunnelProxy = nil
        trustFingerprint = nil
        isForwardingProxy = true
    }

    init(secure origin: Origin, through proxy: UpstreamProxy?, trustFingerprint: SHA256Digest) {
        self.origin = origin
        tunnelProxy = proxy
        self.trustFingerprint = trustFingerprint
        isForwardingProxy = false
    }
}
