import HTTPMessage

/// How the end of a message's body is determined (RFC 9112 §6.3).
package enum BodyFraming: Equatable, Sendable {
    case none
    /// The length of the body in bytes, never above `Int64.max`.
    case length(UInt64)
    case chunked
    /// The body ends when the connection ends. Only responses have this framing.
    case untilClose
}

extension BodyFraming {
    /// The framing of a request's body. Stricter than §6.3 where two recipients might disagree. These are errors: Transfer-Encoding
    /// together with Content-Length, a list of equal lengths, and more than one blank before the digits (T10 in docs/threats.md).
    package static func ofRequest(_ head: borrowing RequestHead) throws(RequestParseError) -> BodyFraming {
        let framing = try declaredFraming(of: head)
        // RFC 9110 §9.3.6: the bytes after a CONNECT belong to the tunnel.
        if case .connect = head.method, framing != .none, framing != .length(0) { throw .contentInConnect }
        return framing
    }

    private static func declaredFraming(of head: borrowing RequestHead) throws(RequestParseError) -> BodyFraming {
        // Most requests have neither Transfer-Encoding nor Content-Length, so this bit test is enough for them.
        let framingFields = KnownField.transferEncoding.bit | KnownField.contentLength.bit
        guard head.fields.present & framingFields != 0 else { return .none }
        let fields = head.fields
        if fields.contains(.transferEncoding) {
            guard head.version.isAtLeast11 else { throw .transferEncodingInHTTP10 }
            guard !fields.contains(.contentLength) else { throw .bothLengths }
            switch TransferCodings(of: fields) {
            case .chunked: return .chunked
            case .malformed: throw .malformedTransferEncoding
            case .chunkedNotFinal: throw .chunkedNotFinal
            case .unsupported: throw .unknownTransferCoding
            }
        }
        guard let index = fields.index(of: .contentLength) else { return .none }
        guard fields.index(of: .contentLength, from: index + 1) == nil else { throw .repeatedContentLength }
        let line = fields.lines[index]
        let blanks = Int(line.value.offset) - line.name.end - 1
        guard blanks <= 1, let length = ContentLength.parse(fields.value(of: line)) else { throw .malformedContentLength }
        return .length(length)
    }

    /// The framing of the body of a final or informational response to a request with this method.
    ///
    /// A 101 that the client requested has no body and no end; the caller handles it before it calls this function. Any other 101 is an
    /// error.
    package static func ofResponse(
        _ head: ResponseHead, to method: Method
    ) throws(ResponseParseError) -> BodyFraming {
        if head.status.code == 101 { throw .unrequestedSwitchingProtocols }
        if head.status.hasNoContent || method == .head { return .none }
        if method == .connect, head.status.isSuccessful { return .none }
        let fields = head.fields
        if fields.contains(.transferEncoding) {
            guard head.version.isAtLeast11 else { throw .transferEncodingInHTTP10 }
            guard !fields.contains(.contentLength) else { throw .bothLengths }
            switch TransferCodings(of: fields) {
            case .chunked: return .chunked
            case .malformed: throw .malformedTransferEncoding
            case .chunkedNotFinal: throw .chunkedNotFinal
            case .unsupported: throw .unsupportedTransferCoding
            }
        }
        guard fields.contains(.contentLength) else { return .untilClose }
        switch ContentLength.combined(in: fields) {
        case .length(let length): return .length(length)
        case .conflicting: throw .conflictingContentLengths
        case .malformed: throw .malformedContentLength
        }
    }
}
