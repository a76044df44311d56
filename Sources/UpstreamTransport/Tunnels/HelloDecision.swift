import HTTPMessage
import HTTPWire

/// The decision for a tunnel after the client's first bytes have arrived; the server has received none of them yet.
package enum HelloDecision: Equatable, Sendable {
    case pass
    /// The bytes pass if the server is verified as this host.
    case judge(host: String)
    case refuse(TunnelRefusal)
}

/// The decision for a tunnel whose first bytes Larder reads before it makes any connection.
package enum InterceptionDecision: Equatable, Sendable {
    /// TLS ends at Larder, with a certificate for this host.
    case intercept(host: String)
    /// The client gets a tunnel, because the settings for its host require that.
    case tunnel
    /// The host should be intercepted, but the client gets a tunnel for this reason.
    case tunnelUninspected(host: String, UninspectedReason)
    case refuse(TunnelRefusal)
}

/// Why a tunnel is refused after the client's first bytes: a closed list.
package enum TunnelRefusal: Equatable, Sendable {
    /// The ClientHello names another host, and forwarding it would bypass pins or a denial of one of the two hosts.
    case nameMismatch
    case nameMissing
    case encryptedHello
    /// The host must be verified, and the client does not speak TLS.
    case notTLS
    /// The client's protocol would hide its requests from rules. A rule can block requests to the host; for a client without
    /// TLS, it is enough that a rule names the host.
    case hiddenFromRules
    /// A rule's mode forbids traffic to the host.
    case closedByRule
    case unreadable(ClientHelloFault)
    /// The ClientHello was not complete in time.
    case timedOut
    /// The settings deny CONNECT to the named host.
    case denied
    /// No trust policy is defined for the named host, and the settings deny such hosts.
    case hostDenied
    /// The settings or rules require a check of the host, but the tunnel may have been opened without it: under earlier settings,
    /// or before the client sent anything.
    case openedBefore
    /// The host is intercepted, and the client does not offer HTTP/1 inside TLS.
    case otherProtocol
    /// The host is intercepted, and our CA cannot issue a certificate for it.
    case noLeaf(MissingLeaf)
    /// The client rejected our certificate in its TLS handshake with Larder.
    case refusedByClient(TLSAlert)
    /// The client ended its TLS handshake with Larder for another reason.
    case clientAlert(TLSAlert)
    /// The TLS handshake with the client failed, or the client closed the connection during it.
    case clientHandshakeFailed
    case clientLeft
    /// The client was inactive in its handshake, and others wait because the limit for concurrent handshakes is reached.
    case gaveWay

    /// The reason for logs.
    package var reason: StaticString {
        switch self {
        case .nameMismatch: "server_name_mismatch"
        case .nameMissing: "server_name_missing"
        case .encryptedHello: "encrypted_client_hello"
        case .notTLS: "not_tls"
        case .hiddenFromRules: "hidden_from_rules"
        case .closedByRule: "closed_by_rule"
        case .unreadable(let fault): fault.reason
        case .timedOut: "client_hello_timeout"
        case .denied: "connect_denied"
        case .hostDenied: "host_denied"
        case .openedBefore: "settings_changed"
        case .otherProtocol: "no_http1_offered"
        case .noLeaf(let missing): missing.reason
        case .refusedByClient(let alert), .clientAlert(let alert): alert.reason
        case .clientHandshakeFailed: "handshake_failed"
        case .clientLeft: "closed_in_handshake"
        case .gaveWay: "handshakes_busy"
        }
    }

    /// The alert sent to the client; `nil` if the client does not speak TLS, or gets no alert.
    package var alert: TLSAlert? {
        switch self {
        case .nameMismatch, .nameMissing, .encryptedHello, .denied, .hostDenied, .openedBefore: .unrecognizedName
        case .unreadable: .decodeError
        case .otherProtocol: .noApplicationProtocol
        case .noLeaf, .closedByRule, .hiddenFromRules: .accessDenied
        case .notTLS, .timedOut, .refusedByClient, .clientAlert, .clientHandshakeFailed, .clientLeft, .gaveWay: nil
        }
    }
}

/// Why a client cannot get a certificate for a host: a closed list.
package enum MissingLeaf: Error, Equatable, Sendable {
    /// The name constraints of our CA exclude the name.
    case outsideConstraint
    case authorityNotYetValid
    case authorityExpired
    case noAuthority
    /// The host is neither a host name nor an IP address.
    case noName
    /// The limit for certificates being issued is reached.
    case busy
    case failed

    package var reason: StaticString {
        switch self {
        case .outsideConstraint: "outside_authority_constraint"
        case .authorityNotYetValid: "authority_not_yet_valid"
        case .authorityExpired: "authority_expired"
        case .noAuthority: "no_authority"
        case .noName: "no_host_name"
        case .busy: "certificates_busy"
        case .failed: "certificate_failed"
        }
    }
}

extension Transport {
    /// Whether the first bytes of clients in tunnels must be checked.
    package var looksIntoTunnels: Bool { configuration.connect.isAskedAboutHellos }

    /// - Parameters:
    ///   - hello: `nil` if the client does not speak TLS.
    ///   - opener: the transport that opened the tunnel, possibly under other settings.
    ///   - needsName: whether the client must speak TLS with the host of the CONNECT, and name that host.
    package func decide(
        on hello: ClientHello?, inTunnelTo origin: Origin, openedBy opener: Transport, needsName: Bool
    ) -> HelloDecision {
        let host = origin.judgedHost
        if needsName, let refusal = ConnectPolicy.refusal(of: hello, naming: host) { return .refuse(refusal) }
        // A client that got a tunnel because it sent nothing, or under earlier settings, must not bypass inspection.
        if let hello, configuration.connect.mayIntercept(host: host, port: origin.port) {
            switch decideIntercepted(on: hello, inTunnelTo: origin) {
            case .intercept: return .refuse(.openedBefore)
            case .refuse(.otherProtocol): return .refuse(.otherProtocol)
            case .refuse, .tunnel, .tunnelUninspected: break
            }
        }
        let decision = configuration.connect.decide(on: hello, host: host, port: origin.port)
        if decision == .pass, hello == nil, forbidsPlaintext(to: host, port: origin.port) { return .refuse(.notTLS) }
        let isOpenedUnjudged = opener !== self && configuration.connect.wayBeforeHello(host: host, port: origin.port) == .probe
        return decision == .pass && isOpenedUnjudged ? .refuse(.openedBefore) : decision
    }

    /// Why the settings allow no connection to this origin, or to the address that the descriptor is connected to.
    package func denial(of origin: Origin, byTunnel: Bool, at descriptor: Int32) -> TransportError? {
        if let refusal = configuration.denial(of: origin, byTunnel: byTunnel) { return refusal }
        // With an upstream proxy the connection is to that proxy.
        guard !configuration.leadsThroughProxy, let (address, port) = IPAddress.ofPeer(of: descriptor) else { return nil }
        return configuration.addresses.refusal(of: address, port: port)
    }

    /// Why the settings allow no connection to this origin, or to the server of a connection that has switched protocols.
    package func denial(of origin: Origin, byTunnel: Bool, at connection: SwitchedConnection) -> TransportError? {
        guard let relay = connection.relay else {
            return denial(of: origin, byTunnel: byTunnel, at: connection.descriptor)
        }
        if let refusal = configuration.denial(of: origin, byTunnel: byTunnel) { return refusal }
        guard !configuration.leadsThroughProxy, let peer = relay.serverAddress else { return nil }
        return configuration.addresses.refusal(of: peer.address, port: peer.port)
    }

    /// Why a tunnel is refused whose client must name the host of the CONNECT, but does not; `nil` if the client names that host.
    package func refusal(of hello: ClientHello, inTunnelTo origin: Origin) -> TunnelRefusal? {
        ConnectPolicy.refusal(of: hello, naming: origin.judgedHost)
    }

    /// Whether the client's first bytes are read before any connection is made.
    package func intercepts(tunnelTo origin: Origin) -> Bool {
        configuration.connect.isEntered(host: origin.judgedHost, port: origin.port)
    }

    /// Whether TLS in a tunnel to this origin may be intercepted.
    package func mayIntercept(tunnelTo origin: Origin) -> Bool {
        configuration.connect.mayIntercept(host: origin.judgedHost, port: origin.port)
    }

    /// Whether the `tls` settings allow a client without TLS and HTTP/1 to have a tunnel to this origin, although the host is
    /// intercepted.
    package func permitsUninspected(tunnelTo origin: Origin) -> Bool {
        configuration.connect.permitsUninspected(host: origin.judgedHost, port: origin.port)
            && !forbidsPlaintext(to: origin.judgedHost, port: origin.port)
    }

    /// Whether the client must name the host inside the tunnel.
    package func isNamedInside(tunnelTo origin: Origin) -> Bool {
        configuration.connect.isJudgedByName(host: origin.judgedHost, port: origin.port)
    }

    /// The decision for a tunnel whose client has sent a ClientHello, before any connection is made.
    package func decideIntercepted(on hello: ClientHello, inTunnelTo origin: Origin) -> InterceptionDecision {
        configuration.connect.decideIntercepted(on: hello, host: origin.judgedHost, port: origin.port, at: loop.now)
    }

    /// Records that a client has rejected our certificate for this host.
    package func noteRefusal(host: String, port: UInt16) {
        configuration.connect.noteRefusal(host: host, port: port, at: loop.now)
    }

    /// Begins to verify the server of a tunnel to an address.
    /// - Parameter host: the host in `HelloDecision.judge`.
    package func judge(
        host: String, inTunnelTo origin: Origin, via: @autoclosure () -> String, delegate: any JudgementDelegate
    ) -> Judgement {
        let octets = Array(origin.host.utf8)
        return judge(
            host: host, port: origin.port, at: host == origin.judgedHost ? nil : IPAddress(asLookedUp: octets.span),
            via: configuration.leadsThroughProxy ? via() : "", delegate: delegate)
    }
}
