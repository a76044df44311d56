import HTTPMessage
import ProxyPolicy
import TextCoding

/// The verdict of a policy on one request with its reasons, as `larder policy eval` prints it.
package struct PolicyEvaluation: Sendable {
    /// One way in which a server may read the path.
    package struct Reading: Equatable, Sendable {
        package let path: String
        package let isAllowed: Bool
    }

    package let request: PolicyRequest
    package let decision: PolicyDecision
    /// Empty if the path has one reading.
    package let readings: [Reading]
    /// The rule that would allow the request, as JSON; `nil` if there is none, or none is shown.
    package let suggestion: String?
    /// Of an https URL: the verdict on the tunnel that carries it.
    package let tunnel: PolicyDecision?

    package init(_ request: PolicyRequest, under policy: PolicyRuleSet) {
        self.request = request
        decision = PolicyDecision(request, under: policy)
        readings = Self.readings(of: request, under: policy)
        let text = decision.word == .egressDenied && policy.egress.suggests ? SuggestedRule.text(allowing: request.head) : ""
        suggestion = text.isEmpty ? nil : text
        tunnel = Self.tunnelRequest(for: request).map { PolicyDecision($0, under: policy) }
    }

    private static func tunnelRequest(for request: PolicyRequest) -> PolicyRequest? {
        let target = request.head.target
        guard request.head.method != .connect, target.scheme == .https else { return nil }
        let host = request.head.fields.text(of: target.host)
        let written = target.hostKind == .ipv6 && !host.hasPrefix("[") ? "[\(host)]" : host
        return try? PolicyRequest("CONNECT", "\(written):\(target.port)")  // the parts are from a request
    }

    private static func readings(of request: PolicyRequest, under policy: PolicyRuleSet) -> [Reading] {
        let path = request.head.target.path
        guard request.head.method != .connect, !path.isEmpty else { return [] }
        var known = PathReadings()
        let texts = known.finalTexts(of: request.head.span(of: path))
        guard texts.count > 1 else { return [] }
        let rules = ReadingRules(for: request, under: policy)
        return texts.map { Reading(path: String(decoding: $0, as: UTF8.self), isAllowed: rules.allow($0)) }
    }

    /// At most so many readings are shown.
    private static let shownReadings = 8

    package var lines: [String] {
        var lines = ["\(request.method) \(request.target)", "verdict: \(decision.text)"]
        if let reason = decision.reason { lines.append("reason: \(reason)") }
        if decision.word != .allow { lines.append("code: \(decision.word.rawValue)") }
        lines.append(
            "rules: " + (decision.matched.isEmpty ? "none matches" : decision.matched.map { "`\($0)`" }.joined(separator: ", ")))
        lines += readings.prefix(Self.shownReadings).map { "reading: \($0.path) (\($0.isAllowed ? "allowed" : "denied"))" }
        if readings.count > Self.shownReadings { lines.append("and \(readings.count - Self.shownReadings) more readings") }
        if let tunnel { lines.append("tunnel: \(tunnel.text)") }
        if let suggestion { lines.append("suggestion: \(suggestion)") }
        return lines
    }

    package var json: JSONText {
        var members: [(String, JSONText)] = [
            ("request", .object([("method", .string(request.method)), ("url", .string(request.target))])),
            ("allowed", .bool(decision.isAllowed)), ("verdict", .string(decision.word.rawValue)),
            ("rule", decision.rule.map(JSONText.string) ?? .null), ("reason", decision.reason.map(JSONText.string) ?? .null),
            ("matched", .array(decision.matched.map(JSONText.string))),
            (
                "readings",
                .array(readings.map { .object([("path", .string($0.path)), ("allowed", .bool($0.isAllowed))]) })
            ),
        ]
        if let tunnel { members.append(("tunnel", .string(tunnel.word.rawValue))) }
        if let suggestion { members.append(("suggestion", .string(suggestion))) }
        return .object(members)
    }
}

/// The rules that match a request, apart from its path.
private struct ReadingRules {
    private var allowing = PathAutomaton()
    private var denying = PathAutomaton()
    private let isDefault: Bool

    init(for request: PolicyRequest, under policy: PolicyRuleSet) {
        isDefault = policy.egress.default == .allow
        var matched = MatchedRules()
        for (number, rule) in policy.rules.enumerated() where rule.denies || rule.allows {
            var condition = rule.condition
            condition.paths = []
            let alone = PolicyRuleSet(
                rules: [PolicyRule(name: rule.name, condition: condition, reason: rule.reason, allows: rule.allows)])
            let verdict = alone.under(EgressTerms(.deny)).match(request.head, into: &matched)
            guard rule.denies ? verdict == .deny : verdict.isAllowed else { continue }
            let end = PathAutomaton.PatternEnd(side: .new, effect: rule.denies ? .deny : .allow, rule: Int32(number))
            let patterns = rule.condition.paths.isEmpty ? [[.across]] : rule.condition.paths.map { PathTokens($0).tokens }
            for tokens in patterns {
                if rule.denies { denying.insert(tokens, ending: end) } else { allowing.insert(tokens, ending: end) }
            }
        }
    }

    func allow(_ path: [UInt8]) -> Bool { (isDefault || allowing.matches(path)) && !denying.matches(path) }
}
