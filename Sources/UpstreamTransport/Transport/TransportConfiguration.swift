import HTTPMessage
import HTTPWire
import ServerTrust

/// What a transport is told once, when it is made.
package struct TransportConfiguration: Sendable {
    package var timeouts = UpstreamTimeouts()
    package var limits = ParseLimits()
    package var proxy: UpstreamProxy?
    /// Names, in lower case, that are not looked up but connected to fixed addresses.
    package var resolve: [String: [IPAddress]] = [:]
    package var addresses = AddressPolicy.standard
    /// By which the servers of https origins are judged. `nil`: none is believed.
    package var trust: TrustPolicySet?
    /// Who we are, for https origins that ask.
    package var identities = HostTable<ClientIdentity>()
    /// What CONNECT gets.
    package var connect = ConnectPolicy()
    /// Takes each line of the secrets of TLS connections (`SSLKEYLOGFILE`), on any loop.
    package var writeKeys: (@Sendable (UnsafePointer<CChar>) -> Void)?
    /// Hears of servers whose pins are only reported on.
    package var audit: PinAudit?
    package var gate = EgressGate()
    /// Idle connections kept for one origin, and for all, by each loop.
    package var idleConnectionsPerOrigin = 64
    package var idleConnections = 512
    package var idleConnectionMilliseconds = 60_000
    /// How many names are looked up, or connected to by several addresses, at once by each loop; further ones wait.
    package var lookUps = 256
    /// Bytes of a request's body that wait in memory before the caller is told to wait.
    package var requestBufferLength = 64 * 1024

    package init() {}
}
