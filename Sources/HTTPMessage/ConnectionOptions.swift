/// What the `Connection` field of a message says (RFC 9110 §7.6.1), and whether its connection may be used again
/// (RFC 9112 §9.3).
package struct ConnectionOptions: Equatable, Sendable {
    package private(set) var hasClose = false
    package private(set) var hasKeepAlive = false
    package private(set) var hasUpgrade = false
    /// Whether there is any option besides `close`, `keep-alive` and the names of the fixed hop-by-hop list.
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

    /// Whether another request may follow on the client's connection. An HTTP/1.0 client of a proxy is not believed,
    /// because its `keep-alive` may have come through an older proxy that did not understand it (RFC 9112 §9.3).
    package func permitsNextRequest(after version: HTTPVersion) -> Bool { !hasClose && version.isAtLeast11 }

    /// Whether the origin's connection may take another request behind this response.
    package func permitsReuse(afterResponse version: HTTPVersion) -> Bool {
        !hasClose && (version.isAtLeast11 || hasKeepAlive)
    }
}
