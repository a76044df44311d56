import HTTPMessage
import HTTPWire

/// What becomes of a tunnel once its client's first bytes are there, of which the server has got nothing yet.
package enum HelloDecision: Equatable, Sendable {
    case pass
    /// They pass if the server is believed to be this host.
    case judge(host: String)
    case refuse(TunnelRefusal)
}

/// What becomes of a tunnel that was entered: nobody is connected to yet.
package enum InterceptionDecision: Equatable, Sendable {
    /// Its TLS ends here, as this host's.
    case intercept(host: String)
    /// The client gets a tunnel after all, as its host's settings have it.
    case tunnel
    /// This host is to be intercepted, and the client gets a tunnel all the same.
    case tunnelUninspected(host: String, UninspectedReason)
    case refuse(TunnelRefusal)
}

/// Why a tunnel ends for what its client sends first: a closed list.
package enum TunnelRefusal: Equatable, Sendable {
    /// The name in the ClientHello is another host's, and pins or a denial of one of the two would be gone round.
    case nameMismatch
    case nameMissing
    case encryptedHello
    /// The host is judged, and no TLS is spoken with it.
    case notTLS
    /// What the client speaks would hide its requests, and a rule can keep a request to the host from being sent; or, without TLS, names the host.
    case hiddenFromRules
    /// A rule's mode lets nothing out to the host.
    case closedByRule
    case unreadable(ClientHelloFault)
    /// The ClientHello did not become whole in time.
    case timedOut
    /// The settings deny CONNECT to the host that is named.
    case denied
    /// No policy names that host, and the settings deny such hosts.
    case hostDenied
    /// The host is judged by now, and the tunnel was opened by settings that may not have had it judged.
    case openedBefore
    /// The host is intercepted, and the client speaks no HTTP/1 inside TLS.
    case otherProtocol
    /// The host is intercepted, and our authority makes no certificate for it.
    case noLeaf(MissingLeaf)
    /// Within TLS with us the client has refused what we showed it.
    case refusedByClient(TLSAlert)
    /// Within TLS with us the client has ended it for something else.
    case clientAlert(TLSAlert)
    /// TLS with the client went wrong, or the client left in the midst of it.
    case clientHandshakeFailed
    case clientLeft
    /// As many handshakes are under way as may be, others wait, and the client has let this one lie.
    case gaveWay

    /// The word for logs.
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

    /// What the client is told; `nil` where it speaks no TLS, or does not get to.
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

/// Why a client can be shown no certificate for a host: a closed list.
package enum MissingLeaf: Error, Equatable, Sendable {
    /// The authority is constrained to other names.
    case outsideConstraint
    case authorityNotYetValid
    case authorityExpired
    case noAuthority
    /// It is neither a host's name nor an address.
    case noName
    /// As many are being made as may wait.
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
    /// Whether what clients send first into tunnels is to be decided on.
    package var looksIntoTunnels: Bool { configuration.connect.isAskedAboutHellos }

    /// - Parameters:
    ///   - hello: `nil` where the client speaks no TLS.
    ///   - opener: who opened the tunnel, which may have been by other settings.
    ///   - needsName: the tunnel is for a client that speaks TLS with the host of the CONNECT, and names it.
    package func decide(
        on hello: ClientHello?, inTunnelTo origin: Origin, openedBy opener: Transport, needsName: Bool
    ) -> HelloDecision {
        let host = origin.judgedHost
        if needsName, let refusal = ConnectPolicy.refusal(of: hello, naming: host) { return .refuse(refusal) }
        // Whoever was given a tunnel, for having said nothing or by settings of before, is not let past what is to be looked into.
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

    /// Whether what a client sends first into a tunnel is read before anybody is connected to.
    package func intercepts(tunnelTo origin: Origin) -> Bool {
        configuration.connect.isEntered(host: origin.judgedHost, port: origin.port)
    }

    /// Whether TLS in such a tunnel may be one that ends here.
    package func mayIntercept(tunnelTo origin: Origin) -> Bool {
        configuration.connect.mayIntercept(host: origin.judgedHost, port: origin.port)
    }

    /// Whether a client that speaks neither TLS nor HTTP/1 may have a tunnel there, as far as `tls` goes, though the host is intercepted.
    package func permitsUninspected(tunnelTo origin: Origin) -> Bool {
        configuration.connect.permitsUninspected(host: origin.judgedHost, port: origin.port)
            && !forbidsPlaintext(to: origin.judgedHost, port: origin.port)
    }

    /// Whether the client has to say inside whom it means.
    package func isNamedInside(tunnelTo origin: Origin) -> Bool {
        configuration.connect.isJudgedByName(host: origin.judgedHost, port: origin.port)
    }

    /// What becomes of an entered tunnel whose client begins with a ClientHello.
    package func decideIntercepted(on hello: ClientHello, inTunnelTo origin: Origin) -> InterceptionDecision {
        configuration.connect.decideIntercepted(on: hello, host: origin.judgedHost, port: origin.port, at: loop.now)
    }

    /// A client has refused the certificate that we showed it for this host.
    package func noteRefusal(host: String, port: UInt16) {
        configuration.connect.noteRefusal(host: host, port: port, at: loop.now)
    }

    /// Begins to judge whom a tunnel to an address has led to.
    /// - Parameter host: what the decision gave.
    package func judge(
        host: String, inTunnelTo origin: Origin, via: @autoclosure () -> String, delegate: any JudgementDelegate
    ) -> Judgement {
        let octets = Array(origin.host.utf8)
        return judge(
            host: host, port: origin.port, at: host == origin.judgedHost ? nil : IPAddress(asLookedUp: octets.span),
            via: configuration.proxy == nil ? "" : via(), delegate: delegate)
    }
}
