import Glibc
import HTTPMessage
import ServerTrust

/// Where to connect to, and how.
struct ConnectTarget {
    var host: String
    var port: UInt16
    /// Connect to these instead of looking the host up.
    var addresses: [IPAddress] = []
    /// Ask this proxy for a tunnel (CONNECT) to the host. `nil` connects to it.
    var tunnelProxy: UpstreamProxy?
    /// Who has passed the request for the tunnel on, for that proxy (RFC 9110 §7.6.3); empty: nobody.
    var via = ""
    /// By which the server is judged in a TLS handshake. `nil` connects, and no more.
    var trust: TrustPolicy?
    /// Who we are for the server, should it ask.
    var identity: ClientIdentity?
    /// Connect there though the handshake is with the host, also through a proxy. Not remembered as the host's address.
    var diversion: IPAddress?
    /// Whether the handshake offers `http/1.1` (RFC 7301). A server that speaks something else refuses that.
    var offersHTTP = true
    var writeKeys: (@Sendable (UnsafePointer<CChar>) -> Void)?

    /// The one address this can lead to, where nothing has to be looked up and there is nothing to choose from.
    var onlyAddress: IPAddress? {
        if trust != nil || tunnelProxy != nil || addresses.count > 1 { return nil }
        if let address = addresses.first { return address }
        let host = Array(host.utf8)
        return IPAddress(asLookedUp: host.span)
    }
}

/// An attempt to connect that is under way, as whoever waits for it holds it.
protocol ConnectAttempt: AnyObject {
    /// Ends the attempt at once, also while a name is being looked up; the observer hears nothing any more.
    func cancel()
}

/// Whom an attempt has led to. Who is given it has to close it.
struct ConnectedPeer {
    /// Connected, and not blocking.
    let descriptor: Int32
    let address: IPAddress?
    /// The TLS connection on that descriptor, whose server is believed; it closes the descriptor, too.
    var channel: UpstreamTLSChannel?
    /// How long the name and the handshake took, in microseconds; zero where there was none.
    var lookUpTime = 0
    var handshakeTime = 0

    /// Where nobody watches the descriptor.
    func close() {
        if let channel { channel.close() } else { Glibc.close(descriptor) }
    }
}

/// Hears how an attempt ended, once, and never from within `Connector.connect`.
protocol ConnectObserver: AnyObject {
    /// The peer is the observer's from here on. It has a channel where the target had a trust policy.
    func didConnect(_ peer: ConnectedPeer)
    func didFailToConnect(_ error: TransportError)
}
