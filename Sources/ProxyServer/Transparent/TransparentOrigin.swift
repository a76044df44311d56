import HTTPMessage

/// The origin that a client connected to in a network namespace where every address is local.
struct TransparentOrigin: Sendable {
    /// A name in lower case, or an address without brackets.
    let host: [UInt8]
    let hostKind: RequestTarget.HostKind
    let port: UInt16

    /// The port for TLS; all other ports are for plain HTTP.
    private static let securePort: UInt16 = 443

    /// Whether the client sends a ClientHello first.
    var isSecure: Bool { port == Self.securePort }

    /// The authority for requests in plain HTTP. Each request must name this host in its Host field.
    var authority: TunnelAuthority { TunnelAuthority(scheme: .http, host: host, kind: hostKind, port: port) }

    /// The request that a client of the proxy would send to reach the same origin.
    var connectRequest: [UInt8] {
        let host = hostKind == .ipv6 ? [UInt8(ascii: "[")] + host + [UInt8(ascii: "]")] : host
        let authority = host + Array(":\(port)".utf8)
        return Array("CONNECT ".utf8) + authority + Array(" HTTP/1.1\r\nHost: ".utf8) + authority + Array("\r\n\r\n".utf8)
    }
}
