import HTTPMessage

/// The first bytes of an HTTP/2 client (RFC 9113 §3.4). HTTP/1 reads its first line as a request for another version.
package enum HTTP2Preface {
    package static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Whether these bytes are the beginning of the preface, or begin with the whole preface.
    package static func begins(_ input: RawSpan) -> Bool {
        let count = min(input.byteCount, bytes.count)
        return Span<UInt8>(_bytes: input.extracting(0..<count)).equals(bytes.span.extracting(0..<count))
    }
}
