import HTTPMessage

/// By which trust policy a stored response has to have come: the one that is active for the target now.
extension Exchange {
    mutating func requireActiveTrust(at now: Timestamp) {
        guard let activeTrust = context.activeTrust else { return }
        if let trustMemo = memos.trust, isFor(trustMemo.origin, at: now) {
            directives.trust = trustMemo.mark
            return
        }
        let host = originHost
        let found = activeTrust(String(decoding: host, as: UTF8.self), originPort, now)
        memos.trust = (OriginMemo(host: host, port: originPort, until: found.until), found.mark)
        directives.trust = found.mark
    }
}

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
