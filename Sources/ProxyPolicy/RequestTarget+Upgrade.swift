import HTTPMessage

extension RequestTarget {
    /// Changes the target to https, as in RFC 6797 §8.3: port 80 becomes 443, and other ports do not change.
    /// - Returns: `false` if the target is already https.
    package mutating func upgradeToTLS() -> Bool {
        guard case .http = scheme else { return false }
        scheme = .https
        if port == 80 { port = 443 }
        return true
    }

    /// Changes an https target to the http target that it had if Larder upgraded it.
    package mutating func downgrade() -> Bool {
        guard case .https = scheme else { return false }
        scheme = .http
        if port == 443 { port = 80 }
        return true
    }
}
