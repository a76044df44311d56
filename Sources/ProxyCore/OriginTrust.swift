import HTTPMessage

/// The active trust policy for an origin, as far as what is stored has to be compared with it.
package struct ActiveTrust: Sendable {
    /// As connections have it whose server the policy accepted (`ExchangeMetrics.trustMark`).
    package let mark: UInt64
    /// The last moment at which it is that.
    package let until: Timestamp

    package init(mark: UInt64, until: Timestamp) {
        self.mark = mark
        self.until = until
    }

    /// Nobody is believed: what is stored, in whatever way it came, is none of that host's.
    package static let nobody = ActiveTrust(mark: 1, until: Timestamp(milliseconds: .max))
}

/// Whether an origin may be asked in plain text.
package enum PlaintextRule: Sendable {
    case refused(TrustRefusal)
    /// `until`: the last moment at which it is so.
    case allowed(until: Timestamp)
}

/// An origin that the trust policies were asked about, until they may mean something else.
struct OriginMemo: Sendable {
    /// In lower case, without brackets.
    let host: [UInt8]
    let port: UInt16
    /// The last moment.
    let until: Timestamp
}

extension RequestTarget {
    /// As RFC 6797 §8.3 has it: port 80 becomes 443, any other stays.
    /// - Returns: `false` where it is an https target already.
    mutating func upgradeToTLS() -> Bool {
        guard case .http = scheme else { return false }
        scheme = .https
        if port == 80 { port = 443 }
        return true
    }

    /// As it was before, perhaps.
    mutating func downgrade() -> Bool {
        guard case .https = scheme else { return false }
        scheme = .http
        if port == 443 { port = 80 }
        return true
    }
}
