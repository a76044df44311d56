extension RequestHead {
    /// The authority in the `Host` field; `nil` if the field is missing or empty. A parsed head has at most one, well-formed.
    package var hostField: Authority? {
        guard let line = fields.first(.host), !line.value.isEmpty else { return nil }
        return try? Authority(parsing: line.value.range, in: fields.bytes.span)  // the parser rejected malformed ones
    }

    /// Whether the `Host` field agrees with the target, for policies that deny requests where it does not.
    ///
    /// The target alone decides what is fetched (RFC 9112 §3.2.2, T17). True if the target has no host, or the field is missing or
    /// empty.
    package var hostFieldMatchesTarget: Bool {
        guard !target.host.isEmpty, let field = hostField else { return true }
        let defaultPort: UInt16 = target.scheme == .https ? 443 : 80
        // CONNECT always has a port, and its Host may omit the default port of the tunneled scheme.
        let isSamePort = field.port.map { $0 == target.port } ?? (target.form == .authority || target.port == defaultPort)
        return isSamePort && span(of: field.host).equalsIgnoringCase(span(of: target.host))
    }
}
