/// The handling of CONNECT to a host.
package enum ConnectWay: String, CaseIterable, Sendable {
    /// Bytes pass uninspected; only the client verifies the server.
    case tunnel
    /// Larder first verifies the server over a connection of its own.
    case probe
    /// Larder answers the requests inside the tunnel, with a certificate of its own CA.
    case intercept
    case deny
}

/// How CONNECT was handled: a closed list.
package enum ConnectOutcome: Sendable {
    /// A tunnel to a server that Larder did not verify.
    case tunnelled
    /// A probe verified the server for this tunnel, or should have verified it.
    case probed
    /// The verdict of an earlier probe was reused.
    case probedBefore
    /// TLS ends at Larder, which handles the requests inside as proxy requests.
    case intercepted
    /// The tunnel carries plain HTTP, which Larder handles as such.
    case plainHTTP
    case denied

    /// The word for the outcome in the log.
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
