import HTTPMessage
import ProxyPolicy

/// Finds rules that have no effect: rules that never match, and rules that one other rule overrides. A rule that only several other
/// rules together override is not found.
package struct RuleChecks {
    private let policy: PolicyRuleSet
    private var denials = RulesByHost()
    private var allowances = RulesByHost()
    private var budget = StepBudget(PolicyToolLimits.checkSteps)

    /// The rules that have no effect, in the order of the settings.
    package static func remarks(on policy: PolicyRuleSet) -> [RuleRemark] {
        var checks = RuleChecks(policy)
        return policy.rules.indices.compactMap { number in
            checks.cause(number).map { RuleRemark(rule: number, cause: $0) }
        }
    }

    private init(_ policy: PolicyRuleSet) {
        self.policy = policy
        for (number, rule) in policy.rules.enumerated() {
            // A rule in report mode overrides no other rule.
            if rule.denies(under: policy.egress) { denials.insert(number, rule.condition) }
            if rule.allows { allowances.insert(number, rule.condition) }
        }
    }

    private mutating func cause(_ number: Int) -> RuleRemark.Cause? {
        let rule = policy.rules[number]
        if let reason = RuleContradiction.reason(in: rule.condition, budget: &budget) { return .neverMatches(reason) }
        if rule.allows, policy.egress.default == .deny, rule.condition.isForConnectOnly {
            return .neverMatches("a rule that allows a tunnel must not have a method; remove `method`")
        }
        for other in denials.candidates(for: rule.condition) where other != number && (!rule.denies || other < number) {
            if covers(other, number) { return .deniedBy(other) }
        }
        if rule.asks {
            for other in allowances.candidates(for: rule.condition) where covers(other, number) { return .allowedBy(other) }
            return nil
        }
        guard rule.allows, rule.onlyAllows else { return nil }
        if policy.egress.default == .allow { return .allowedByDefault }
        for other in allowances.candidates(for: rule.condition) where other != number {
            let wider = policy.rules[other]
            if rule.allowsAnyTunnel, !wider.allowsAnyTunnel { continue }
            guard covers(other, number) else { continue }
            // Of two rules that allow the same requests, the second one has no effect.
            let isSame = wider.onlyAllows && wider.allowsAnyTunnel == rule.allowsAnyTunnel && covers(number, other)
            if !isSame || other < number { return .allowedBy(other) }
        }
        return nil
    }

    private mutating func covers(_ outer: Int, _ inner: Int) -> Bool {
        guard budget.spend(8) else { return false }
        return RuleCoverage.covers(policy.rules[outer].condition, policy.rules[inner].condition, budget: &budget)
    }
}

extension PolicyRule {
    /// Whether the rule only allows, and does nothing else.
    fileprivate var onlyAllows: Bool {
        request.isEmpty && response.isEmpty && cache == nil && validation == nil && transform == nil && mode == nil
            && !upgradesToTLS && limit == nil
    }
}

/// The numbers of rules, found by the hosts that the rules name.
private struct RulesByHost {
    private var byHost: [HostPattern: [Int]] = [:]
    private var hostless: [Int] = []

    mutating func insert(_ number: Int, _ condition: RuleCondition) {
        if condition.hosts.isEmpty || condition.hosts.contains(.any) { return hostless.append(number) }
        for host in condition.hosts { byHost[host, default: []].append(number) }
    }

    /// The rules whose hosts may include all hosts of the condition.
    func candidates(for condition: RuleCondition) -> [Int] {
        guard let first = condition.hosts.first, !condition.hosts.contains(.any) else { return hostless }
        return hostless + ([first] + RuleCoverage.wider(first)).flatMap { byHost[$0] ?? [] }
    }
}
