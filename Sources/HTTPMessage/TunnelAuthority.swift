/// The origin to which a client opened a tunnel that Larder intercepts. Every request in the tunnel is for this origin (RFC 9110
/// §9.3.6, §7.4).
package struct TunnelAuthority: Sendable {
    package let scheme: RequestTarget.Scheme
    /// The host in lower case, without brackets for IPv6.
    package let host: [UInt8]
    package let hostKind: RequestTarget.HostKind
    package let port: UInt16
    /// Whether the CONNECT target is an address, so that the Host field of each request in the tunnel may name the host.
    package let isNamedInside: Bool
    /// The part of a URL before its path: the scheme and the authority, without the scheme's default port.
    let prefix: [UInt8]
    /// The offset of the host in `prefix`.
    let hostOffset: Int

    /// - Parameter host: a well-formed name or address, without brackets.
    package init(
        scheme: RequestTarget.Scheme, host: [UInt8], kind: RequestTarget.HostKind, port: UInt16, isNamedInside: Bool = false
    ) {
        self.isNamedInside = isNamedInside
        self.scheme = scheme
        self.host = host.map(ASCII.lowercased)
        hostKind = kind
        self.port = port
        var prefix = Array((scheme == .https ? "https://" : "http://").utf8)
        if kind == .ipv6 { prefix.append(UInt8(ascii: "[")) }
        hostOffset = prefix.count
        prefix += self.host
        if kind == .ipv6 { prefix.append(UInt8(ascii: "]")) }
        if port != scheme.defaultPort { prefix += Array(":\(port)".utf8) }
        self.prefix = prefix
    }
}

/// Why a request in a tunnel is not for the tunnel's origin. The client gets 421 (RFC 9110 §15.5.20).
package enum MisdirectedRequest: Error, Equatable, Sendable {
    /// The request's Host field or absolute target names another origin.
    case authority
    /// The request is a CONNECT inside a tunnel.
    case tunnelInTunnel

    package var reason: StaticString {
        switch self {
        case .authority: "authority_of_another"
        case .tunnelInTunnel: "connect_in_tunnel"
        }
    }
}

extension RequestTarget.Scheme {
    package var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}

extension RequestHead {
    /// Turns a request in the form sent to an origin into the form sent to a proxy: its target becomes the whole URL. The target, the
    /// Host field and the tunnel must agree (T17 in docs/threats.md).
    package mutating func resolve(in tunnel: TunnelAuthority) throws(MisdirectedRequest) {
        switch target.form {
        case .authority: throw .tunnelInTunnel
        case .absolute:
            guard target.scheme == tunnel.scheme else { throw .authority }
            if !isSame(target.host, target.port, as: tunnel) {
                // Every HTTP/2 request except CONNECT has an absolute target (RFC 9113 §8.3.1). If the tunnel was opened to an address,
                // this target may name the host instead of the address.
                guard version.major == 2, tunnel.isNamedInside, target.port == tunnel.port else { throw .authority }
            }
            // If the target and the Host field name two hosts, Larder does not guess which one is meant, although RFC 9112 lets the
            // target decide.
            guard hostFieldMatchesTarget else { throw .authority }
            return
        case .origin, .asterisk:
            if !hostFieldNames(tunnel) {
                guard tunnel.isNamedInside, let named = authorityNamed(in: tunnel) else { throw .authority }
                return try resolve(in: named)
            }
        }
        let path = target.form == .asterisk ? Extent.empty : target.path
        let query = target.query
        let start = fields.bytes.count
        _ = fields.appendBytes(tunnel.prefix.span)
        let pathStart = fields.bytes.count
        // The query directly follows the path, so one copy takes both.
        fields.appendCopy(of: Extent(offset: Int(path.offset), count: Int(path.count + query.count)))
        target.form = .absolute
        target.scheme = tunnel.scheme
        target.host = Extent(offset: start + tunnel.hostOffset, count: tunnel.host.count)
        target.hostKind = tunnel.hostKind
        target.port = tunnel.port
        target.path = Extent(offset: pathStart, count: Int(path.count))
        target.query = Extent(offset: pathStart + Int(path.count), count: Int(query.count))
        rawTarget = Extent(offset: start, count: fields.bytes.count - start)
    }

    /// Writes the tunnel's origin before the target of a misdirected request, so that the access log names a host. The form of the
    /// target (`target.form`) does not change.
    package mutating func nameOrigin(of tunnel: TunnelAuthority) {
        guard target.form == .origin || target.form == .asterisk else { return }
        let start = fields.bytes.count
        _ = fields.appendBytes(tunnel.prefix.span)
        if target.form == .origin {
            let (path, query) = (target.path, target.query)
            let pathStart = fields.bytes.count
            // The query directly follows the path, so one copy takes both.
            fields.appendCopy(of: Extent(offset: Int(path.offset), count: Int(path.count + query.count)))
            target.path = Extent(offset: pathStart, count: Int(path.count))
            target.query = Extent(offset: pathStart + Int(path.count), count: Int(query.count))
        }
        rawTarget = Extent(offset: start, count: fields.bytes.count - start)
    }

    /// Whether the Host field names the tunnel's origin. An HTTP/1.0 request may omit the field or leave it empty.
    private func hostFieldNames(_ tunnel: TunnelAuthority) -> Bool {
        guard let line = fields.first(.host), !line.value.isEmpty else { return !version.isAtLeast11 }
        guard let field = try? Authority(parsing: line.value.range, in: fields.bytes.span) else { return false }
        return isSame(field.host, field.port ?? tunnel.scheme.defaultPort, as: tunnel)
    }

    /// The origin that the Host field names; `nil` if its port is not the tunnel's port.
    private func authorityNamed(in tunnel: TunnelAuthority) -> TunnelAuthority? {
        guard let line = fields.first(.host), !line.value.isEmpty,
            let field = try? Authority(parsing: line.value.range, in: fields.bytes.span),
            (field.port ?? tunnel.scheme.defaultPort) == tunnel.port
        else { return nil }
        return TunnelAuthority(
            scheme: tunnel.scheme, host: Array(fields.bytes[field.host.range]), kind: field.hostKind, port: tunnel.port)
    }

    /// Addresses are compared by value: `[::ffff:192.0.2.1]` names the IPv4 address to which the kernel connects.
    private func isSame(_ host: Extent, _ port: UInt16, as tunnel: TunnelAuthority) -> Bool {
        guard port == tunnel.port else { return false }
        if span(of: host).equalsIgnoringCase(tunnel.host.span) { return true }
        guard tunnel.hostKind != .name, let address = IPAddress(span(of: host)) else { return false }
        return address.unmapped == IPAddress(tunnel.host.span)?.unmapped
    }
}
