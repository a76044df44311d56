import EventLoop
import HTTPMessage
import HTTPSerialization

/// Decodes the content codings that the session itself requested.
struct ContentDecoding: Sendable {
    private let codings: [String]
    private let limits: CodingLimits

    /// - Returns: `nil` if there is nothing to decode: no coding, no content, a range, or a coding that the caller requested.
    init?(_ head: ResponseChannel.Head, to request: PreparedRequest, _ session: SessionLimits) {
        guard request.decodesContent, head.fields.contains(.contentEncoding), head.status.code != 206, head.framing != .none
        else { return nil }
        codings = SessionFields(head.fields).values(of: "Content-Encoding")
        limits = CodingLimits(length: UInt64(session.bodyLength))
    }

    func decoded(_ octets: [UInt8]) throws(SessionError) -> [UInt8] {
        do throws(CodingFault) {
            return try ContentDecoder.decoded(octets, contentEncoding: codings, limits: limits)
        } catch { throw SessionError(error) }
    }

    /// A decoder for a body that arrives in pieces.
    func makeStream() throws(SessionError) -> DecodedStream {
        // The length of a stream is not limited; a decompression bomb is detected by its compression ratio.
        guard let decoder = ContentDecoder(contentEncoding: codings) else {
            throw SessionError(.malformedContentCoding, "the response has a content coding that was not requested")
        }
        return DecodedStream(decoder)
    }

    /// The fields without Content-Encoding and Content-Length, which do not describe the decoded body.
    static func withoutCoding(_ fields: Fields) -> Fields {
        var fields = fields
        fields.remove(.contentEncoding)
        fields.remove(.contentLength)
        return fields
    }
}

/// A body that is decoded while it arrives.
final class DecodedStream: Sendable {
    private let decoder: Guarded<ContentDecoder>

    init(_ decoder: sending ContentDecoder) { self.decoder = Guarded(decoder) }

    func decode(_ octets: [UInt8]) throws(SessionError) -> [UInt8] {
        let result: Result<[UInt8], SessionError> = decoder.withLock { decoder in
            var content: [UInt8] = []
            do {
                try decoder.decode(octets.span) { content.append($0) }
                return .success(content)
            } catch { return .failure(SessionError(error as? CodingFault ?? .malformed)) }
        }
        return try result.get()
    }

    func finish() throws(SessionError) {
        let result: Result<Void, SessionError> = decoder.withLock { decoder in
            do throws(CodingFault) {
                try decoder.finish()
                return .success(())
            } catch { return .failure(SessionError(error)) }
        }
        try result.get()
    }
}

extension SessionError {
    fileprivate init(_ fault: CodingFault) {
        self.init(fault == .tooLarge ? .bodyTooLarge : .malformedContentCoding, fault.rawValue)
    }
}
