import ProxyPolicy

/// The verdict of rules on a request, apart from what else they do.
package enum DenialWord: UInt8, Sendable {
    case allowed, deniedByRule, egressDenied, ambiguousPath

    /// The fault of a denied request.
    package var fault: Fault? {
        switch self {
        case .allowed: nil
        case .deniedByRule: .deniedByRule
        case .egressDenied: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }

    /// `allowed`, or the code of the error.
    package var text: StaticString { fault.map { GatewayError($0).code.text } ?? "allowed" }
}

/// How the verdict of `policy.shadow` differs from that of the active rules. In both, report mode counts as denial.
package struct ShadowDifference: Equatable, Sendable {
    package let active: DenialWord
    package let shadow: DenialWord
    /// The shadow's rule that denies the request, by its place in the file; `nil` if no rule does.
    package let shadowRule: UInt32?
}

extension ReportedDenial {
    package var word: DenialWord {
        switch self {
        case .rule: .deniedByRule
        case .unlisted: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }
}

extension Verdict {
    /// Why the request is denied, or would be without report mode.
    fileprivate var word: DenialWord {
        switch self {
        case .allow(let obligations): obligations.reported?.word ?? .allowed
        case .deny: .deniedByRule
        case .unlisted: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }
}

extension Exchange {
    /// Evaluates the request by the shadow's rules too. Their verdict is only reported.
    mutating func compareVerdicts(_ active: Verdict, _ shadow: PolicyRuleSet) {
        var matched = MatchedRules()
        let verdict = shadow.match(request, facts(for: shadow), into: &matched)
        guard verdict.word != active.word else { return }
        var index: Int?
        switch verdict {
        case .allow(let obligations): if case .rule(let place) = obligations.reported { index = Int(place) }
        case .deny: index = matched.count - 1
        case .unlisted, .ambiguousPath: break
        }
        trace.shadow = ShadowDifference(
            active: active.word, shadow: verdict.word, shadowRule: index.map { UInt32(matched.number(at: $0)) })
    }

    /// The rule that would allow the request that report mode forwards, as JSON, or empty.
    package var suggestionForReport: String {
        trace.reported == .unlisted && context.rules.egress.suggests ? SuggestedRule.text(allowing: request) : ""
    }

    /// The shadow's rule that denies the request, or empty.
    package var shadowRuleName: String {
        guard let number = trace.shadow?.shadowRule, let shadow = context.shadow else { return "" }
        return shadow.rules[Int(number)].name
    }

    /// A tunnel to this host would be denied; report mode opens it.
    package mutating func noteTunnelOpens() {
        guard obligations.tunnel == .inspectedOnly, reportsUnlisted, trace.reported == nil else { return }
        trace.reported = .unlisted
    }

    var reportsUnlisted: Bool { context.rules.egress.enforcement == .report }
}
