import HTTPMessage

/// A proxy for outgoing requests: an HTTP proxy, with or without TLS, or a SOCKS5 proxy.
package struct UpstreamProxy: Hashable, Sendable {
    package enum Scheme: String, Sendable, CaseIterable {
        case http, https
        /// SOCKS5 (RFC 1928); Larder looks up names and sends the proxy an address.
        case socks5
        /// SOCKS5; the proxy looks up names.
        case socks5h

        package var isSOCKS: Bool { self == .socks5 || self == .socks5h }
    }

    package let scheme: Scheme
    package let host: String
    package let port: UInt16
    /// The value of `Proxy-Authorization`; `nil` if requests are sent without it.
    package let authorization: [UInt8]?
    /// The password for SOCKS5, or the password for tunnel requests, used after the proxy has named its scheme (Basic or Digest). Plain
    /// requests then have their own Proxy-Authorization field.
    package let password: Password?
    /// Whether the proxy receives requests for https origins in absolute form, like requests for http origins. If not, Larder sends them
    /// through a tunnel.
    let asksSecurely: Bool

    package struct Password: Hashable, Sendable {
        let user: String
        let password: String
    }

    package init(
        scheme: Scheme = .http, host: String, port: UInt16, authorization: [UInt8]? = nil, asksSecurely: Bool = false
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.authorization = authorization
        password = nil
        self.asksSecurely = asksSecurely
    }

    /// A proxy with a password, which is sent in the scheme that the proxy requests.
    package init(scheme: Scheme = .http, host: String, port: UInt16, asking user: String, password: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        authorization = nil
        asksSecurely = false
        self.password = Password(user: user, password: password)
    }

    /// A proxy with a password, which is sent in the Basic scheme (RFC 7617 §2), or as RFC 1929 says to a SOCKS5 proxy.
    package init(scheme: Scheme = .http, host: String, port: UInt16, user: String, password: String) {
        if scheme.isSOCKS {
            self.init(scheme: scheme, host: host, port: port, asking: user, password: password)
        } else {
            let value = "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
            self.init(scheme: scheme, host: host, port: port, authorization: Array(value.utf8))
        }
    }

    /// The proxy as the server of a connection.
    var origin: Origin { Origin(scheme: scheme == .https ? .https : .http, host: host, port: port) }

    /// The proxy's URL, without the credentials.
    package var url: String { "\(scheme.rawValue)://\(origin.authority)" }
}

extension UpstreamProxy: CustomStringConvertible {
    /// The host and port, without the credentials.
    package var description: String { origin.authority }
}
