import HTTPMessage

/// An HTTP proxy for all outgoing requests.
package struct UpstreamProxy: Hashable, Sendable {
    package let host: String
    package let port: UInt16
    /// The value of `Proxy-Authorization`; `nil` if requests are sent without it.
    package let authorization: [UInt8]?
    /// The password for tunnel requests, used after the proxy has named its scheme (Basic or Digest). Plain requests then have their own
    /// Proxy-Authorization field.
    package let password: Password?
    /// Whether the proxy receives requests for https origins in absolute form, like requests for http origins. If not, Larder sends them
    /// through a tunnel.
    let asksSecurely: Bool

    package struct Password: Hashable, Sendable {
        let user: String
        let password: String
    }

    package init(host: String, port: UInt16, authorization: [UInt8]? = nil, asksSecurely: Bool = false) {
        self.host = host
        self.port = port
        self.authorization = authorization
        password = nil
        self.asksSecurely = asksSecurely
    }

    /// A proxy with a password, which is sent in the scheme that the proxy requests.
    package init(host: String, port: UInt16, asking user: String, password: String) {
        self.host = host
        self.port = port
        authorization = nil
        asksSecurely = false
        self.password = Password(user: user, password: password)
    }

    /// A proxy with a password, which is sent in the Basic scheme (RFC 7617 §2).
    package init(host: String, port: UInt16, user: String, password: String) {
        let value = "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
        self.init(host: host, port: port, authorization: Array(value.utf8))
    }

    var origin: Origin { Origin(scheme: .http, host: host, port: port) }
}

extension UpstreamProxy: CustomStringConvertible {
    /// The host and port, without the credentials.
    package var description: String { origin.authority }
}
