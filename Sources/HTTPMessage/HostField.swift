extension RequestHead {
    /// The authority in the `Host` field; `nil` if the field is missing or empty. A parsed head has at most one Host field, which is
    /// well-formed.
    package var hostField: Authority? {
        guard let line = fields.first(.host), !line.value.isEmpty else { return nil }
        return try? Authority(parsing: line.value.range, in: fields.bytes.span)  // the parser rejects malformed fields
    }

    /// Adds the `Host` field that HTTP/1.1 requires to an HTTP/2 request that lacks it. The field's value is from the target, which has
    /// absolute form (RFC 9113 §8.3.1).
    package mutating func addMissingHostField() {
        guard !fields.contains(.host), target.form == .absolute else { return }
        let bracket = target.hostKind == .ipv6 ? 1 : 0
        let authority = Extent(Int(target.host.offset) - bracket..<Int(target.path.offset))
        let name = fields.appendBytes(Self.hostName.span)
        let start = fields.bytes.count
        fields.appendCopy(of: authority)
        fields.note(FieldLine(name: name, value: Extent(start..<fields.bytes.count), known: .host))
    }

    private static let hostName = Array("host".utf8)

    /// Whether the `Host` field agrees with the target, for policies that deny a request if the two differ.
    ///
    /// The target alone decides which server is contacted (RFC 9112 §3.2.2; T17 in docs/threats.md). True if the target has no host, or
    /// if the field is missing or empty.
    package var hostFieldMatchesTarget: Bool {
        guard !target.host.isEmpty, let field = hostField else { return true }
        let defaultPort: UInt16 = target.scheme == .https ? 443 : 80
        // The target of a CONNECT always has a port, and its Host field may omit the default port of the tunneled scheme.
        let isSamePort = field.port.map { $0 == target.port } ?? (target.form == .authority || target.port == defaultPort)
        return isSamePort && span(of: field.host).equalsIgnoringCase(span(of: target.host))
    }
}
