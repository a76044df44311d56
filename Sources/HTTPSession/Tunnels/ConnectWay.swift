/// What CONNECT to a host gets.
package enum ConnectWay: String, CaseIterable, Sendable {
    /// Bytes go through unseen: nothing is judged but what the client judges.
    case tunnel
    /// The server is judged over a connection of our own first.
    case probe
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
    case denied

    /// The word in the log.
    package var word: StaticString {
        switch self {
        case .tunnelled: "tunnel"
        case .probed: "probe"
        case .probedBefore: "probe_kept"
        case .denied: "deny"
        }
    }
}
