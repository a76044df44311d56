import HTTPMessage
import ServerTrust
import UpstreamTransport

extension SessionError {
    /// The public error for an error of the transport.
    init(transport error: TransportError) {
        self.init(Self.code(of: error), "\(error.reason)")
        switch error {
        case .timedOut(let phase): self.phase = Phase(phase)
        case .untrusted(let failure): trust = failure
        case .destinationProhibited(let address), .destinationPrivate(let address):
            causes = [Cause(code: .destinationProhibited, detail: address.description)]
        case .tunnelRefused(let status): causes = [Cause(code: code, detail: "status \(status)")]
        default: break
        }
    }

    private static func code(of error: TransportError) -> Code {
        switch error {
        case .egressClosed: .offline
        case .hostDenied, .connectDenied: .hostNotAllowed
        case .plaintextToPinnedHost: .plaintextToPinnedHost
        case .noTrustAnchors: .trustRejected
        case .untrusted(let failure): failure.reason == .hostNotAllowed ? .hostNotAllowed : .trustRejected
        case .tlsAlert, .tlsFailed: .tlsHandshakeFailed
        case .identityMissing: .clientCertificateRequired
        case .malformedHost: .badURL
        case .nameNotResolved: .dnsError
        case .destinationProhibited, .destinationPrivate, .ownListener: .destinationProhibited
        case .connectionRefused: .connectionRefused
        case .connectionFailed: .connectionFailed
        case .tunnelRefused(let status): status == 407 ? .proxyAuthenticationRequired : .proxyRefused
        case .queueFull: .queueFull
        case .timedOut: .timeout
        case .closedBeforeResponse, .closedInHead: .connectionTerminated
        case .streamReset: .connectionTerminated
        case .malformedResponse, .malformedBody: .malformedResponse
        case .incompleteBody, .responseReset: .incompleteResponse
        case .requestBodyTooShort: .bodySourceFailed
        case .outOfResources: .outOfResources
        case .transportClosed: .sessionClosed
        }
    }
}

extension SessionError.Phase {
    init(_ phase: TimeoutPhase) {
        switch phase {
        case .queue: self = .queue
        case .nameLookUp: self = .nameLookUp
        case .connect: self = .connect
        case .sending: self = .sending
        case .firstByte: self = .firstByte
        case .idle: self = .idle
        case .total: self = .total
        }
    }
}
