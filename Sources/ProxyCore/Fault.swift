import HTTPMessage

/// What can go wrong with an exchange: the closed vocabulary of every error that Larder makes.
///
/// The driver translates each module's errors into one of these (`FaultMapping`); `GatewayError` says what a client sees.
/// A `detail` is a fixed word of the module that found the fault, never text of the request.
package enum Fault: Equatable, Sendable {
    // The client's.
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
    /// Of a request to ourselves as a server.
    case foreignHost, crossSite, noAuthority
    case onlyIfCachedMiss(detail: StaticToken)
    /// Nothing may leave, and the answer is not in the store.
    case offlineMiss(detail: StaticToken)
    /// What was recorded cannot be read, or is not what was recorded.
    case recordingDamaged
    case loop
    case clientRefusedCertificate(alert: StaticToken)
    case clientHandshakeFailed(reason: StaticToken)

    // Policy's.
    case deniedByRule
    /// No rule allows it, and the settings deny such requests.
    case egressDenied
    case ambiguousPath
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
    case plaintextToPinnedHost
    case purgeOff
    case purgeNotAllowed

    // The way upstream.
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
    case unexpectedUpgrade
    case unexpectedNotModified

    // What a rule's validation found.
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
    /// What a rule wants made of the content cannot be made.
    case transformFailed(TransformFault)

    // Ours.
    case noTrustAnchors
    case overloaded
    case checkQueueFull
    /// The contents of requests that are held take all the memory that they may.
    case requestBodiesFull
    case credentialsQueueFull
    case shuttingDown
    case internalError
}

extension Fault {
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

/// A fixed word of the code, comparable where `StaticString` is not.
package struct StaticToken: Equatable, Sendable, ExpressibleByStringLiteral {
    package let text: StaticString

    package init(_ text: StaticString) { self.text = text }
    package init(stringLiteral text: StaticString) { self.text = text }

    package static func == (left: StaticToken, right: StaticToken) -> Bool {
        left.text.withUTF8Buffer { a in right.text.withUTF8Buffer { b in a.elementsEqual(b) } }
    }
}
