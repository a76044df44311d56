public import Foundation
public import LarderHTTP

extension SessionError: LocalizedError {
    /// A sentence for the user: what failed, and for which request.
    public var errorDescription: String? {
        let sentence = sentence
        return request.isEmpty ? sentence + "." : "\(sentence) (\(request))."
    }

    /// The causes with their details, the outermost first.
    public var failureReason: String? {
        causes.map { $0.detail.isEmpty ? $0.code.rawValue : "\($0.code.rawValue): \($0.detail)" }.joined(separator: "; ")
    }

    /// What to do next, if the caller can do something.
    public var recoverySuggestion: String? {
        switch code {
        case .dnsError, .connectionFailed, .offline: "Check the network, and try again."
        case .connectionRefused, .connectionTerminated, .incompleteResponse, .timeout, .queueFull: "Try again later."
        case .trustRejected: "Check the server's certificate, the pins and this machine's clock."
        case .proxyRefused, .proxyAuthenticationRequired: "Check the proxy's address and its credential."
        default: nil
        }
    }

    private var sentence: String {
        switch code {
        case .badURL: "The URL is invalid"
        case .malformedRequest: "The request has an invalid field"
        case .requestSerialization: "The parameters cannot be encoded"
        case .hostNotAllowed: "Requests to this host are not allowed"
        case .plaintextToPinnedHost: "A host with pins is not contacted without TLS"
        case .credentialRequiresTLS: "A credential is not sent without TLS"
        case .destinationProhibited: "Connections to this address are prohibited"
        case .sessionClosed: "The session is closed"
        case .transferUsed: "The transfer was used before"
        case .queueFull: "Too many requests are waiting"
        case .interceptorFailed: "An interceptor failed"
        case .dnsError: "The host's name has no address"
        case .connectionRefused: "The server refused the connection"
        case .connectionFailed: "The server cannot be reached"
        case .trustRejected: "The server's certificate is not trusted"
        case .clientCertificateRequired: "The server requires a client certificate"
        case .tlsHandshakeFailed: "The TLS handshake with the server failed"
        case .proxyRefused: "The proxy refused the request"
        case .proxyAuthenticationRequired: "The proxy requires a credential"
        case .outOfResources: "The system has no resources left for the request"
        case .offline: "There is no network"
        case .timeout: "The request timed out"
        case .connectionTerminated: "The server closed the connection without a response"
        case .malformedResponse: "The response is malformed"
        case .incompleteResponse: "The response is incomplete"
        case .bodyTooLarge: "The body is too large"
        case .bodySourceFailed: "The content of the request cannot be read"
        case .malformedContentCoding: "The response cannot be decompressed"
        case .unacceptableStatus: "The server responded with status \(response.map { "\($0.status)" } ?? "code outside 2xx")"
        case .unacceptableContentType: "The response has an unexpected media type"
        case .responseSerialization: "The response cannot be read"
        case .webSocketRefused: "The server refused the WebSocket"
        case .webSocketViolation: "The server broke the WebSocket protocol"
        case .webSocketClosed: "The WebSocket is closed"
        case .malformedJSON: "The response is not valid JSON"
        case .malformedXML: "The response is not valid XML"
        case .malformedPropertyList: "The response is not a valid property list"
        case .malformedImage: "The response is not a valid image"
        case .malformedText: "The response is not valid text"
        case .otherType: "The response does not have the expected form"
        case .otherDigest: "The response does not match its digest"
        case .noneAccepts: "The response has none of the expected forms"
        case .redirectRefused: "The redirect was refused"
        case .tooManyRedirects: "The server sent too many redirects"
        case .notStored: "The response is not in the cache"
        case .resumeRejected: "The download cannot be resumed"
        case .fileFailed: "The file cannot be read or written"
        case .downloadMoveFailed: "The downloaded file cannot be moved to its place"
        case .challengeRejected: "The server's authentication challenge was rejected"
        case .cancelled: "The request was cancelled"
        }
    }
}
