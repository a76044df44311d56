public import ServerTrust

/// A client certificate with its key, and the https origins that get it when they request one.
public struct SessionIdentity: Sendable {
    /// The origins' host: a name, `*.` and a name, or an IP address.
    public let host: String
    /// The origins' port; `nil` for every port.
    public let port: UInt16?
    /// The certificate with its key.
    public let identity: ClientIdentity

    /// - Parameters:
    ///   - host: a name, `*.` and a name, or an IP address, as in `TrustPolicySet.Entry`.
    ///   - port: `nil` for every port.
    ///   - identity: the certificate that is sent to these origins.
    public init(host: String, port: UInt16? = nil, identity: ClientIdentity) {
        self.host = host
        self.port = port
        self.identity = identity
    }
}
