import HTTPMessage

/// Requests in plain text that are to be asked over TLS, or not at all.
extension Exchange {
    /// The target becomes the https one, before the key is made of it: what is stored for one scheme is never an answer for the other (T19).
    /// What a PURGE names stands under the URL that it names.
    mutating func upgradeToTLS() {
        if case .other = request.method, isPurge { return }
        trace.isUpgraded = request.target.upgradeToTLS()
    }

    /// Whether the host may not be asked in plain text, nor answered for with what once came so (T49).
    mutating func goesPastPins(_ rule: ExchangeContext.PlaintextLookUp, at now: Timestamp) -> Bool {
        guard case .http = request.target.scheme else { return false }
        if let plaintextMemo = memos.plaintext, isFor(plaintextMemo, at: now) { return false }
        let host = originHost
        switch rule(String(decoding: host, as: UTF8.self), originPort, now) {
        case .refused(let refusal):
            upstream.trustRefusal = refusal
            return true
        case .allowed(let until):
            memos.plaintext = OriginMemo(host: host, port: originPort, until: until)
            return false
        }
    }
}

/// Whether an origin may be asked in plain text.
package enum PlaintextRule: Sendable {
    case refused(TrustRefusal)
    /// `until`: the last moment at which it is so.
    case allowed(until: Timestamp)
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

extension TrustRefusal {
    /// A request in plain text to a host with pins.
    package convenience init(plaintextTo host: String, source: String, expected: [String]) {
        let place = Self.place(source)
        let host = Self.plain(host, limit: Self.lineLimit)
        self.init(
            reason: "plaintext_to_pinned_host", host: host, source: source, expected: expected,
            advice:
                "The settings\(place.isEmpty ? "" : " (\(place))") pin the keys of \(host), and a server that is asked in plain text "
                + "shows none. Ask for the https URL, or have a rule do that: `request: {upgrade: https}`.")
    }
}
