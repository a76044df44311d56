/// Why a response is rejected. Larder closes the connection to the origin, and the client gets a 502.
package enum ResponseParseError: Error, Equatable, Sendable {
    /// The bytes do not start like a response: they are HTTP/0.9, another protocol, or noise.
    case notHTTP
    case malformedStatusLine, statusLineTooLong, unsupportedVersion
    case headTooLarge, tooManyFields
    case line(LineError)
    case bothLengths, conflictingContentLengths, malformedContentLength
    case transferEncodingInHTTP10, malformedTransferEncoding, chunkedNotFinal, unsupportedTransferCoding
    case unrequestedSwitchingProtocols
    /// The parser's caller throws this error: it counts informational responses and compares the number with
    /// `ParseLimits.informationalResponseCount`.
    case tooManyInformationalResponses

    package var reason: StaticString {
        switch self {
        case .notHTTP: "not_http"
        case .malformedStatusLine: "malformed_status_line"
        case .statusLineTooLong: "status_line_too_long"
        case .unsupportedVersion: "unsupported_version"
        case .headTooLarge: "head_too_large"
        case .tooManyFields: "too_many_fields"
        case .line(let fault): fault.reason
        case .bothLengths: "content_length_and_transfer_encoding"
        case .conflictingContentLengths: "conflicting_content_lengths"
        case .malformedContentLength: "malformed_content_length"
        case .transferEncodingInHTTP10: "transfer_encoding_in_http10"
        case .malformedTransferEncoding: "malformed_transfer_encoding"
        case .chunkedNotFinal: "chunked_not_final"
        case .unsupportedTransferCoding: "unsupported_transfer_coding"
        case .unrequestedSwitchingProtocols: "unrequested_switching_protocols"
        case .tooManyInformationalResponses: "too_many_informational_responses"
        }
    }
}
