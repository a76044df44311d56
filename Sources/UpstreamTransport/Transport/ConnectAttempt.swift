import Glibc
import HTTPMessage
import ServerTrust

/// The target of a connection, with its options.
struct ConnectTarget {
    var host: String
    var port: UInt16
    /// Connect to these addresses instead of looking up the host.
    var addresses: [IPAddress] = []
    /// Request a tunnel (CONNECT) to the host from this proxy. `nil`: connect directly.
    var tunnelProxy: UpstreamProxy?
    /// How to connect to a proxy with TLS: the policy that evaluates it, the client certificate, and its addresses in the settings.
    var tunnelProxyTerms: ProxyTerms?
    /// The value of Via in the tunnel request to the upstream proxy (RFC 9110 §7.6.3); empty for none.
    var via = ""
    /// The trust policy that evaluates the server in a TLS handshake. `nil`: connect without TLS.
    var trust: TrustPolicy?
    /// The client certificate, if the server requests one.
    var identity: ClientIdentity?
    /// Look up the name and make no connection: the attempt ends with a peer that has an address and no descriptor.
    var looksUpOnly = false
    /// Connect to this address instead of the host, even through a proxy. The TLS handshake is still with the host.
    var diversion: IPAddress?
    /// The protocols that the handshake offers by ALPN (RFC 7301), in order of preference. A server for another protocol would reject
    /// `http/1.1`.
    var protocols = ["http/1.1"]
    /// The server for which sessions are kept: the handshake may resume one of them, and its own new sessions are kept too. `nil`: the
    /// server must show its certificate.
    var resumption: PoolKey?

    /// The host or address to connect to, or to name to the proxy.
    var connectedHost: String { diversion.map { "\($0)" } ?? host }

    /// The only possible address; `nil` with an upstream proxy, if a name lookup is needed, or if there are several addresses.
    var onlyAddress: IPAddress? {
        if tunnelProxy != nil { return nil }
        if let diversion { return diversion }
        if addresses.count > 1 { return nil }
        if let address = addresses.first { return address }
        let host = Array(host.utf8)
        return IPAddress(asLookedUp: host.span)
    }
}

/// How to connect to a proxy with TLS.
struct ProxyTerms {
    var trust: TrustPolicy
    var identity: ClientIdentity?
    var addresses: [IPAddress]
}

/// A connection attempt in progress.
protocol ConnectAttempt: AnyObject {
    /// Ends the attempt at once, also during the name lookup; the observer is not called after that.
    func cancel()
}

/// The connection that an attempt has made. The receiver must close it.
struct ConnectedPeer {
    /// The descriptor of the socket, which is connected and nonblocking.
    let descriptor: Int32
    let address: IPAddress?
    /// The TLS connection on `descriptor`, with a trusted server. Closing the TLS connection closes the descriptor too.
    var channel: UpstreamTLSChannel?
    /// The durations of the name lookup and of the TLS handshake, in microseconds; zero for a step that was not needed.
    var lookUpTime = 0
    var handshakeTime = 0

    /// Closes the connection. Call it only while no loop watches the descriptor.
    func close() {
        if let channel { channel.close() } else { Glibc.close(descriptor) }
    }
}

/// Receives the result of an attempt, once, and never from within `Connector.connect`.
protocol ConnectObserver: AnyObject {
    /// Called on success. The observer now owns `peer`, which has a TLS channel if the target had a trust policy.
    func didConnect(_ peer: ConnectedPeer)
    func didFailToConnect(_ error: TransportError)
}
