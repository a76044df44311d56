import HTTPMessage
import ProxyPolicy

/// The faults of an exchange: a closed list of all errors that Larder generates.
///
/// The driver maps each module's errors to one of these (`FaultMapping`); `GatewayError` defines the response for the client. A `detail` is
/// a fixed word of the module that found the fault, never text from the request.
package enum Fault: Equatable, Sendable {
    // Faults caused by the client.
    case malformedRequest(detail: StaticToken)
    case badTarget(detail: StaticToken)
    case targetTooLong
    case requestFieldsTooLarge(detail: StaticToken)
    case requestBodyTooLarge
    case unknownTransferCoding
    case unsupportedVersion
    case unknownExpectation
    case requestTimeout
    case notForAProxy
    case misdirectedRequest(detail: StaticToken)
    /// Faults of a request to Larder as a server.
    case foreignHost, crossSite, noAuthority
    case onlyIfCachedMiss(detail: StaticToken)
    /// No request may be forwarded, and the response is not in the store.
    case offlineMiss(detail: StaticToken)
    /// The recording is unreadable or corrupt.
    case recordingDamaged
    case loop
    case clientRefusedCertificate(alert: StaticToken)
    case clientHandshakeFailed(reason: StaticToken)

    // Faults caused by policy.
    case deniedByRule
    /// No rule allows the request, and the settings deny such requests.
    case egressDenied
    case ambiguousPath
    /// A limit of a matching rule is reached.
    case limitReached(RuleLimit.Word)
    /// An approver denied the request, or did not allow it in time.
    case approvalDenied(reason: StaticToken)
    /// A matching rule limits content that a tunnel would hide.
    case contentHidden
    case clientNotAllowed
    case credentialsRequired(reason: StaticToken)
    case tooManyAttempts
    case portNotAllowed
    case hostDenied
    case connectDenied
    case recordedChainRefused(reason: StaticToken)
    case tunnelRefused(reason: StaticToken)
    case noCertificate(reason: StaticToken)
    case hostMismatch
    case destinationProhibited
    /// The address is private, and the settings deny such addresses.
    case destinationPrivate
    case plaintextToPinnedHost
    case purgeOff
    case purgeNotAllowed

    // Faults of the connection to the origin.
    case nameNotFound
    case nameLookUpTimeout
    case connectionRefused
    case connectionTimeout
    case connectionTerminated
    case destinationUnroutable
    case upstreamQueueFull
    case upstreamQueueTimeout
    case upstreamProxyRefused
    case untrustedServer(reason: StaticToken)
    case handshakeAlert(description: StaticToken)
    case clientCertificateRequired
    case handshakeFailed
    case responseTimeout(phase: StaticToken)
    case malformedResponse(detail: StaticToken)
    case responseFieldsTooLarge
    case responseIncomplete
    /// The origin has reset the HTTP/2 stream within its response.
    /// - Parameter code: the error code of RST_STREAM (RFC 9113 §7).
    case responseReset(code: UInt32, reason: StaticToken)
    /// The origin's `Sec-WebSocket-Accept` does not match the request's key (RFC 6455 §4.1).
    case webSocketAcceptMismatch
    case unexpectedUpgrade
    case unexpectedNotModified

    // Faults that a rule's validation found.
    case unacceptableStatus
    case unacceptableContentType
    case noneAccepts
    case malformedJSON
    case malformedXML
    case malformedPropertyList
    case malformedImage
    case imageTooLarge
    case malformedCoding
    case unsupportedCoding
    case responseBodyTooLarge
    /// The transform that a rule requires failed.
    case transformFailed(TransformFault)

    // Faults caused by Larder.
    case noTrustAnchors
    case overloaded
    case checkQueueFull
    /// The contents of buffered requests take all the memory allowed for them.
    case requestBodiesFull
    case credentialsQueueFull
    case shuttingDown
    case internalError
}

extension Fault {
    /// Whether a rule is the reason, so that its name explains the denial.
    package var isByRule: Bool {
        switch self {
        case .deniedByRule, .limitReached, .contentHidden, .approvalDenied: true
        default: GatewayError(self).status.code == 502
        }
    }

    /// Whether the settings or the rules reject the request or its response. A response that is only not stored is no denial.
    package var isDenial: Bool {
        switch self {
        case .onlyIfCachedMiss, .offlineMiss: false
        default: GatewayError(self).origin == .policy
        }
    }

    package init(_ code: ValidationFaults.Code) {
        switch code {
        case .noneAccepts: self = .noneAccepts
        case .malformedJSON: self = .malformedJSON
        case .malformedXML: self = .malformedXML
        case .malformedPropertyList: self = .malformedPropertyList
        case .malformedImage: self = .malformedImage
        case .imageTooLarge: self = .imageTooLarge
        case .malformedCoding: self = .malformedCoding
        case .unsupportedCoding: self = .unsupportedCoding
        case .bodyTooLarge: self = .responseBodyTooLarge
        case .unacceptableStatus: self = .unacceptableStatus
        case .unacceptableContentType: self = .unacceptableContentType
        }
    }
}

/// A fixed word in the source code. Unlike a `StaticString`, it can be compared.
package struct StaticToken: Equatable, Sendable, ExpressibleByStringLiteral {
    package let text: StaticString

    package init(_ text: StaticString) { self.text = text }
    package init(stringLiteral text: StaticString) { self.text = text }

    package static func == (left: StaticToken, right: StaticToken) -> Bool {
        left.text.withUTF8Buffer { a in right.text.withUTF8Buffer { b in a.elementsEqual(b) } }
    }
}
