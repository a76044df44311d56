import HTTPMessage
public import ServerTrust

/// Why a transfer failed or was interrupted.
public struct SessionError: Error, Sendable {
    /// The kind of failure. The raw values are public interface. A failure that the proxy's error pages also report has the
    /// same code there.
    public enum Code: String, Sendable, CaseIterable {
        // Errors before anything was sent.
        case badURL = "bad_url"
        case malformedRequest = "request_malformed"
        case requestSerialization = "request_serialization"
        case hostNotAllowed = "host_not_allowed"
        case plaintextToPinnedHost = "plaintext_to_pinned_host"
        case credentialRequiresTLS = "credential_requires_tls"
        case destinationProhibited = "destination_prohibited"
        case sessionClosed = "session_closed"
        case transferUsed = "transfer_used"
        case queueFull = "queue_full"
        case interceptorFailed = "interceptor_failed"
        // Errors of the connection.
        case dnsError = "dns_error"
        case connectionRefused = "connection_refused"
        case connectionFailed = "connection_failed"
        case trustRejected = "trust_rejected"
        case clientCertificateRequired = "client_certificate_required"
        case tlsHandshakeFailed = "tls_handshake_failed"
        case proxyRefused = "proxy_refused"
        case proxyAuthenticationRequired = "proxy_auth_required"
        case outOfResources = "out_of_resources"
        case offline = "offline"
        // Errors after which there is no response, or only a part of one.
        case timeout
        case connectionTerminated = "connection_terminated"
        case malformedResponse = "malformed_response"
        case incompleteResponse = "response_incomplete"
        case bodyTooLarge = "body_too_large"
        case bodySourceFailed = "body_source_failed"
        case malformedContentCoding = "malformed_content_coding"
        // Errors of a response that was received but not accepted.
        case unacceptableStatus = "unacceptable_status"
        case unacceptableContentType = "unacceptable_content_type"
        case responseSerialization = "response_serialization"
        case malformedJSON = "malformed_json"
        case malformedXML = "malformed_xml"
        case malformedPropertyList = "malformed_plist"
        case malformedImage = "malformed_image"
        case malformedText = "malformed_text"
        case otherType = "other_type"
        case otherDigest = "other_digest"
        case noneAccepts = "none_accepts"
        case redirectRefused = "redirect_refused"
        case tooManyRedirects = "too_many_redirects"
        case notStored = "cache_miss_only_if_cached"
        // Errors of files.
        case resumeRejected = "resume_rejected"
        case fileFailed = "file_failed"
        case downloadMoveFailed = "download_move_failed"
        // Errors of a WebSocket.
        case webSocketRefused = "websocket_refused"
        case webSocketViolation = "websocket_violation"
        case webSocketClosed = "websocket_closed"
        // Failures that the caller requested.
        case challengeRejected = "challenge_rejected"
        case cancelled
    }

    /// The phase of a transfer that timed out.
    public enum Phase: String, Sendable {
        case queue, nameLookUp = "name_look_up", connect, sending, firstByte = "first_byte", idle, total
    }

    /// One element of the error chain.
    public struct Cause: Equatable, Sendable {
        /// The kind of failure.
        public let code: Code
        /// More detail, a word or a sentence, without secrets; may be empty.
        public let detail: String
    }

    /// The response that the error is about.
    public struct Response: Sendable {
        /// The response's status code.
        public let status: Int
        /// The fields of the response's head.
        public let fields: SessionFields
        /// The URI that the response came from.
        public let uri: TargetURI
    }

    /// The contents, boxed because errors are rare but their size adds to every `Result`.
    private struct Parts: Sendable {
        var causes: [Cause]
        var phase: Phase?
        var trust: TrustFailure?
        var underlying: (any Error)?
        var response: Response?
        var partialBody: [UInt8] = []
        var resumeToken: ResumeToken?
        var request = ""
        var metrics: TransferMetrics?
    }

    private indirect enum Box: Sendable { case parts(Parts) }

    private var box: Box
    private var parts: Parts {
        get {
            switch box {
            case .parts(let parts): parts
            }
        }
        set { box = .parts(newValue) }
    }

    /// The causes, from the outermost to the innermost; never empty.
    public internal(set) var causes: [Cause] {
        get { parts.causes }
        set { parts.causes = newValue }
    }
    /// The phase that timed out, for `timeout`.
    public internal(set) var phase: Phase? {
        get { parts.phase }
        set { parts.phase = newValue }
    }
    /// The trust failure, for `trust_rejected`.
    public internal(set) var trust: TrustFailure? {
        get { parts.trust }
        set { parts.trust = newValue }
    }
    /// The error that a body source, an interceptor or a serializer threw.
    public internal(set) var underlying: (any Error)? {
        get { parts.underlying }
        set { parts.underlying = newValue }
    }
    /// The response that the error is about; `nil` if none had arrived.
    public internal(set) var response: Response? {
        get { parts.response }
        set { parts.response = newValue }
    }
    /// The bytes of the body that arrived, if the body was collected in memory.
    public internal(set) var partialBody: [UInt8] {
        get { parts.partialBody }
        set { parts.partialBody = newValue }
    }
    /// A token to resume the download with; `nil` if the download has to start over.
    public internal(set) var resumeToken: ResumeToken? {
        get { parts.resumeToken }
        set { parts.resumeToken = newValue }
    }
    /// Method and target of the request, without the target's query.
    public internal(set) var request: String {
        get { parts.request }
        set { parts.request = newValue }
    }

    /// Timings and counts of the exchanges up to the failure; `nil` if the transfer did not begin, and for an error in reading a body
    /// that `open` returned.
    public internal(set) var metrics: TransferMetrics? {
        get { parts.metrics }
        set { parts.metrics = newValue }
    }

    /// An error with one cause.
    public init(_ code: Code, _ detail: String = "") { box = .parts(Parts(causes: [Cause(code: code, detail: detail)])) }

    /// The code of the outermost cause.
    public var code: Code { causes[0].code }

    /// This error as the cause of an outer error.
    func within(_ code: Code, _ detail: String = "") -> SessionError {
        var error = self
        error.causes.insert(Cause(code: code, detail: detail), at: 0)
        return error
    }

    func about(_ response: Response?) -> SessionError {
        var error = self
        if error.response == nil { error.response = response }
        return error
    }
}

extension SessionError: Equatable {
    /// Errors are equal if their codes are equal.
    public static func == (left: SessionError, right: SessionError) -> Bool { left.code == right.code }
}

extension SessionError: CustomStringConvertible {
    public var description: String {
        let chain = causes.map { cause in
            let code = cause.code.rawValue
            return cause.detail.isEmpty || cause.detail == code ? code : "\(code) (\(cause.detail))"
        }.joined(separator: " < ")
        return request.isEmpty ? chain : "\(chain): \(request)"
    }
}
