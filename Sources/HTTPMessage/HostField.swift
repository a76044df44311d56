extension RequestHead {
    /// What the `Host` field names; `nil` where there is none, or it is empty. A parsed head has at most one, well formed.
    package var hostField: Authority? {
        guard let line = fields.first(.host), !line.value.isEmpty else { return nil }
        return try? Authority(parsing: line.value.range, in: fields.bytes.span)  // malformed ones were refused on parsing
    }

    /// Whether the `Host` field says the same as the target, for those who deny requests in which it does not.
    ///
    /// The target alone decides what is fetched (RFC 9112 §3.2.2, T17). True where one of them says nothing.
    package var hostFieldMatchesTarget: Bool {
        guard !target.host.isEmpty, let field = hostField else { return true }
        let defaultPort: UInt16 = target.scheme == .https ? 443 : 80
        // CONNECT always has a port, and its Host may leave out the port of the scheme that will be tunnelled.
        let isSamePort = field.port.map { $0 == target.port } ?? (target.form == .authority || target.port == defaultPort)
        return isSamePort && span(of: field.host).equalsIgnoringCase(span(of: target.host))
    }
}
