import HTTPMessage
import ProxyPolicy

/// The verdict of a policy on one request, with the rules that led to it.
package struct PolicyDecision: Equatable, Sendable {
    /// The codes are those of the responses and of the log.
    package enum Word: String, Sendable, CaseIterable {
        case allow
        /// Of a CONNECT: rules look at the requests inside, so Larder must intercept the host.
        case intercept
        case deniedByRule = "denied_by_rule"
        case egressDenied = "egress_denied"
        case ambiguousPath = "ambiguous_path"
    }

    package let word: Word
    /// The rule that decides: the one that denies, or the first that allows. `nil` if no rule does.
    package let rule: String?
    /// The text for the client; `nil` unless a rule denies.
    package let reason: String?
    /// In the order of the settings.
    package let matched: [String]
    /// Of a CONNECT that is allowed: any protocol may be in the tunnel.
    package let allowsAnyProtocol: Bool

    package var isAllowed: Bool { word == .allow }

    package init(_ request: PolicyRequest, under policy: PolicyRuleSet) {
        var matched = MatchedRules()
        self.init(request, under: policy, into: &matched)
    }

    package init(_ request: PolicyRequest, under policy: PolicyRuleSet, into matched: inout MatchedRules) {
        let verdict = policy.match(request.head, into: &matched)
        let rules = (0..<matched.count).map { matched[$0] }
        self.matched = rules.map(\.name)
        let allowing = policy.egress.default == .deny ? rules.first { $0.allows }?.name : nil
        var anyProtocol = false
        switch verdict {
        case .allow(let obligations):
            let isTunnel = request.head.method == .connect
            word = isTunnel && obligations.tunnel == .inspectedOnly ? .intercept : .allow
            anyProtocol = isTunnel && obligations.tunnel == .any
            rule = allowing
            reason = nil
        case .deny:
            word = .deniedByRule
            rule = matched.denyingRule?.name
            reason = matched.denyingRule?.reason
        case .unlisted:
            word = .egressDenied
            rule = nil
            reason = nil
        case .ambiguousPath:
            word = .ambiguousPath
            rule = nil
            reason = nil
        }
        allowsAnyProtocol = anyProtocol
    }

    /// For example "allowed by rule `x`".
    package var text: String {
        switch word {
        case .allow: rule.map { "allowed by rule `\($0)`" } ?? "allowed: no rule denies this"
        case .intercept: "allowed only if Larder intercepts the host"
        case .deniedByRule: "denied by rule `\(rule ?? "")`"
        case .egressDenied: "denied: no rule allows this"
        case .ambiguousPath: "denied: not every reading of the path is allowed"
        }
    }
}
