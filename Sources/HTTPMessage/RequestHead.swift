/// The request line and fields of a request (RFC 9112 §3, §5). The bytes of the request line are in `fields.bytes` too.
@usableFromInline
package struct RequestHead: Sendable {
    @usableFromInline package var fields = Fields()
    package var method: Method = .get
    package var methodName: Extent = .empty
    /// The request target as received (RFC 9112 §3.2).
    package var rawTarget: Extent = .empty
    package var target = RequestTarget()
    package var version: HTTPVersion = .http11

    package init() {}

    /// A request for this URI, without fields; `nil` if the URI is malformed.
    package init?(uri: Span<UInt8>, method: Method) {
        self.method = method
        rawTarget = fields.appendBytes(uri)
        guard let target = try? RequestTarget(parsing: rawTarget.range, in: fields.bytes.span, method: method) else {
            return nil  // the caller needs no reason
        }
        self.target = target
    }

    /// The request target without its query, for logs and recordings that must not show the query. `target` must have been parsed
    /// before.
    package var rawTargetBeforeQuery: Extent {
        let query = target.query
        return query.isEmpty ? rawTarget : Extent(offset: Int(rawTarget.offset), count: Int(query.offset - rawTarget.offset))
    }

    package mutating func removeAll() {
        fields.removeAll()
        method = .get
        methodName = .empty
        rawTarget = .empty
        target = RequestTarget()
        version = .http11
    }

    @inlinable @inline(__always)
    @_lifetime(borrow self)
    package func span(of extent: Extent) -> Span<UInt8> { fields.span(of: extent) }
}
