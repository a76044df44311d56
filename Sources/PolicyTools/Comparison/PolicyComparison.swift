import HTTPMessage
import ProxyPolicy

/// Finds requests that one of two policies allows and the other does not.
///
/// Hosts, schemes, ports, methods and queries (`QueryClasses`) are divided into finitely many classes, so that each policy treats all
/// members of a class alike. For each combination of classes, one search in the automaton of the path patterns finds the paths that
/// differ. The comparison is exact for paths with one reading (`PathReadings`) and for rules that match only on the URL and the method. Both policies evaluate
/// each example before it is reported. If they do not confirm the change, it is reported as doubtful.
package struct PolicyComparison {
    private let old: PolicyRuleSet
    private let new: PolicyRuleSet
    private let oldRules: ComparedRules
    private let newRules: ComparedRules
    private let limit: Int
    private var budget: StepBudget
    private var found = PolicyDifferences()
    private var seen: Set<ChangeKey> = []
    private var scratch = MatchedRules()

    private struct ChangeKey: Hashable {
        let kind: PolicyChange.Kind
        let hosts: String
        let isTunnel: Bool
        let before: PolicyChange.Standing
        let after: PolicyChange.Standing
    }

    /// - Parameters:
    ///   - changes: the maximum number of listed changes.
    ///   - steps: the maximum number of steps, which limits the time.
    package static func differences(
        from old: PolicyRuleSet, to new: PolicyRuleSet, changes: Int = PolicyToolLimits.changes,
        steps: Int = PolicyToolLimits.comparisonSteps
    ) -> PolicyDifferences {
        var comparison = PolicyComparison(old, new, changes: changes, steps: steps)
        comparison.compare()
        return comparison.found
    }

    private init(_ old: PolicyRuleSet, _ new: PolicyRuleSet, changes: Int, steps: Int) {
        self.old = old
        self.new = new
        limit = changes
        budget = StepBudget(steps)
        var numbers = RuleNumbers()
        oldRules = ComparedRules(old, numbers: &numbers)
        newRules = ComparedRules(new, numbers: &numbers)
    }

    private mutating func compare() {
        compareQuestions()
        let sameElsewhere =
            old.egress.appliedDefault == new.egress.appliedDefault
            && Self.haveSameMeanings(oldRules.hostless.map { oldRules.rules[$0] }, newRules.hostless.map { newRules.rules[$0] })
        for hosts in HostClasses.all(of: Set(oldRules.hosts).union(newRules.hosts)) {
            let before = oldRules.rules(naming: hosts.patterns).map { oldRules.rules[$0] }
            let after = newRules.rules(naming: hosts.patterns).map { newRules.rules[$0] }
            if sameElsewhere, Self.haveSameMeanings(before, after) { continue }
            if found.isCut { return }
            guard !budget.isSpent else {
                found.notCompared.append(hosts.label)
                continue
            }
            let lists = RuleLists(
                old: oldRules.hostless.map { oldRules.rules[$0] } + before,
                new: newRules.hostless.map { newRules.rules[$0] } + after)
            if !compare(hosts, lists) { found.notCompared.append(hosts.label) }
        }
    }

    /// Compares the rules that ask an approver, each with one example, because the comparison of paths treats them like rules that allow.
    private mutating func compareQuestions() {
        for (kind, rules) in AskedRules.changes(from: old, to: new) {
            for rule in rules {
                let (method, target, hosts) = AskedRules.example(of: rule)
                guard let (before, after) = decide(method, target), let host = hosts else { continue }
                let isShown = before.askLevel != after.askLevel
                let shown: PolicyChange.Kind = before.askLevel < after.askLevel ? .opens : .closes
                add(
                    isShown ? shown : kind, isShown ? nil : .otherWords, method, target, host, PolicyChange.Standing(before),
                    PolicyChange.Standing(after))
            }
        }
    }

    private static func haveSameMeanings(_ left: [ComparedRule], _ right: [ComparedRule]) -> Bool {
        if left.count == right.count, zip(left, right).allSatisfy({ $0.meaning == $1.meaning }) { return true }
        return Set(left.map(\.meaning)) == Set(right.map(\.meaning))
    }

    /// - Returns: `false` if the rules are too complex.
    private mutating func compare(_ hosts: HostClass, _ lists: RuleLists) -> Bool {
        let regions = RequestRegions(of: lists.old + lists.new)
        guard budget.spend(regions.count * (lists.old.count + lists.new.count)) else { return false }
        var isComplete = true
        var known: Set<[Int32]> = []
        for region in regions.all {
            let lists = lists.filtered {
                $0.matches(region.scheme) && $0.matches(port: region.port) && $0.matches(method: region.method)
            }
            guard known.insert(lists.key).inserted else { continue }
            if !compareQueries(lists, of: region, hosts) { isComplete = false }
        }
        for range in regions.ports { compareTunnels(to: hosts, RequestRegions.port(in: range, of: .https), lists) }
        return isComplete
    }

    /// Compares the rules for each class of queries. If the queries are too complex, they are compared like the keys that are compared only
    /// as text.
    private mutating func compareQueries(_ lists: RuleLists, of region: RequestRegion, _ hosts: HostClass) -> Bool {
        if decideAlike(lists) { return true }
        guard let classes = QueryClasses.all(of: lists.old + lists.new, budget: &budget) else {
            return compareWords(lists, of: region, hosts, query: "", comparesQueries: false)
        }
        var isComplete = true
        var known: Set<[Int32]> = []
        for queries in classes {
            let active = lists.filtered { queries.matching.contains($0.query) }
            guard known.insert(active.key).inserted, !decideAlike(active) else { continue }
            if !compareWords(active, of: region, hosts, query: queries.query, comparesQueries: true) { isComplete = false }
        }
        return isComplete
    }

    private func decideAlike(_ lists: RuleLists) -> Bool {
        old.egress.appliedDefault == new.egress.appliedDefault && Self.haveSameMeanings(lists.old, lists.new)
    }

    /// Compares the rules for each combination of the keys that are compared only as text: any of them may match or not.
    private mutating func compareWords(
        _ lists: RuleLists, of region: RequestRegion, _ hosts: HostClass, query: String, comparesQueries: Bool
    ) -> Bool {
        let all = lists.old + lists.new
        let opaque = Set(all.map(\.opaque)).subtracting([0]).sorted()
        let queries = comparesQueries ? [] : Set(all.map(\.query)).subtracting([0]).sorted()
        guard opaque.count + queries.count <= PolicyToolLimits.opaqueWords else { return false }
        var isComplete = true
        let doubt: PolicyChange.Doubt? = opaque.isEmpty && queries.isEmpty ? nil : .otherWords
        for choice in 0..<(1 << (opaque.count + queries.count)) {
            let isChosen = { (words: [Int32], offset: Int, number: Int32) in
                words.firstIndex(of: number).map { choice >> ($0 + offset) & 1 == 1 } ?? true
            }
            let active = lists.filtered { isChosen(opaque, 0, $0.opaque) && isChosen(queries, opaque.count, $0.query) }
            if !comparePaths(active, of: region, hosts, query: query, doubt: doubt) { isComplete = false }
        }
        return isComplete
    }

    private mutating func comparePaths(
        _ lists: RuleLists, of region: RequestRegion, _ hosts: HostClass, query: String, doubt: PolicyChange.Doubt?
    ) -> Bool {
        let paths = PathComparison(lists, oldDefault: old.egress.appliedDefault, newDefault: new.egress.appliedDefault)
        var isComplete = true
        var kinds: Set<PolicyChange.Kind> = []
        var known: Set<PathComparison.Causes> = []
        for universe in paths.universes {
            let searched = paths.search(in: universe, budget: &budget)
            isComplete = isComplete && searched.isComplete
            for path in searched.differences where known.insert(path.causes).inserted {
                kinds.insert(path.kind)
                note(path, of: region, hosts, query: query, doubt: universe == .readings ? .readings : doubt)
            }
        }
        guard let denials = paths.denialsAlone else { return isComplete }
        let searched = denials.search(in: .readings, budget: &budget)
        for path in searched.differences
        where paths.mayAllow(path.kind == .opens ? .new : .old) && kinds.insert(path.kind).inserted {
            note(path, of: region, hosts, query: query, doubt: .readings)
        }
        return isComplete && searched.isComplete
    }

    private mutating func note(
        _ path: PathComparison.Difference, of region: RequestRegion, _ hosts: HostClass, query: String,
        doubt: PolicyChange.Doubt?
    ) {
        if found.isCut { return }
        let port = region.port == region.scheme.defaultPort ? "" : ":\(region.port)"
        let origin = (region.scheme == .https ? "https://" : "http://") + hosts.host + port
        let method = String(decoding: region.method, as: UTF8.self)
        let target = origin + path.sent + query
        if let (before, after) = decide(method, target), before.mayBeAllowed == (path.kind == .closes),
            after.mayBeAllowed != before.mayBeAllowed
        {
            return add(path.kind, nil, method, target, hosts, PolicyChange.Standing(before), PolicyChange.Standing(after))
        }
        add(
            path.kind, doubt ?? .readings, method, target, hosts, standing(path.causes.before, in: old),
            standing(path.causes.after, in: new))
    }

    private func standing(_ cause: PathComparison.Cause, in policy: PolicyRuleSet) -> PolicyChange.Standing {
        switch cause {
        case .byDefault: PolicyChange.Standing(.allow, nil)
        case .unlisted: PolicyChange.Standing(.egressDenied, nil)
        case .allowedBy(let rule):
            PolicyChange.Standing(policy.rules[Int(rule)].asks ? .ask : .allow, policy.rules[Int(rule)].name)
        case .deniedBy(let rule): PolicyChange.Standing(.deniedByRule, policy.rules[Int(rule)].name)
        }
    }

    private mutating func compareTunnels(to hosts: HostClass, _ port: UInt16, _ lists: RuleLists) {
        let target = "\(hosts.host):\(port)"
        guard let (before, after) = decide("CONNECT", target) else { return }
        let (old, new) = (before.tunnelLevel, after.tunnelLevel)
        if old != new {
            add(
                old < new ? .opens : .closes, nil, "CONNECT", target, hosts, PolicyChange.Standing(before),
                PolicyChange.Standing(after))
        }
        // The example has only a method and a target, so it cannot meet conditions on anything else. Rules with such conditions are
        // compared here by their meaning.
        let doubtful = lists.filtered { $0.opaque != 0 && $0.mayDecideTunnel(to: port) }
        if Self.haveSameMeanings(doubtful.old, doubtful.new) { return }
        for (kind, from, to, end) in [
            (PolicyChange.Kind.opens, doubtful.old, doubtful.new, after), (.closes, doubtful.new, doubtful.old, before),
        ] {
            let (lost, gained) = (from.lacking(to), to.lacking(from))
            guard lost.contains(where: { $0.effect == .deny }) || gained.contains(where: { $0.effect == .allow }),
                end.mayBeAllowed || to.contains(where: { $0.effect == .allow })
            else { continue }
            add(
                kind, .otherWords, "CONNECT", target, hosts, PolicyChange.Standing(before), PolicyChange.Standing(after))
        }
    }

    /// The verdicts of both policies on the example; `nil` if its method and target make no valid request.
    private mutating func decide(_ method: String, _ target: String) -> (PolicyDecision, PolicyDecision)? {
        guard let request = try? PolicyRequest(method, target) else { return nil }  // some readings cannot be a request's path
        return (PolicyDecision(request, under: old, into: &scratch), PolicyDecision(request, under: new, into: &scratch))
    }

    private mutating func add(
        _ kind: PolicyChange.Kind, _ doubt: PolicyChange.Doubt?, _ method: String, _ target: String, _ hosts: HostClass,
        _ before: PolicyChange.Standing, _ after: PolicyChange.Standing
    ) {
        let key = ChangeKey(kind: kind, hosts: hosts.label, isTunnel: method == "CONNECT", before: before, after: after)
        guard seen.insert(key).inserted else { return }
        guard found.changes.count < limit else {
            found.isCut = true
            return
        }
        found.changes.append(
            PolicyChange(
                kind: kind, doubt: doubt, method: method, target: target, hosts: hosts.label, before: before, after: after))
    }
}

extension PolicyDecision {
    /// 0 for a denial, 1 if an approver decides, 2 if the request is allowed.
    fileprivate var askLevel: Int { word == .allow ? 2 : word == .ask ? 1 : 0 }

    /// What a CONNECT may do if Larder does not intercept it: 0 for nothing, 1 for TLS to the host, 2 for any protocol.
    fileprivate var tunnelLevel: Int { !mayBeAllowed ? 0 : allowsAnyProtocol ? 2 : 1 }
}

extension ComparedRule {
    /// Whether, for some client, the rule may decide about a CONNECT to this port.
    fileprivate func mayDecideTunnel(to port: UInt16) -> Bool {
        // A CONNECT has no query and no content, and belongs to no operation.
        guard matches(.https), matches(port: port), condition.queries.isEmpty, condition.contentLengths.isEmpty,
            condition.operations.isEmpty
        else { return false }
        if effect == .allow { return condition.allowsTunnels }
        return matches(method: Array("CONNECT".utf8)) && condition.paths.allSatisfy(\.matchesEveryPath)
    }
}

extension [ComparedRule] {
    /// The rules that have no counterpart with the same meaning in `others`.
    fileprivate func lacking(_ others: [ComparedRule]) -> [ComparedRule] {
        let meanings = Set(others.map(\.meaning))
        return filter { !meanings.contains($0.meaning) }
    }
}

/// The rules of the old and of the new policy for the same requests.
struct RuleLists {
    let old: [ComparedRule]
    let new: [ComparedRule]

    func filtered(_ matches: (ComparedRule) -> Bool) -> RuleLists {
        RuleLists(old: old.filter(matches), new: new.filter(matches))
    }

    subscript(side: Side) -> [ComparedRule] { side == .old ? old : new }

    /// A key by which pairs of lists are compared: different lists have different keys.
    var key: [Int32] { old.map(\.number) + [-1] + new.map(\.number) }
}
