import HTTPMessage
import ProxyPolicy

/// The verdict of a policy on one request, with the rules that led to it.
package struct PolicyDecision: Equatable, Sendable {
    /// The verdict as a word. The words are the codes in responses and in the log.
    package enum Word: String, Sendable, CaseIterable {
        case allow
        /// An approver must allow the request.
        case ask
        /// For a CONNECT only: rules look at the requests inside the tunnel, so Larder must intercept the host.
        case intercept
        case deniedByRule = "denied_by_rule"
        case egressDenied = "egress_denied"
        case ambiguousPath = "ambiguous_path"
    }

    package let word: Word
    /// The rule that decides: the rule that denies, or the first rule that allows. `nil` if no rule decides.
    package let rule: String?
    /// The reason that the client gets; `nil` unless a rule denies.
    package let reason: String?
    /// The names of the matching rules, in the order of the settings.
    package let matched: [String]
    /// Why the request would be denied if report mode did not forward it; `nil` if it would not be denied.
    package let reported: Word?
    /// The rule that would deny the request.
    private let reportedRule: String?
    /// Whether the request is a PURGE that needs no rule to allow it, because Larder does not forward it.
    private let isFreePurge: Bool
    /// Whether the request is an allowed CONNECT whose tunnel may carry any protocol.
    package let allowsAnyProtocol: Bool

    package var isAllowed: Bool { word == .allow }

    /// Whether the rules allow the request, or let an approver allow it.
    var mayBeAllowed: Bool { word == .allow || word == .ask }

    package init(_ request: PolicyRequest, under policy: PolicyRuleSet) {
        var matched = MatchedRules()
        self.init(request, under: policy, into: &matched)
    }

    package init(_ request: PolicyRequest, under policy: PolicyRuleSet, into matched: inout MatchedRules) {
        let verdict = policy.match(request.head, request.facts, into: &matched)
        let rules = (0..<matched.count).map { matched[$0] }
        self.matched = rules.map(\.name)
        let allowing = policy.egress.default == .deny ? rules.first { $0.allows }?.name : nil
        var anyProtocol = false
        var reported: (word: Word, rule: String?)?
        var reason: String?
        switch verdict {
        case .allow(let obligations):
            let isTunnel = request.head.method == .connect
            let asks = obligations.asks && !request.isPurge
            word = isTunnel && obligations.tunnel == .inspectedOnly ? .intercept : asks ? .ask : .allow
            anyProtocol = isTunnel && obligations.tunnel == .any
            // Report mode applies only to requests that are forwarded. A PURGE is not forwarded.
            if !request.isPurge { reported = obligations.reported.map { Self.reported($0, rules) } }
            rule = word == .ask ? matched.askingRule?.name : allowing
        case .deny:
            word = .deniedByRule
            rule = matched.denyingRule?.name
            reason = matched.denyingRule?.reason
        case .unlisted, .ambiguousPath:
            // A client may also purge the stored responses of a host that no rule allows.
            word = request.isPurge ? .allow : verdict == .unlisted ? .egressDenied : .ambiguousPath
            rule = nil
        }
        isFreePurge = request.isPurge && word == .allow && rule == nil && policy.egress.default == .deny
        self.reported = reported?.word
        reportedRule = reported?.rule
        self.reason = reason
        allowsAnyProtocol = anyProtocol
    }

    private static func reported(_ denial: ReportedDenial, _ matched: [PolicyRule]) -> (word: Word, rule: String?) {
        switch denial {
        case .rule(let index): (.deniedByRule, matched[Int(index)].name)
        case .unlisted: (.egressDenied, nil)
        case .ambiguousPath: (.ambiguousPath, nil)
        }
    }

    /// The decision as text, for example "allowed by rule `x`".
    package var text: String {
        if let reported { return "allowed in report mode, otherwise \(Self.text(of: reported, reportedRule))" }
        return isFreePurge ? "allowed: a PURGE needs no rule" : Self.text(of: word, rule)
    }

    private static func text(of word: Word, _ rule: String?) -> String {
        switch word {
        case .allow: rule.map { "allowed by rule `\($0)`" } ?? "allowed: no rule denies the request"
        case .ask: "waits for an approver, by rule `\(rule ?? "")`"
        case .intercept: "allowed only if Larder intercepts the host"
        case .deniedByRule: "denied by rule `\(rule ?? "")`"
        case .egressDenied: "denied: no rule allows the request"
        case .ambiguousPath: "denied: the path is ambiguous, and the rules do not allow every interpretation"
        }
    }
}
