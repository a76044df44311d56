import HTTPCaching
import HTTPMessage

/// All rules of the settings, compiled once and immutable; requests are matched against it.
///
/// Rules apply in the order of the settings: the first matching rule that denies ends the list, later cache values override earlier ones,
/// and field edits are applied one after the other.
package final class PolicyRuleSet: Sendable {
    package let rules: [PolicyRule]
    private let hosts: HostIndex
    /// Rules without a host condition, which are checked for every request.
    private let hostless: RuleNumbers

    /// At least one rule changes cache keys.
    package let rewritesKeys: Bool
    /// Identifies the rules as far as they affect the URI that a response is stored under.
    package let keyDigest: [UInt8]
    /// At least one rule upgrades http requests to https.
    package let upgradesToTLS: Bool
    /// The modes that rules set.
    package let modes: Set<RuleMode>

    package let egress: EgressTerms

    package static let empty = PolicyRuleSet(rules: [])

    /// Reads the list under `rules`.
    package convenience init(parsing node: SettingsNode, path: String = "rules") throws(SettingsProblems) {
        var problems = SettingsProblems()
        let ruleSet = Self.parse(SettingsCursor(node, path: path), problems: &problems)
        guard problems.isEmpty, let ruleSet else { throw problems }
        self.init(rules: ruleSet.rules)
    }

    /// Like the initializer, for a caller that collects the problems of a whole file.
    /// - Returns: `nil` only if a problem was added to `problems`.
    package static func parse(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> PolicyRuleSet? {
        let before = problems.count
        if cursor.isNull { return .empty }
        guard let items = cursor.list(problems: &problems) else { return nil }
        guard items.count <= PolicyLimits.rules else {
            cursor.report("at most \(PolicyLimits.rules) rules", to: &problems)
            return nil
        }
        var firstPlaces: [String: SettingsPlace] = [:]
        var rules: [PolicyRule] = []
        for item in items {
            guard let rule = PolicyRule(parsing: item, problems: &problems) else { continue }
            if let first = firstPlaces.updateValue(item.node.place, forKey: rule.name) {
                item.report("a rule named `\(rule.name)` is already at line \(first.line)", to: &problems)
            }
            rules.append(rule)
        }
        return problems.count == before ? PolicyRuleSet(rules: rules) : nil
    }

    /// The same rules under other terms.
    package func under(_ egress: EgressTerms) -> PolicyRuleSet { egress == self.egress ? self : PolicyRuleSet(self, egress) }

    private init(_ other: PolicyRuleSet, _ egress: EgressTerms) {
        self.egress = egress
        rules = other.rules
        hosts = other.hosts
        hostless = other.hostless
        rewritesKeys = other.rewritesKeys
        keyDigest = other.keyDigest
        upgradesToTLS = other.upgradesToTLS
        modes = other.modes
    }

    package init(rules: [PolicyRule]) {
        self.rules = rules
        egress = EgressTerms()
        hosts = HostIndex(
            rules.enumerated().lazy.filter { $0.element.condition.namesHosts }
                .map { (number: $0.offset, patterns: $0.element.condition.hosts) })
        var hostless = RuleNumbers(count: rules.count)
        for (number, rule) in rules.enumerated() where !rule.condition.namesHosts { hostless.insert(number) }
        self.hostless = hostless
        rewritesKeys = rules.contains { $0.cache?.key != nil }
        upgradesToTLS = rules.contains { $0.upgradesToTLS }
        modes = Set(rules.compactMap(\.mode))
        keyDigest = RulesDigest.make(of: rules.map(\.keyText).filter { !$0.isEmpty })
    }

    package var isEmpty: Bool { rules.isEmpty }

    /// Whether any rule may match: a rule without a host condition, or one that names this request's host. A fast check for every request,
    /// since few requests match a rule.
    package func mayConcern(_ request: borrowing RequestHead) -> Bool {
        if case .deny = egress.default { return true }
        return !rules.isEmpty && (!hostless.isEmpty || hosts.containsMatch(of: request.target, in: request))
    }

    /// Matches the rules against this request; `matched` is emptied first.
    ///
    /// Does not allocate if no rule matches, nor for matching rules once `matched` has grown.
    package func match(_ request: RequestHead, into matched: inout MatchedRules) -> Verdict {
        matched.removeAll()
        guard mayConcern(request) else { return .allow(.none) }
        if rules.isEmpty { return .unlisted }
        matched.candidates.replace(with: hostless)
        hosts.insertRules(naming: request.target, in: request, into: &matched.candidates)
        return evaluate(request, into: &matched)
    }

    /// Inserts the rules that name this origin's host. If the requests in the tunnel name the host themselves, inserts all rules that name
    /// a host.
    func insertRules(naming origin: TunnelAuthority, into numbers: inout RuleNumbers) {
        if origin.isNamedInside {
            for (number, rule) in rules.enumerated() where rule.condition.namesHosts { numbers.insert(number) }
        } else {
            hosts.insertRules(naming: origin.host.span, origin.hostKind, into: &numbers)
        }
    }

    private func evaluate(_ request: RequestHead, into matched: inout MatchedRules) -> Verdict {
        var obligations = Obligations.none
        var allowance = Allowance(isNeeded: egress.default == .deny)
        var next = matched.candidates.next(from: 0)
        while let number = next {
            next = matched.candidates.next(from: number + 1)
            let rule = rules[number]
            guard
                rule.allows
                    ? allowance.applies(rule, to: request, readings: &matched.readings) : rule.matches(request, &matched.readings)
            else { continue }
            matched.insert(number, of: self)
            if rule.denies { return .deny }
            if let cache = rule.cache { obligations.cache.merge(cache.overrides) }
            if let key = rule.cache?.key { matched.merge(key) }
            if let validation = rule.validation { matched.merge(validation) }
            if let transform = rule.transform { matched.merge(transform) }
            if let mode = rule.mode { obligations.mode = mode }
            obligations.editsRequest = obligations.editsRequest || !rule.request.isEmpty
            obligations.upgradesToTLS = obligations.upgradesToTLS || rule.upgradesToTLS
            obligations.editsResponse = obligations.editsResponse || !rule.response.isEmpty
        }
        obligations.validates = matched.validates
        obligations.checksBody = matched.checksBody
        if let transform = matched.transform { obligations.transforms = !transform.isEmpty }
        obligations.rewritesKey = matched.rewritesKey
        return allowance.verdict(on: request, readings: &matched.readings, obligations)
    }
}

extension PolicyRule {
    fileprivate func matches(_ request: RequestHead, _ readings: inout RequestReadings) -> Bool {
        condition.matches(request, readings: &readings, denies: denies)
    }
}
