/// Whom a client's tunnel leads to, where what is in the tunnel is answered here: every request in it is one for this origin
/// (RFC 9110 §9.3.6, §7.4).
package struct TunnelAuthority: Sendable {
    package let scheme: RequestTarget.Scheme
    /// In lower case, without brackets for IPv6.
    package let host: [UInt8]
    package let hostKind: RequestTarget.HostKind
    package let port: UInt16
    /// The tunnel leads to an address, and each request says itself whom that stands for.
    package let isNamedInside: Bool
    /// What stands before a path to make a URL of it: scheme and authority, without the port that the scheme has anyway.
    let prefix: [UInt8]
    /// Where in the prefix the host stands.
    let hostOffset: Int

    /// - Parameter host: a name or an address, well-formed; without brackets.
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

/// Why a request in a tunnel is none for the origin that the tunnel leads to. Answered with 421 (RFC 9110 §15.5.20).
package enum MisdirectedRequest: Error, Equatable, Sendable {
    /// Its Host field, or its absolute target, names another.
    case authority
    /// CONNECT, where there is a tunnel already.
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
    /// Makes of a request to an origin the one that a proxy is asked: its target becomes the whole URL. Authority, Host field and
    /// tunnel have to agree (T17).
    package mutating func resolve(in tunnel: TunnelAuthority) throws(MisdirectedRequest) {
        switch target.form {
        case .authority: throw .tunnelInTunnel
        case .absolute:
            guard target.scheme == tunnel.scheme, isSame(target.host, target.port, as: tunnel) else { throw .authority }
            // Which one of two names the client means is not guessed, though the target would hold by itself.
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
        // The query stands right behind the path.
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

    /// Writes the tunnel's origin before the target of a misdirected request, so that the access log names a host. The target's form stays.
    package mutating func nameOrigin(of tunnel: TunnelAuthority) {
        guard target.form == .origin || target.form == .asterisk else { return }
        let start = fields.bytes.count
        _ = fields.appendBytes(tunnel.prefix.span)
        if target.form == .origin {
            let (path, query) = (target.path, target.query)
            let pathStart = fields.bytes.count
            // The query stands right behind the path.
            fields.appendCopy(of: Extent(offset: Int(path.offset), count: Int(path.count + query.count)))
            target.path = Extent(offset: pathStart, count: Int(path.count))
            target.query = Extent(offset: pathStart + Int(path.count), count: Int(query.count))
        }
        rawTarget = Extent(offset: start, count: fields.bytes.count - start)
    }

    /// HTTP/1.0 may leave the field out, and then names nobody.
    private func hostFieldNames(_ tunnel: TunnelAuthority) -> Bool {
        guard let line = fields.first(.host), !line.value.isEmpty else { return !version.isAtLeast11 }
        guard let field = try? Authority(parsing: line.value.range, in: fields.bytes.span) else { return false }
        return isSame(field.host, field.port ?? tunnel.scheme.defaultPort, as: tunnel)
    }

    /// What the Host field names, at the tunnel's port.
    private func authorityNamed(in tunnel: TunnelAuthority) -> TunnelAuthority? {
        guard let line = fields.first(.host), !line.value.isEmpty,
            let field = try? Authority(parsing: line.value.range, in: fields.bytes.span),
            (field.port ?? tunnel.scheme.defaultPort) == tunnel.port
        else { return nil }
        return TunnelAuthority(
            scheme: tunnel.scheme, host: Array(fields.bytes[field.host.range]), kind: field.hostKind, port: tunnel.port)
    }

    private func isSame(_ host: Extent, _ port: UInt16, as tunnel: TunnelAuthority) -> Bool {
        port == tunnel.port && span(of: host).equalsIgnoringCase(tunnel.host.span)
    }
}
