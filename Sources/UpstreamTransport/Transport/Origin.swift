/// An origin server as a connection's target: scheme, host and port (RFC 9110 §4.3.1).
package struct Origin: Hashable, Sendable {
    package enum Scheme: UInt8, Sendable { case http, https }

    package let scheme: Scheme
    /// The host in lower case; an IPv6 address without brackets.
    package let host: String
    package let port: UInt16

    package init(scheme: Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }
}

extension Origin {
    /// Whether the host contains only characters of names and addresses, so that nothing else (user information, a path, an
    /// escape, a zone) can hide in it when it is used as text.
    var hasPlainHost: Bool {
        guard !host.isEmpty, host.utf8.count <= 255 else { return false }
        for byte in host.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x3A: continue
            default: return false
            }
        }
        return true
    }

    /// `host:port`, an IPv6 address in brackets (RFC 3986 §3.2).
    var authority: String { host.utf8.contains(0x3A) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
