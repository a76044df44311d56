/// The status line and fields of a response (RFC 9112 §4, §5). The bytes of the status line are in `fields.bytes` too.
@usableFromInline
package struct ResponseHead: Sendable {
    @usableFromInline package var fields = Fields()
    package var status: Status = .ok
    /// The reason phrase as received; it may be empty.
    package var reason: Extent = .empty
    package var version: HTTPVersion = .http11

    package init() {}

    package mutating func removeAll() {
        fields.removeAll()
        status = .ok
        reason = .empty
        version = .http11
    }

    @inlinable @inline(__always)
    @_lifetime(borrow self)
    package func span(of extent: Extent) -> Span<UInt8> { fields.span(of: extent) }
}
