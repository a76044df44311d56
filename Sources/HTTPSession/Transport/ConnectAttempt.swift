import HTTPMessage

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

    /// The one address this can lead to, where nothing has to be looked up and there is nothing to choose from.
    var onlyAddress: IPAddress? {
        if tunnelProxy != nil || addresses.count > 1 { return nil }
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

/// Hears how an attempt ended, once, and never from within `Connector.connect`.
protocol ConnectObserver: AnyObject {
    /// The connected, non-blocking descriptor is the observer's from here on.
    func didConnect(_ descriptor: Int32, to address: IPAddress?)
    func didFailToConnect(_ error: TransportError)
}
