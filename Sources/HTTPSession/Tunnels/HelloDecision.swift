import HTTPMessage
import HTTPWire

/// What becomes of a tunnel once its client's first octets are there, of which the server has got nothing yet.
package enum HelloDecision: Equatable, Sendable {
    case pass
    /// They pass if the server is believed to be this host.
    case judge(host: String)
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
    case unreadable(ClientHelloFault)
    /// The ClientHello did not become whole in time.
    case timedOut
    /// The host that is named may not be reached.
    case denied
    /// The host is judged by now, and the tunnel was opened by settings that may not have had it judged.
    case openedBefore

    /// The word for logs.
    package var reason: StaticString {
        switch self {
        case .nameMismatch: "server_name_mismatch"
        case .nameMissing: "server_name_missing"
        case .encryptedHello: "encrypted_client_hello"
        case .notTLS: "not_tls"
        case .unreadable(let fault): fault.reason
        case .timedOut: "client_hello_timeout"
        case .denied: "connect_denied"
        case .openedBefore: "settings_changed"
        }
    }

    /// What the client is told; `nil` where it speaks no TLS, or does not get to.
    package var alert: TLSAlert? {
        switch self {
        case .nameMismatch, .nameMissing, .encryptedHello, .denied, .openedBefore: .unrecognizedName
        case .unreadable: .decodeError
        case .notTLS, .timedOut: nil
        }
    }
}

extension Transport {
    /// Whether what clients send first into tunnels is to be decided on.
    package var looksIntoTunnels: Bool { configuration.connect.isAskedAboutHellos }

    /// - Parameters:
    ///   - hello: `nil` where the client speaks no TLS.
    ///   - opener: who opened the tunnel, which may have been by other settings.
    package func decide(on hello: ClientHello?, inTunnelTo origin: Origin, openedBy opener: Transport) -> HelloDecision {
        let host = origin.judgedHost
        let decision = configuration.connect.decide(on: hello, host: host, port: origin.port)
        if decision == .pass, hello == nil, forbidsPlaintext(to: host, port: origin.port) { return .refuse(.notTLS) }
        let isOpenedUnjudged = opener !== self && configuration.connect.wayBeforeHello(host: host, port: origin.port) == .probe
        return decision == .pass && isOpenedUnjudged ? .refuse(.openedBefore) : decision
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
