import HTTPMessage

/// A 206 as what it is a part of: a complete response, of which some is missing (RFC 9111 §3.3, §3.4).
package enum PartialContent {
    /// The head of the whole: status 200, the whole's length, no Content-Range.
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
