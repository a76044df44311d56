package import HTTP2Wire
import HTTPMessage
import HTTPWire
import ServerTrust

/// The settings of a transport, fixed when it is created.
package struct TransportConfiguration: Sendable {
    package var timeouts = UpstreamTimeouts()
    package var limits = ParseLimits()
    /// The name of the way to the origins, for logs.
    package var wayName = "direct"
    package var proxy: UpstreamProxy?
    /// The parents that requests are sent to, instead of to a single proxy.
    package var parents: ParentGroup?
    /// How often parents that do not respond, or have got no request, are probed.
    package var parentProbeMilliseconds = 5_000
    /// Host names in lower case, with the addresses to connect to instead of looking the name up.
    package var resolve: [String: [IPAddress]] = [:]
    package var addresses = AddressPolicy.standard
    /// The trust policies for the servers of https origins. `nil`: no https origin is trusted.
    package var trust: TrustPolicySet?
    /// Client certificates for https origins that request one.
    package var identities = HostTable<ClientIdentity>()
    /// The policy for CONNECT.
    package var connect = ConnectPolicy()
    /// Receives each line of the secrets of TLS connections (`SSLKEYLOGFILE`), on any loop.
    package var writeKeys: (@Sendable (UnsafePointer<CChar>) -> Void)?
    /// Records servers whose pins are only reported.
    package var audit: PinAudit?
    package var gate = EgressGate()
    /// Whether https origins are offered HTTP/2 by ALPN.
    package var offersHTTP2 = true
    /// The limits of connections with HTTP/2.
    package var http2Limits = HTTP2Limits()
    /// The maximum numbers of idle connections in each loop: for one origin, and for all origins.
    package var idleConnectionsPerOrigin = 64
    package var idleConnections = 512
    package var idleConnectionMilliseconds = 60_000
    /// The maximum number of name lookups, or of connections with several addresses, that each loop runs at once; others wait.
    package var lookUps = 256
    /// The number of bytes of a request's body that are buffered before the caller must wait.
    package var requestBufferLength = 64 * 1024

    package init() {}
}
