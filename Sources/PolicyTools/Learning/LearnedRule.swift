import HTTPMessage
import ProxyPolicy

/// A learned rule. It allows each of its methods on each of its paths, at each of its origins.
struct LearnedRule {
    /// What the rule allows: requests, or tunnels of one kind.
    enum Kind: Hashable { case requests, tunnel, anyTunnel }

    let kind: Kind
    var schemes: Set<RequestTarget.Scheme>
    var hosts: Set<String>
    var ports: Set<UInt16>
    /// The methods that the rule allows; empty for tunnels.
    var methods: Set<String> = []
    var paths: [LearnedPath] = []
    var evidence = ObservedTraffic.Evidence()
    /// One of the observed requests, without its secrets, as an example.
    var example = ""
    /// Whether the rule allows combinations of method, path and origin that were not observed, because `--max-rules` required merging
    /// rules.
    var isWidened = false

    /// The number of combinations of method, path and origin that the rule allows.
    private var volume: Int { schemes.count * hosts.count * ports.count * max(1, methods.count) * max(1, paths.count) }

    /// The number of combinations of method, path and origin that a merged rule would allow and the two rules do not; `nil` if
    /// the rules cannot be merged.
    func widening(with other: LearnedRule) -> Int? {
        guard kind == other.kind else { return nil }
        return merged(with: other).volume - volume - other.volume
    }

    func merged(with other: LearnedRule) -> LearnedRule {
        var rule = self
        rule.schemes.formUnion(other.schemes)
        rule.hosts.formUnion(other.hosts)
        rule.ports.formUnion(other.ports)
        rule.methods.formUnion(other.methods)
        var known: [String: Int] = [:]
        for (index, path) in paths.enumerated() { known[path.pattern] = index }
        for path in other.paths {
            if let index = known[path.pattern] { rule.paths[index].requests += path.requests } else { rule.paths.append(path) }
        }
        rule.paths.sort { $0.pattern < $1.pattern }
        rule.evidence.add(other.evidence)
        rule.isWidened = isWidened || other.isWidened || rule.volume > volume + other.volume
        return rule
    }

    /// The kind, the schemes, the ports and the methods of the rule.
    fileprivate var terms: [String] {
        [
            "\(kind)", schemes.map { "\($0)" }.sorted().joined(), ports.sorted().map { "\($0)" }.joined(separator: " "),
            methods.sorted().joined(separator: " "),
        ]
    }

    /// A key by which the rules are sorted in the file. Rules for tunnels come last.
    var order: [String] {
        [kind == .requests ? "0" : "1", hosts.min() ?? "", ports.min().map { "\($0)" } ?? "", methods.sorted().joined()]
    }
}

extension Array where Element == LearnedRule {
    /// Merges rules that differ only in their hosts.
    func joinedByHosts() -> [LearnedRule] { joined { $0.terms + $0.paths.map(\.pattern) } }

    /// Merges rules until at most `limit` are left. Each step merges the two rules whose merged rule allows the fewest additional
    /// combinations.
    /// - Returns: the rules that are left. There may be more than `limit`, because tunnels and requests need separate rules.
    func merged(to limit: Int) -> [LearnedRule] {
        guard count > limit else { return self }
        // Comparing all pairs of very many rules would take too long.
        var rules = count > Swift.max(limit, LearningLimits.mergedRules) ? joined(by: \.terms) : self
        while rules.count > limit, let (left, right) = rules.cheapestPair() {
            rules[left] = rules[left].merged(with: rules[right])
            rules.remove(at: right)
        }
        return rules
    }

    private func joined(by key: (LearnedRule) -> [String]) -> [LearnedRule] {
        var joined: [[String]: LearnedRule] = [:]
        for rule in self {
            let key = key(rule)
            joined[key] = joined[key].map { $0.merged(with: rule) } ?? rule
        }
        return joined.values.sorted { $0.order.lexicographicallyPrecedes($1.order) }
    }

    private func cheapestPair() -> (left: Int, right: Int)? {
        var best: (cost: Int, left: Int, right: Int)?
        for left in indices {
            for right in indices where right > left {
                guard let cost = self[left].widening(with: self[right]) else { continue }
                if best.map({ cost < $0.cost }) ?? true { best = (cost, left, right) }
            }
        }
        return best.map { ($0.left, $0.right) }
    }
}
