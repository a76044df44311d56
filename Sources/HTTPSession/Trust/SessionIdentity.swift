public import ServerTrust

/// A certificate of ours with its key, and the https origins that get it when they ask.
public struct SessionIdentity: Sendable {
    /// A name, `*.` and a name, or an address.
    public let host: String
    /// `nil` for every port.
    public let port: UInt16?
    /// The certificate with its key.
    public let identity: ClientIdentity

    /// - Parameters:
    ///   - host: a name, `*.` and a name, or an address, as in `TrustPolicySet.Entry`.
    ///   - port: `nil` for every port.
    ///   - identity: what is shown there.
    public init(host: String, port: UInt16? = nil, identity: ClientIdentity) {
        self.host = host
        self.port = port
        self.identity = identity
    }
}
