import HTTPMessage
public import ServerTrust

/// Why a transfer came to nothing, or to a part.
public struct SessionError: Error, Sendable {
    /// What happened. The words are a public interface, and the same as those of the proxy's error pages where both know the thing.
    public enum Code: String, Sendable, CaseIterable {
        // Nothing was sent.
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
        // No connection.
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
        // No response, or a part of one.
        case timeout
        case connectionTerminated = "connection_terminated"
        case malformedResponse = "malformed_response"
        case incompleteResponse = "response_incomplete"
        case bodyTooLarge = "body_too_large"
        case bodySourceFailed = "body_source_failed"
        case malformedContentCoding = "malformed_content_coding"
        // A response that does not do.
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
        // Files.
        case resumeRejected = "resume_rejected"
        case fileFailed = "file_failed"
        case downloadMoveFailed = "download_move_failed"
        // By request.
        case challengeRejected = "challenge_rejected"
        case cancelled
    }

    /// The part of a transfer that ran out of time.
    public enum Phase: String, Sendable {
        case queue, nameLookUp = "name_look_up", connect, sending, firstByte = "first_byte", idle, total
    }

    /// One link of the chain.
    public struct Cause: Equatable, Sendable {
        /// What happened.
        public let code: Code
        /// A finer reason, as a word or a sentence, without secrets; may be empty.
        public let detail: String
    }

    /// The response to which it happened, as far as there was one.
    public struct Response: Sendable {
        /// The status code.
        public let status: Int
        /// The fields of its head.
        public let fields: HTTPFields
        /// Whence it came.
        public let uri: TargetURI
    }

    /// What it holds, apart: errors are seldom, and stand in the way of every result.
    private struct Parts: Sendable {
        var causes: [Cause]
        var phase: Phase?
        var trust: TrustFailure?
        var underlying: (any Error)?
        var response: Response?
        var partialBody: [UInt8] = []
        var resumeToken: ResumeToken?
        var request = ""
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

    /// From the outermost to the innermost; never empty.
    public internal(set) var causes: [Cause] {
        get { parts.causes }
        set { parts.causes = newValue }
    }
    /// For `timeout`.
    public internal(set) var phase: Phase? {
        get { parts.phase }
        set { parts.phase = newValue }
    }
    /// For `trust_rejected`.
    public internal(set) var trust: TrustFailure? {
        get { parts.trust }
        set { parts.trust = newValue }
    }
    /// What was thrown by a body's source, an interceptor or a serializer.
    public internal(set) var underlying: (any Error)? {
        get { parts.underlying }
        set { parts.underlying = newValue }
    }
    /// The response to which it happened; `nil` where none had come.
    public internal(set) var response: Response? {
        get { parts.response }
        set { parts.response = newValue }
    }
    /// What came of the body, where it was gathered in memory.
    public internal(set) var partialBody: [UInt8] {
        get { parts.partialBody }
        set { parts.partialBody = newValue }
    }
    /// From which a download can be gone on with; `nil` where it has to be begun anew.
    public internal(set) var resumeToken: ResumeToken? {
        get { parts.resumeToken }
        set { parts.resumeToken = newValue }
    }
    /// What was asked for, without its query.
    public internal(set) var request: String {
        get { parts.request }
        set { parts.request = newValue }
    }

    /// An error of one link.
    public init(_ code: Code, _ detail: String = "") { box = .parts(Parts(causes: [Cause(code: code, detail: detail)])) }

    /// Of the outermost link.
    public var code: Code { causes[0].code }

    /// The same as what led to an outer error.
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
    /// Two are equal where their codes are.
    public static func == (left: SessionError, right: SessionError) -> Bool { left.code == right.code }
}

extension SessionError: CustomStringConvertible {
    public var description: String {
        let chain = causes.map { $0.detail.isEmpty ? $0.code.rawValue : "\($0.code.rawValue) (\($0.detail))" }.joined(
            separator: " < ")
        return request.isEmpty ? chain : "\(chain): \(request)"
    }
}
