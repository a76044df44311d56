/// The options in a message's `Connection` field (RFC 9110 §7.6.1). They decide whether the message's connection may be reused (RFC
/// 9112 §9.3).
package struct ConnectionOptions: Equatable, Sendable {
    package private(set) var hasClose = false
    package private(set) var hasKeepAlive = false
    package private(set) var hasUpgrade = false
    /// Whether the field has an option besides `close`, `keep-alive`, `upgrade` and the names of known fields.
    package private(set) var hasNominations = false

    package init(of fields: borrowing Fields) {
        guard fields.contains(.connection) else { return }
        for line in fields.lines where line.known == .connection {
            let value = fields.value(of: line)
            var options = ListElements()
            while let range = options.next(in: value) { note(value.extracting(range)) }
        }
    }

    private mutating func note(_ option: Span<UInt8>) {
        if option.equalsIgnoringCase("close") {
            hasClose = true
        } else if option.equalsIgnoringCase("keep-alive") {
            hasKeepAlive = true
        } else if option.equalsIgnoringCase("upgrade") {
            hasUpgrade = true
        } else if KnownField(option) == .other {
            hasNominations = true
        }
    }

    /// Whether another request may follow on the client's connection. An HTTP/1.0 client's `keep-alive` is ignored, because an older proxy
    /// that did not understand it may have forwarded it (RFC 9112 §9.3).
    package func permitsNextRequest(after version: HTTPVersion) -> Bool { !hasClose && version.isAtLeast11 }

    /// Whether Larder may send another request on the origin's connection after this response.
    package func permitsReuse(afterResponse version: HTTPVersion) -> Bool {
        !hasClose && (version.isAtLeast11 || hasKeepAlive)
    }
}
