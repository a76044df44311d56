import HTTPCaching
import HTTPMessage

/// All rules of the settings, compiled once and immutable. Requests are matched against this set.
///
/// Rules apply in the order of the settings. No rule is applied after the first matching rule that denies. Later cache values
/// override earlier ones, and field edits are applied one after the other.
package final class PolicyRuleSet: Sendable {
    package let rules: [PolicyRule]
    private let hosts: HostIndex

    /// Whether at least one rule changes cache keys.
    package let rewritesKeys: Bool
    /// A digest of the parts of the rules that affect the URI under which a response is stored.
    package let keyDigest: [UInt8]
    /// Whether at least one rule upgrades http requests to https.
    package let upgradesToTLS: Bool
    /// The modes that rules set.
    package let modes: Set<RuleMode>
    /// Whether at least one rule looks at the client. Then the caller must give `RequestFacts.client`.
    package let looksAtClients: Bool
    /// Whether at least one rule asks an approver.
    package let asks: Bool
    /// Whether at least one rule matches on a field of requests, or edits one.
    let looksAtFields: Bool
    /// Whether at least one rule that allows or denies looks at the scheme or the port, which an upgrade changes.
    private let judgesUpgrades: Bool

    package let egress: EgressTerms

    package static let empty = PolicyRuleSet(rules: [])

    /// Reads the list under `rules`.
    package convenience init(parsing node: SettingsNode, path: String = "rules") throws(SettingsProblems) {
        var problems = SettingsProblems()
        let ruleSet = Self.parse(SettingsCursor(node, path: path), problems: &problems)
        guard problems.isEmpty, let ruleSet else { throw problems }
        self.init(rules: ruleSet.rules)
    }

    /// Like the initializer without `problems`, for a caller that collects the problems of a whole file.
    /// - Returns: `nil` only if a problem was added to `problems`.
    package static func parse(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> PolicyRuleSet? {
        let before = problems.count
        if cursor.isNull { return .empty }
        guard let items = cursor.list(problems: &problems) else { return nil }
        guard items.count <= PolicyLimits.rules else {
            cursor.report("the settings can have at most \(PolicyLimits.rules) rules", to: &problems)
            return nil
        }
        var firstPlaces: [String: SettingsPlace] = [:]
        var rules: [PolicyRule] = []
        firstPlaces.reserveCapacity(items.count)
        rules.reserveCapacity(items.count)
        for item in items {
            guard let rule = PolicyRule(parsing: item, problems: &problems) else { continue }
            if let first = firstPlaces.updateValue(item.node.place, forKey: rule.name) {
                let place = first.file == item.node.place.file ? "at" : "in another file, at"
                item.report("a rule named `\(rule.name)` is already \(place) line \(first.line)", to: &problems)
            }
            rules.append(rule)
        }
        return problems.count == before ? PolicyRuleSet(rules: rules) : nil
    }

    /// The same rules with other settings of `egress`.
    package func under(_ egress: EgressTerms) -> PolicyRuleSet { egress == self.egress ? self : PolicyRuleSet(self, egress) }

    private init(_ other: PolicyRuleSet, _ egress: EgressTerms) {
        self.egress = egress
        rules = other.rules
        hosts = other.hosts
        rewritesKeys = other.rewritesKeys
        keyDigest = other.keyDigest
        upgradesToTLS = other.upgradesToTLS
        modes = other.modes
        looksAtClients = other.looksAtClients
        asks = other.asks
        looksAtFields = other.looksAtFields
        judgesUpgrades = other.judgesUpgrades
    }

    package init(rules: [PolicyRule]) {
        self.rules = rules
        egress = EgressTerms()
        hosts = HostIndex(rules.lazy.map { ($0.condition.namedHosts, $0.allows) })
        looksAtClients = rules.contains { $0.condition.looksAtClients }
        asks = rules.contains { $0.asks }
        looksAtFields = rules.contains { $0.looksAtFields }
        judgesUpgrades = rules.contains { $0.upgradesToTLS } && rules.contains { $0.judgesUpgrades }
        rewritesKeys = rules.contains { $0.cache?.key != nil }
        upgradesToTLS = rules.contains { $0.upgradesToTLS }
        modes = Set(rules.lazy.compactMap { $0.mode })
        keyDigest = RulesDigest.make(of: rules.compactMap { $0.keyText.isEmpty ? nil : $0.keyText })
    }

    package var isEmpty: Bool { rules.isEmpty }

    /// Whether any rule may match: a rule without a host condition, or a rule that names this request's host. This fast check is made
    /// for every request, since few requests match a rule.
    package func mayConcern(_ request: borrowing RequestHead) -> Bool {
        if case .deny = egress.default { return true }
        return !rules.isEmpty && (!hosts.hostless.isEmpty || hosts.containsMatch(of: request.target, in: request))
    }

    /// Matches the rules against this request; `matched` is emptied first.
    ///
    /// Does not allocate if no rule matches. Allocates for matching rules only until `matched` has grown large enough.
    /// - Parameters:
    ///   - facts: if they have no client, the client is unknown. Then no rule with `client` allows the request, and a rule with
    ///     `client` that denies does deny it.
    ///   - ignoresDenials: whether to match as if no rule denied anything, and every request was allowed.
    package func match(
        _ request: RequestHead, _ facts: borrowing RequestFacts = RequestFacts(), into matched: inout MatchedRules,
        ignoresDenials: Bool = false
    ) -> Verdict {
        matched.removeAll()
        guard mayConcern(request) else { return .allow(.none) }
        if rules.isEmpty { return ignoresDenials ? .allow(.none) : reporting(.unlisted, .none) }
        guard judgesUpgrades else { return evaluate(request, facts, into: &matched, ignoresDenials: ignoresDenials) }
        let verdict = evaluate(request, facts, into: &matched, ignoresDenials: ignoresDenials)
        guard case .allow(let obligations) = verdict, obligations.upgradesToTLS, !ignoresDenials else {
            return verdict
        }
        return judgeUpgraded(request, facts, obligations, into: &matched)
    }

    /// Larder will send the request to its https URL. So the rules have to allow that URL too, as if the client had requested it.
    private func judgeUpgraded(
        _ request: RequestHead, _ facts: borrowing RequestFacts, _ obligations: Obligations, into matched: inout MatchedRules
    ) -> Verdict {
        var upgraded = request
        if case .authority = request.target.form { return .allow(obligations) }
        guard upgraded.target.upgradeToTLS() else { return .allow(obligations) }
        var judged = MatchedRules()
        let verdict = evaluate(upgraded, facts, into: &judged, ignoresDenials: false)
        guard case .allow(let found) = verdict else {
            matched = judged
            matched.isOfUpgradedURL = true
            return verdict
        }
        if found.asks, !obligations.asks, let index = judged.askingIndex {
            var obligations = obligations
            obligations.asks = true
            matched.insert(judged.number(at: index), of: self)
            return .allow(obligations)
        }
        guard obligations.reported == nil, let reported = found.reported else { return .allow(obligations) }
        var obligations = obligations
        obligations.reported = reported
        if case .rule(let index) = reported {
            matched.insert(judged.number(at: Int(index)), of: self)
            obligations.reported = .rule(index: UInt32(matched.count - 1))
        }
        return .allow(obligations)
    }

    /// Calls `body`, in the order of the settings, with each rule that the request may match by its host.
    func forEachRule(concerning request: RequestHead, _ body: (PolicyRule) -> Void) {
        var candidates = RuleCandidates()
        candidates.add(hosts.hostless)
        hosts.addRules(naming: request.target, in: request, to: &candidates)
        while let number = candidates.next(in: hosts.numbers) { body(rules[number]) }
    }

    /// Calls `body`, in the order of the settings, with each rule that requests to this origin may match by their host. If the requests
    /// inside the tunnel name the host, these are all rules.
    func forEachRule(for origin: TunnelAuthority, _ body: (PolicyRule) -> Void) {
        var candidates = RuleCandidates()
        candidates.add(hosts.hostless)
        if origin.isNamedInside {
            candidates.add(hosts.naming)
        } else {
            hosts.addRules(naming: origin.host.span, origin.hostKind, to: &candidates)
        }
        while let number = candidates.next(in: hosts.numbers) { body(rules[number]) }
    }

    /// Calls `body` with each rule that a request to this host may match.
    /// - Parameter name: the host's name in lower case, without a final dot.
    func forEachRule(naming name: [UInt8], _ body: (PolicyRule) -> Void) {
        var candidates = RuleCandidates()
        candidates.add(hosts.hostless)
        hosts.addRules(naming: name.span, .name, to: &candidates)
        while let number = candidates.next(in: hosts.numbers) { body(rules[number]) }
    }

    private func evaluate(
        _ request: RequestHead, _ facts: borrowing RequestFacts, into matched: inout MatchedRules, ignoresDenials: Bool
    ) -> Verdict {
        matched.isUsed = true
        matched.candidates.removeAll()
        matched.candidates.add(hosts.hostless)
        hosts.addRules(naming: request.target, in: request, to: &matched.candidates)
        var obligations = Obligations.none
        var allowance = Allowance(isNeeded: egress.default == .deny && !ignoresDenials)
        var asking = Asking(isNeeded: asks && egress.enforcement == .deny && !ignoresDenials)
        while let number = matched.candidates.next(in: hosts.numbers) {
            let rule = rules[number]
            if ignoresDenials, rule.denies { continue }
            if rule.asks {
                let isCovered = allowance.applies(rule, to: request, facts, readings: &matched.readings)
                guard rule.condition.matches(request, facts, as: .any, &matched.readings) || isCovered else { continue }
                asking.note(rule)
                matched.insert(number, of: self)
                continue
            }
            if rule.allows { asking.note(allowing: rule, request, facts, &matched.readings) }
            let matches =
                rule.allows
                ? allowance.applies(rule, to: request, facts, readings: &matched.readings)
                : rule.condition.matches(request, facts, as: rule.denies ? .any : .asSent, &matched.readings)
            guard matches else { continue }
            matched.insert(number, of: self)
            if rule.denies {
                if rule.denies(under: egress) {
                    if deniedUse(under: rule) == .serve { findStricterDenial(request, facts, into: &matched) }
                    return .deny
                }
                if obligations.reported == nil { obligations.reported = .rule(index: UInt32(matched.count - 1)) }
                continue
            }
            if let limit = rule.limit {
                obligations.limits = true
                if limit.needsContent { obligations.limitsContent = true }
            }
            if let cache = rule.cache { obligations.cache.merge(cache.overrides) }
            if let key = rule.cache?.key { matched.merge(key) }
            if let validation = rule.validation { matched.merge(validation) }
            if let transform = rule.transform { matched.merge(transform) }
            if rule.upstream != nil { obligations.routes = true }
            if let mode = rule.mode { obligations.mode = mode }
            obligations.editsRequest = obligations.editsRequest || !rule.request.isEmpty
            obligations.upgradesToTLS = obligations.upgradesToTLS || rule.upgradesToTLS
            obligations.editsResponse = obligations.editsResponse || !rule.response.isEmpty
        }
        obligations.validates = matched.validates
        obligations.checksBody = matched.checksBody
        obligations.asks = asking.isOpen(on: request, readings: &matched.readings)
        if let transform = matched.transform { obligations.transforms = !transform.isEmpty }
        obligations.rewritesKey = matched.rewritesKey
        return reporting(allowance.verdict(on: request, readings: &matched.readings, obligations), obligations)
    }

    /// Whether a request that this rule denies may get a stored response, if no other rule denies it.
    private func deniedUse(under rule: PolicyRule) -> DeniedUse { rule.deniedUse ?? (egress.servesStored ? .serve : .deny) }

    /// A denied request may get a stored response only if every rule that denies the request permits it. This looks for the first rule
    /// that does not.
    private func findStricterDenial(
        _ request: RequestHead, _ facts: borrowing RequestFacts, into matched: inout MatchedRules
    ) {
        while let number = matched.candidates.next(in: hosts.numbers) {
            let rule = rules[number]
            guard rule.denies(under: egress), deniedUse(under: rule) == .deny,
                rule.condition.matches(request, facts, as: .any, &matched.readings)
            else { continue }
            return matched.insert(number, of: self)
        }
    }

    /// In report mode, a request that no rule allows is still allowed, and so is its tunnel.
    private func reporting(_ verdict: Verdict, _ found: Obligations) -> Verdict {
        guard egress.enforcement == .report else { return verdict }
        var obligations = found
        switch verdict {
        case .allow, .deny: return verdict
        case .unlisted: obligations.reported = obligations.reported ?? .unlisted
        case .ambiguousPath: obligations.reported = obligations.reported ?? .ambiguousPath
        }
        return .allow(obligations)
    }

    /// Whether some requests are reported instead of denied, because of `egress.enforce` or because of a rule's `enforce`.
    package var reportsDenials: Bool {
        egress.enforcement == .report || rules.contains { $0.denies && $0.enforcement == .report }
    }
}
