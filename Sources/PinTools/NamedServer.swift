import LarderSettings
import ServerTrust
import UpstreamTransport

/// A server named by the user: `HOST` or `HOST:PORT`, as in `tls.hosts`, but not a pattern.
package struct NamedServer: Hashable, Sendable {
    /// The host in lower case; an address has no brackets.
    package let host: String
    /// The server's port; `nil` if no port was given.
    let port: UInt16?

    package static let usualPort: UInt16 = 443

    package init(host: String, port: UInt16?) {
        self.host = host
        self.port = port
    }

    package init?(argument: String) {
        guard let (host, port) = TrustEntry.parts(of: argument), !host.hasPrefix("*"), HostScope(host: host) != nil else {
            return nil
        }
        let isBracketed = host.hasPrefix("[")
        self.init(host: (isBracketed ? String(host.dropFirst().dropLast()) : host).lowercased(), port: port)
    }

    /// The same server, with this port if it has none.
    package func at(_ port: UInt16?) -> NamedServer { NamedServer(host: host, port: self.port ?? port) }

    package var origin: Origin { Origin(scheme: .https, host: host, port: port ?? Self.usualPort) }

    /// The server's name in settings.
    package var title: String { PinnedHost(name: host, port: port, live: []).title }
}
