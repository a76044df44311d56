import HTTPMessage
import HTTPWire
import ServerTrust

/// Why an exchange with an origin, or a tunnel to one, came to nothing or to a part.
package enum TransportError: Error, Equatable, Sendable {
    /// Nothing may leave at present.
    case egressClosed
    /// No policy names this host, and the settings deny such hosts.
    case hostDenied
    /// The settings deny CONNECT to this host.
    case connectDenied
    /// Pins forbid that this host is asked in plain text.
    case plaintextToPinnedHost
    /// There is nothing to judge the servers of https origins by.
    case noTrustAnchors
    /// The trust policy of the host does not accept the server, which has seen nothing of the request. In a box, so that the others
    /// stay as small as they are.
    indirect case untrusted(TrustFailure)
    /// The server ended the handshake with this alert.
    case tlsAlert(TLSAlert)
    /// The server goes no further without a certificate of ours, and none is set for it.
    case identityMissing
    /// The handshake failed otherwise: no common version or cipher, no TLS at all, a server that left.
    case tlsFailed
    /// The host is neither a name nor an address.
    case malformedHost
    case nameNotResolved
    /// The address policy forbids every address that could be tried; this is the first.
    case destinationProhibited(IPAddress)
    /// The address and port are our own.
    case ownListener
    case connectionRefused
    /// Any other failure to connect, with `errno` where there was one.
    case connectionFailed(code: Int32)
    /// The upstream proxy refused a tunnel with this status, or zero where it gave none.
    case tunnelRefused(status: Int)
    case queueFull
    case timedOut(TimeoutPhase)
    /// The connection ended before the first byte of a response.
    case closedBeforeResponse
    /// The connection ended within a response's head.
    case closedInHead
    case malformedResponse(ResponseParseError)
    case malformedBody(BodyDecodeError)
    /// The connection ended before the body did: what came is not the whole (RFC 9112 §8).
    case incompleteBody
    /// The caller ended a request's body before its announced length.
    case requestBodyTooShort
    /// No descriptor, no memory.
    case outOfResources(code: Int32)
    /// The transport was closed.
    case transportClosed

    /// What the server's last alert means. `nil` where it sent none, or only said that it sends no more.
    init?(alertTo judge: HandshakeJudge) {
        guard let alert = judge.receivedAlert, !judge.hasServerEnded else { return nil }
        self = judge.isIdentityMissing ? .identityMissing : .tlsAlert(TLSAlert(alert))
    }

    /// The word for logs and `Proxy-Status` details.
    package var reason: StaticString {
        switch self {
        case .egressClosed: "egress_closed"
        case .hostDenied: "host_denied"
        case .connectDenied: "connect_denied"
        case .plaintextToPinnedHost: "plaintext_to_pinned_host"
        case .noTrustAnchors: "no_trust_anchors"
        case .untrusted(let failure): failure.reason.word
        case .tlsAlert(let alert): alert.reason
        case .identityMissing: "client_certificate_required"
        case .tlsFailed: "handshake_failed"
        case .malformedHost: "malformed_host"
        case .nameNotResolved: "name_not_resolved"
        case .destinationProhibited: "destination_ip_prohibited"
        case .ownListener: "own_listener"
        case .connectionRefused: "connection_refused"
        case .connectionFailed: "connection_failed"
        case .tunnelRefused: "tunnel_refused"
        case .queueFull: "queue_full"
        case .timedOut(let phase): phase.reason
        case .closedBeforeResponse: "closed_before_response"
        case .closedInHead: "closed_in_head"
        case .malformedResponse(let error): error.reason
        case .malformedBody(let error): error.reason
        case .incompleteBody: "incomplete_body"
        case .requestBodyTooShort: "request_body_too_short"
        case .outOfResources: "out_of_resources"
        case .transportClosed: "transport_closed"
        }
    }
}

extension TimeoutPhase {
    package var reason: StaticString {
        switch self {
        case .queue: "queue_timeout"
        case .nameLookUp: "name_look_up_timeout"
        case .connect: "connect_timeout"
        case .sending: "send_timeout"
        case .firstByte: "first_byte_timeout"
        case .idle: "idle_timeout"
        case .total: "total_timeout"
        }
    }
}
