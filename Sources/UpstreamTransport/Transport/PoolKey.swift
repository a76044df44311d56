import ServerTrust

/// What two exchanges must have in common to share a connection.
struct PoolKey: Hashable, Sendable {
    /// The server connected to. For plain HTTP through an upstream proxy that is the proxy, whatever the origin.
    let origin: Origin
    /// The proxy through which a tunnel leads to the origin.
    let tunnelProxy: UpstreamProxy?
    /// Which trust policy judged the connection's certificate, since a pooled connection is not judged again. `nil` without TLS.
    let trustFingerprint: SHA256Digest?
    /// Connections to a forwarding proxy carry every origin's exchanges: no limit per origin applies.
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
