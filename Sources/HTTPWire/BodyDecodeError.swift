import HTTPMessage

/// Why a message's body cannot be decoded to its end.
package enum BodyDecodeError: Error, Equatable, Sendable {
    case malformedChunkSize, chunkSizeTooLarge, chunkLineTooLong, malformedChunkExtension, chunkExtensionsTooLong
    /// The CRLF after a chunk's data is missing.
    case unterminatedChunk
    case trailersTooLarge, tooManyTrailers
    /// The trailer section has a field that would frame or route the message (RFC 9110 §6.5.1).
    case forbiddenTrailer
    case line(LineError)
    /// The connection ended before the end of the body (RFC 9112 §8).
    case incomplete

    /// The status of Larder's response to a request whose body cannot be decoded. If a response's body cannot be decoded, the client
    /// gets a 502 or a closed connection.
    package var status: Status { Status(400) }

    package var reason: StaticString {
        switch self {
        case .malformedChunkSize: "malformed_chunk_size"
        case .chunkSizeTooLarge: "chunk_size_too_large"
        case .chunkLineTooLong: "chunk_line_too_long"
        case .malformedChunkExtension: "malformed_chunk_extension"
        case .chunkExtensionsTooLong: "chunk_extensions_too_long"
        case .unterminatedChunk: "unterminated_chunk"
        case .trailersTooLarge: "trailers_too_large"
        case .tooManyTrailers: "too_many_trailers"
        case .forbiddenTrailer: "forbidden_trailer"
        case .line(let fault): fault.reason
        case .incomplete: "incomplete_body"
        }
    }
}
