import HTTPMessage

/// Treats a 206 as an incomplete response (RFC 9111 §3.3, §3.4).
package enum PartialContent {
    /// The head of the complete response: status 200, the complete length, no Content-Range.
    package static func wholeHead(of response: ResponseHead, length: UInt64) -> ResponseHead {
        var head = ResponseHead()
        head.status = .ok
        head.version = response.version
        for line in response.fields.lines where line.known != .contentRange && line.known != .contentLength {
            head.fields.append(name: response.fields.name(of: line), value: response.fields.value(of: line))
        }
        var digits: [UInt8] = []
        digits.append(decimal: length)
        head.fields.append("Content-Length", digits.span)
        return head
    }
}
