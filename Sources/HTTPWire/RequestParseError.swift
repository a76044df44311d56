import HTTPMessage

/// Why a request is rejected before its meaning is considered. Larder closes the connection after its error response.
package enum RequestParseError: Error, Equatable, Sendable {
    // These are errors of the request line.

    /// The bytes cannot be the start of a request: they are a TLS ClientHello, or noise.
    case notHTTP
    case malformedRequestLine, requestLineTooLong, tooManyEmptyLines, unsupportedVersion
    case target(RequestTargetError)
    // These are errors of the head.
    case headTooLarge, tooManyFields
    case line(LineError)
    case missingHost, repeatedHost
    case malformedHost(AuthorityFault)
    // These are errors of the framing.
    case bothLengths, repeatedContentLength, malformedContentLength
    case transferEncodingInHTTP10, malformedTransferEncoding, chunkedNotFinal, unknownTransferCoding
    case contentInConnect

    /// The status of Larder's response to the request (RFC 9112 §2.2, §3, §6.1, RFC 6585 §5).
    package var status: Status {
        switch self {
        case .requestLineTooLong: Status(414)
        case .headTooLarge, .tooManyFields: Status(431)
        case .unknownTransferCoding: Status(501)
        case .unsupportedVersion: Status(505)
        case .notHTTP, .malformedRequestLine, .tooManyEmptyLines, .target, .line, .missingHost, .repeatedHost,
            .malformedHost, .bothLengths, .repeatedContentLength, .malformedContentLength, .transferEncodingInHTTP10,
            .malformedTransferEncoding, .chunkedNotFinal, .contentInConnect:
            Status(400)
        }
    }

    /// The reason as a word, for logs and error bodies.
    package var reason: StaticString {
        switch self {
        case .notHTTP: "not_http"
        case .malformedRequestLine: "malformed_request_line"
        case .requestLineTooLong: "request_line_too_long"
        case .tooManyEmptyLines: "too_many_empty_lines"
        case .unsupportedVersion: "unsupported_version"
        case .target(let fault): fault.reason
        case .headTooLarge: "head_too_large"
        case .tooManyFields: "too_many_fields"
        case .line(let fault): fault.reason
        case .missingHost: "missing_host"
        case .repeatedHost: "repeated_host"
        case .malformedHost: "malformed_host_field"
        case .bothLengths: "content_length_and_transfer_encoding"
        case .repeatedContentLength: "repeated_content_length"
        case .malformedContentLength: "malformed_content_length"
        case .transferEncodingInHTTP10: "transfer_encoding_in_http10"
        case .malformedTransferEncoding: "malformed_transfer_encoding"
        case .chunkedNotFinal: "chunked_not_final"
        case .unknownTransferCoding: "unknown_transfer_coding"
        case .contentInConnect: "content_in_connect"
        }
    }
}
