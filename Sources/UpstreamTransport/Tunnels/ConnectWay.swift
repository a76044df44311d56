/// What CONNECT to a host gets.
package enum ConnectWay: String, CaseIterable, Sendable {
    /// Bytes go through unseen: nothing is judged but what the client judges.
    case tunnel
    /// The server is judged over a connection of our own first.
    case probe
    /// What is in the tunnel is answered here, under a certificate of our own authority.
    case intercept
    case deny
}

/// What CONNECT got: a closed list.
package enum ConnectOutcome: Sendable {
    /// A tunnel to a server that nobody judged.
    case tunnelled
    /// The server was judged, or was to be judged, for this tunnel.
    case probed
    /// The server had been judged not long before.
    case probedBefore
    /// Its TLS ends here, and what is in it is answered as what is asked of a proxy.
    case intercepted
    /// What is in it is plain HTTP, and answered as such.
    case plainHTTP
    case denied

    /// The word in the log.
    package var word: StaticString {
        switch self {
        case .tunnelled: "tunnel"
        case .probed: "probe"
        case .probedBefore: "probe_kept"
        case .intercepted: "intercept"
        case .plainHTTP: "http"
        case .denied: "deny"
        }
    }
}
