/// The request line and fields of a request (RFC 9112 §3, §5). `fields.bytes` holds the request line too.
package struct RequestHead: Sendable {
    package var fields = Fields()
    package var method: Method = .get
    package var methodName: Extent = .empty
    /// The request target as it came (RFC 9112 §3.2).
    package var rawTarget: Extent = .empty
    package var target = RequestTarget()
    package var version: HTTPVersion = .http11

    package init() {}

    package mutating func removeAll() {
        fields.removeAll()
        method = .get
        methodName = .empty
        rawTarget = .empty
        target = RequestTarget()
        version = .http11
    }

    @_lifetime(borrow self)
    package func span(of extent: Extent) -> Span<UInt8> { fields.span(of: extent) }
}
