import HTTPMessage

/// The active trust policy for an origin, for comparison with stored responses.
package struct ActiveTrust: Sendable {
    /// The mark of connections whose server the policy accepted (`ExchangeMetrics.trustMark`).
    package let mark: UInt64
    /// The last moment at which the mark is valid.
    package let until: Timestamp

    package init(mark: UInt64, until: Timestamp) {
        self.mark = mark
        self.until = until
    }

    /// No server is trusted for the host, so no stored response is used for it.
    package static let nobody = ActiveTrust(mark: 1, until: Timestamp(milliseconds: .max))
}

/// Whether plain-text requests to an origin are allowed.
package enum PlaintextRule: Sendable {
    case refused(TrustRefusal)
    /// `until`: the last moment at which plain-text requests are allowed.
    case allowed(until: Timestamp)
}

/// An origin whose trust policy was looked up, with the time until which the result is valid.
struct OriginMemo: Sendable {
    /// The host in lower case, without brackets.
    let host: [UInt8]
    let port: UInt16
    /// The last moment at which the result is valid.
    let until: Timestamp
}
