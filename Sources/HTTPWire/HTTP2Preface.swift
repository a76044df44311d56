import HTTPMessage

/// The first bytes that an HTTP/2 client sends (RFC 9113 §3.4). An HTTP/1 server reads the preface's first line as a request of an
/// unsupported version.
package enum HTTP2Preface {
    package static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Whether these bytes are a beginning of the preface, or begin with the whole preface.
    package static func begins(_ input: RawSpan) -> Bool {
        let count = min(input.byteCount, bytes.count)
        return Span<UInt8>(_bytes: input.extracting(0..<count)).equals(bytes.span.extracting(0..<count))
    }
}
