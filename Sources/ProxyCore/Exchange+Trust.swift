import HTTPMessage

/// By which trust policy a stored response has to have come: the one that is in force for the target now.
extension Exchange {
    /// What was found for an origin, until the policies may mean something else.
    struct TrustMemo: Sendable {
        let host: [UInt8]
        let port: UInt16
        let found: TrustInForce
    }

    /// A client asks the same origin again and again: then this is one comparison.
    mutating func requireTrustInForce(at now: Timestamp) {
        guard let trustInForce = context.trustInForce else { return }
        let target = request.target
        if let trustMemo, trustMemo.port == target.port, now <= trustMemo.found.until,
            trustMemo.host.span.equalsIgnoringCase(request.span(of: target.host))
        {
            directives.trust = trustMemo.found.mark
            return
        }
        let host = originHost
        let found = trustInForce(String(decoding: host, as: UTF8.self), target.port, now)
        trustMemo = TrustMemo(host: host, port: target.port, found: found)
        directives.trust = found.mark
    }
}

/// The trust policy in force for an origin, as far as what is stored has to be compared with it.
package struct TrustInForce: Sendable {
    /// As connections have it whose server the policy accepted (`ExchangeMetrics.trustMark`).
    package let mark: UInt64
    /// The last moment at which it is that.
    package let until: Timestamp

    package init(mark: UInt64, until: Timestamp) {
        self.mark = mark
        self.until = until
    }

    /// Nobody is believed: what is stored, in whatever way it came, is none of that host's.
    package static let nobody = TrustInForce(mark: 1, until: Timestamp(milliseconds: .max))
}
