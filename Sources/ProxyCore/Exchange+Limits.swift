import HTTPMessage
import ProxyPolicy

/// The limits of the rules that match a request. The driver keeps the counts, which all loops share, and reports what they refuse.
///
///     idle ──requestHead──▶ counting ──requestCounted──▶ as from idle, or delivering (413, 429)
///     gathering, fetching, checking ──limitReached──▶ as before; then upstreamFailed
///     delivering ──limitReached──▶ delivering; then deliveryEnded (the message is cut)
extension Exchange {
    mutating func countRequest(at now: Timestamp, into commands: inout CommandBuffer) {
        if case .known(let length) = incoming.body, let refusal = refusal(of: length, .requestBody) {
            return fail(by: refusal, at: now, into: &commands)
        }
        state = .counting
        commands.append(.countRequest)
    }

    mutating func requestCounted(_ refusal: LimitRefusal?, at now: Timestamp, into commands: inout CommandBuffer) {
        if let refusal { return fail(by: refusal, at: now, into: &commands) }
        receivePermitted(at: now, into: &commands)
    }

    private mutating func fail(by refusal: LimitRefusal, at now: Timestamp, into commands: inout CommandBuffer) {
        note(refusal)
        fail(.limitReached(refusal.word), at: now, into: &commands)
    }

    /// The limit that ends the request, or cuts its response.
    mutating func note(_ refusal: LimitRefusal) {
        incoming.limitRefusal = refusal
        trace.decidingRule = (0..<matched.count).first { matched[$0].name == refusal.rule }.map { UInt32($0) }
        // No stored response stands in for what a rule forbids.
        if state != .delivering { cache.selected = nil }
    }

    /// What the request takes from the limits of its rules that count. Empty if none does.
    package func limitDemands(client: IPAddress) -> [LimitDemand] {
        matched.limits.filter(\.limit.counts).map { rule, limit in
            let subject: [UInt8] =
                switch limit.scope {
                case .rule, .run: []
                case .client: Array(client.description.utf8)
                case .user: incoming.sender?.user ?? []
                case .host: countedHost
                }
            return LimitDemand(rule: rule, limit: limit, subject: subject)
        }
    }

    /// With and without a final dot, a host is the same.
    private var countedHost: [UInt8] {
        var host = originHost
        if host.count > 1, host.last == UInt8(ascii: ".") { host.removeLast() }
        return host
    }

    /// Whether content of this length is longer than a rule permits; the refusal names the rule with the lowest limit.
    package func refusal(of length: UInt64, _ word: RuleLimit.Word) -> LimitRefusal? {
        let limits = matched.limits.compactMap { rule, limit in limit.most(word).map { (rule: rule, limit: limit, most: $0) } }
        guard let lowest = limits.min(by: { $0.most < $1.most }), length > lowest.most else { return nil }
        return LimitRefusal(rule: lowest.rule, word: word, limit: lowest.limit)
    }

    /// Whether a rule has a limit of this kind.
    package func hasLimit(_ word: RuleLimit.Word) -> Bool { matched.limits.contains { $0.limit.most(word) != nil } }

    /// A stored response has the limits of one from the origin.
    /// - Returns: `true` if the request has been answered with an error.
    mutating func refusesStored(_ length: BodyLength, into commands: inout CommandBuffer) -> Bool {
        guard obligations.limits, request.method != .head, case .known(let length) = length,
            let refusal = refusal(of: length, .responseBody)
        else { return false }
        fail(by: refusal, at: trace.receivedAt, into: &commands)
        return true
    }

    /// The rule whose limit ended the request, with the limit, for the error response.
    var limitingRule: (name: String, limit: String)? {
        switch trace.fault {
        case .limitReached: incoming.limitRefusal.map { ($0.rule, "limit: {\($0.limit)}") }
        case .contentHidden:
            matched.limits.first { $0.limit.needsContent }.map { rule, limit in
                let word = RuleLimit.Word.allCases.first { limit.most($0) != nil } ?? .requestBody
                return (rule, "limit: {\(limit.description(of: word))}")
            }
        default: nil
        }
    }
}
