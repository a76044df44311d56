/// Finds earlier lines of a squid.conf that allow requests which a later line denies.
struct SquidComparison {
    private var budget = StepBudget(PolicyToolLimits.importSteps)

    /// Whether the steps for comparisons are used up. If so, later lines are not compared.
    var isSpent: Bool { budget.isSpent }

    /// - Returns: the first earlier line with `allow` that matches some request which `rule` matches too; `nil` if none is found.
    mutating func firstOverlap(of rule: SquidRule, with rules: [SquidRule]) -> Int? {
        guard budget.spend(rule.size) else { return nil }
        let hosts = rule.ownHosts.map(HostOverlaps.init)
        for earlier in rules where earlier.allows {
            guard budget.spend(4 + earlier.comparedSize(with: rule)) else { return nil }
            if overlap(rule, earlier, hosts) { return earlier.line }
        }
        return nil
    }

    /// Whether some request may match both lines, judging by hosts, ports, methods and forms.
    private func overlap(_ rule: SquidRule, _ earlier: SquidRule, _ hosts: HostOverlaps?) -> Bool {
        if rule.forms.isDisjoint(with: earlier.forms) { return false }
        if let mine = rule.methods, let others = earlier.methods, Set(mine).isDisjoint(with: others) { return false }
        if let mine = rule.ports, let others = earlier.ports {
            let apart = mine.allSatisfy { range in others.allSatisfy { !$0.overlaps(range) } }
            if apart { return false }
        }
        guard let hosts, let others = earlier.ownHosts else { return true }
        return others.contains(where: hosts.contain)
    }
}

extension SquidRule {
    fileprivate var ownHosts: [String]? { hosts ?? urls?.map(\.host) }

    fileprivate func comparedSize(with other: SquidRule) -> Int {
        (ownHosts?.count ?? 0) + (methods?.count ?? 0) + (other.methods?.count ?? 0) + (ports?.count ?? 0)
            * (other.ports?.count ?? 0)
    }
}

/// Hosts and patterns such as `*.example.com`, together with the patterns that contain them. With these patterns, a long list can be
/// compared quickly with many hosts.
private struct HostOverlaps {
    private let listed: Set<String>
    /// The patterns that contain a listed host or pattern.
    private let wider: Set<String>

    init(_ hosts: [String]) {
        listed = Set(hosts)
        wider = Set(hosts.flatMap(Self.patterns))
    }

    func contain(_ host: String) -> Bool {
        listed.contains(host) || wider.contains(host) || Self.patterns(above: host).contains(where: listed.contains)
    }

    /// The patterns that contain the host: `*.b.c` and `*.c` for `a.b.c`.
    private static func patterns(above host: String) -> [String] {
        let name = host.hasPrefix("*.") ? host.dropFirst(2) : host[...]
        return name.indices.filter { name[$0] == "." }.map { "*\(name[$0...])" }
    }
}
