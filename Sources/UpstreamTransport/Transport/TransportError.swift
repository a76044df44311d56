package import HTTP2Wire
import HTTPMessage
import HTTPWire
import ServerTrust

/// Why an exchange with an origin, or a tunnel to one, failed or was interrupted.
package enum TransportError: Error, Equatable, Sendable {
    /// The egress gate is closed.
    case egressClosed
    /// No trust policy is defined for this host, and the settings deny such hosts.
    case hostDenied
    /// The settings deny CONNECT to this host.
    case connectDenied
    /// Pins forbid plain text to this host.
    case plaintextToPinnedHost
    /// No trusted CA certificates are configured for https origins.
    case noTrustAnchors
    /// The host's trust policy rejects the server, which has not received the request. The case is indirect, so that the other errors
    /// stay small.
    indirect case untrusted(TrustFailure)
    /// The server ended the handshake with this alert.
    case tlsAlert(TLSAlert)
    /// The server requires a client certificate, and none is configured for it.
    case identityMissing
    /// The handshake failed in another way: no common version or cipher, no TLS at all, or the server closed the connection.
    case tlsFailed
    /// The host is neither a name nor an IP address.
    case malformedHost
    case nameNotResolved
    /// The address policy forbids every address that could be tried; the value is the first of them.
    case destinationProhibited(IPAddress)
    /// Every address that could be tried is private, and the address policy forbids private addresses; the value is the first of
    /// them.
    case destinationPrivate(IPAddress)
    /// The address and port are one of our own listeners.
    case ownListener
    case connectionRefused
    /// Any other failure to connect, with `errno` if there was one.
    case connectionFailed(code: Int32)
    /// The upstream proxy refused a tunnel with this status; zero if it sent none.
    case tunnelRefused(status: Int)
    case queueFull
    case timedOut(TimeoutPhase)
    /// The connection ended before the first byte of a response.
    case closedBeforeResponse
    /// The connection ended within a response's head.
    case closedInHead
    /// The server has reset the stream of the request before it sent a response (RFC 9113 §5.4.2).
    case streamReset(HTTP2ErrorCode)
    /// The server has reset the stream within its response: the bytes received are incomplete.
    case responseReset(HTTP2ErrorCode)
    case malformedResponse(ResponseParseError)
    case malformedBody(BodyDecodeError)
    /// The connection ended before the body did: the bytes received are incomplete (RFC 9112 §8).
    case incompleteBody
    /// The caller ended a request's body before its announced length.
    case requestBodyTooShort
    /// No descriptors or no memory.
    case outOfResources(code: Int32)
    /// The transport was closed.
    case transportClosed

    /// The error for the server's last alert. `nil` if it sent none, or only close_notify.
    init?(alertTo judge: HandshakeJudge) {
        guard let alert = judge.receivedAlert, !judge.hasServerEnded else { return nil }
        self = judge.isIdentityMissing ? .identityMissing : .tlsAlert(TLSAlert(alert))
    }

    /// The error for the server's last alert, if the server sent one and `other` is the unspecific `tlsFailed`; otherwise `other`.
    init(alertTo judge: HandshakeJudge, or other: TransportError) {
        self = other == .tlsFailed ? TransportError(alertTo: judge) ?? other : other
    }

    /// The reason for logs and `Proxy-Status` details.
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
        case .destinationPrivate: "destination_private"
        case .ownListener: "own_listener"
        case .connectionRefused: "connection_refused"
        case .connectionFailed: "connection_failed"
        case .tunnelRefused: "tunnel_refused"
        case .queueFull: "queue_full"
        case .timedOut(let phase): phase.reason
        case .closedBeforeResponse: "closed_before_response"
        case .closedInHead: "closed_in_head"
        case .streamReset(let code), .responseReset(let code): code.resetReason
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
