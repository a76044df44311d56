import HTTPMessage
import UpstreamTransport

/// The address of a proxy.
package struct UpstreamProxyAddress: Equatable, Sendable {
    package let scheme: UpstreamProxy.Scheme
    package let host: String
    package let port: UInt16
    /// The part `user:password` as written; `nil` if there is none.
    package let credentials: String?

    package init?(_ text: String) {
        let words = UpstreamProxy.Scheme.allCases
        guard let scheme = words.first(where: { text.hasPrefix("\($0.rawValue)://") }) else { return nil }
        self.scheme = scheme
        var authority = text.dropFirst(scheme.rawValue.utf8.count + 3)
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x3F && $0 != 0x23 && $0 != 0x5C }) else {
            return nil
        }
        if let at = authority.lastIndex(of: "@") {
            credentials = String(authority[..<at])
            authority = authority[authority.index(after: at)...]
        } else {
            credentials = nil
        }
        guard let colon = authority.lastIndex(of: ":"), let port = UInt16(authority[authority.index(after: colon)...]), port > 0
        else { return nil }
        var host = authority[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard IPAddress(String(host))?.family == .ipv6 else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// The address as text, with its credentials redacted.
    package var redacted: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(scheme.rawValue)://\(credentials == nil ? "" : "(redacted)@")\(host):\(port)"
    }
}
