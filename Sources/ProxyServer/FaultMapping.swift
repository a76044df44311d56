import HTTPWire
import ProxyCore
import UpstreamTransport

/// Maps each module's errors to the faults of `ProxyCore`. The switches have no `default`, so that the compiler requires a case
/// for each new error.
package enum FaultMapping {
    package static func fault(_ error: RequestParseError) -> Fault {
        switch error {
        case .requestLineTooLong: .targetTooLong
        case .headTooLarge, .tooManyFields: .requestFieldsTooLarge(detail: StaticToken(error.reason))
        case .unknownTransferCoding: .unknownTransferCoding
        case .unsupportedVersion: .unsupportedVersion
        case .target: .badTarget(detail: StaticToken(error.reason))
        case .notHTTP, .malformedRequestLine, .tooManyEmptyLines, .line, .missingHost, .repeatedHost, .malformedHost,
            .bothLengths, .repeatedContentLength, .malformedContentLength, .transferEncodingInHTTP10,
            .malformedTransferEncoding, .chunkedNotFinal, .contentInConnect:
            .malformedRequest(detail: StaticToken(error.reason))
        }
    }

    /// The fault for an error in the body of a request.
    static func fault(_ error: BodyDecodeError) -> Fault {
        switch error {
        case .trailersTooLarge, .tooManyTrailers, .malformedChunkSize, .chunkSizeTooLarge, .chunkLineTooLong,
            .malformedChunkExtension, .chunkExtensionsTooLong, .unterminatedChunk, .forbiddenTrailer, .line, .incomplete:
            .malformedRequest(detail: StaticToken(error.reason))
        }
    }

    static func fault(_ error: TransportError) -> Fault {
        switch error {
        case .egressClosed: .offlineMiss(detail: "egress_closed")
        case .hostDenied: .hostDenied
        case .connectDenied: .connectDenied
        case .plaintextToPinnedHost: .plaintextToPinnedHost
        case .noTrustAnchors: .noTrustAnchors
        case .untrusted: .untrustedServer(reason: StaticToken(error.reason))
        case .tlsAlert: .handshakeAlert(description: StaticToken(error.reason))
        case .identityMissing: .clientCertificateRequired
        case .tlsFailed: .handshakeFailed
        case .malformedHost: .badTarget(detail: StaticToken(error.reason))
        case .nameNotResolved: .nameNotFound
        case .destinationProhibited: .destinationProhibited
        case .destinationPrivate: .destinationPrivate
        case .ownListener: .loop
        case .connectionRefused: .connectionRefused
        case .connectionFailed: .destinationUnroutable
        case .tunnelRefused: .upstreamProxyRefused
        case .queueFull: .upstreamQueueFull
        case .timedOut(let phase): fault(phase)
        case .closedBeforeResponse, .closedInHead: .connectionTerminated
        case .streamReset: .malformedResponse(detail: StaticToken(error.reason))
        case .malformedResponse(let error): fault(error)
        case .malformedBody(let error): .malformedResponse(detail: StaticToken(error.reason))
        case .incompleteBody: .responseIncomplete
        case .responseReset(let code): .responseReset(code: code.rawValue, reason: StaticToken(code.resetReason))
        case .requestBodyTooShort: .malformedRequest(detail: StaticToken(error.reason))
        case .outOfResources: .overloaded
        case .transportClosed: .shuttingDown
        }
    }

    static func fault(_ refusal: TunnelRefusal) -> Fault {
        switch refusal {
        case .denied: .connectDenied
        case .hostDenied: .hostDenied
        case .closedByRule: .offlineMiss(detail: "tunnel")
        case .nameMismatch, .nameMissing, .encryptedHello, .notTLS, .hiddenFromRules, .unreadable, .timedOut, .openedBefore,
            .otherProtocol:
            .tunnelRefused(reason: StaticToken(refusal.reason))
        case .noLeaf(let missing): .noCertificate(reason: StaticToken(missing.reason))
        case .refusedByClient(let alert): .clientRefusedCertificate(alert: StaticToken(alert.reason))
        case .clientAlert, .clientHandshakeFailed, .clientLeft, .gaveWay:
            .clientHandshakeFailed(reason: StaticToken(refusal.reason))
        }
    }

    private static func fault(_ phase: TimeoutPhase) -> Fault {
        switch phase {
        case .queue: .upstreamQueueTimeout
        case .nameLookUp: .nameLookUpTimeout
        case .connect: .connectionTimeout
        case .sending: .responseTimeout(phase: "sending")
        case .firstByte: .responseTimeout(phase: "first_byte")
        case .idle: .responseTimeout(phase: "idle")
        case .total: .responseTimeout(phase: "total")
        }
    }

    private static func fault(_ error: ResponseParseError) -> Fault {
        switch error {
        case .headTooLarge, .tooManyFields, .statusLineTooLong: .responseFieldsTooLarge
        case .unrequestedSwitchingProtocols: .unexpectedUpgrade
        case .notHTTP, .malformedStatusLine, .unsupportedVersion, .line, .bothLengths, .conflictingContentLengths,
            .malformedContentLength, .transferEncodingInHTTP10, .malformedTransferEncoding, .chunkedNotFinal,
            .unsupportedTransferCoding, .tooManyInformationalResponses:
            .malformedResponse(detail: StaticToken(error.reason))
        }
    }
}

extension BodyFraming {
    var bodyLength: BodyLength {
        switch self {
        case .none: .none
        case .length(let length): .known(length)
        case .chunked, .untilClose: .unknown
        }
    }
}
