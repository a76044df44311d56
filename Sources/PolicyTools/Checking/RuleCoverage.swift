import HTTPMessage
import ProxyPolicy

/// Decides whether one rule's match includes another rule's match.
enum RuleCoverage {
    /// Whether every request that `inner` matches also matches `outer`. `false` if the step budget is used up before this is known.
    static func covers(_ outer: RuleCondition, _ inner: RuleCondition, budget: inout StepBudget) -> Bool {
        guard outer.otherWords.isEmpty || outer.otherWords == inner.otherWords else { return false }
        return outer.queries.allSatisfy(inner.queries.contains) && coversHosts(outer.hosts, inner.hosts)
            && coversPorts(outer.ports, inner.ports)
            && (outer.schemes.isEmpty || !inner.schemes.isEmpty && inner.schemes.allSatisfy(outer.schemes.contains))
            && (outer.methods.isEmpty || !inner.methods.isEmpty && inner.methods.allSatisfy(outer.methods.contains))
            && coversPaths(outer.paths, inner.paths, budget: &budget)
    }

    private static func coversHosts(_ outer: [HostPattern], _ inner: [HostPattern]) -> Bool {
        if outer.isEmpty || outer.contains(.any) { return true }
        return !inner.isEmpty
            && inner.allSatisfy { pattern in outer.contains(pattern) || wider(pattern).contains(where: outer.contains) }
    }

    /// The patterns `*.SUFFIX` that match all hosts that this pattern matches.
    static func wider(_ pattern: HostPattern) -> [HostPattern] {
        switch pattern {
        case .any, .address: return []
        case .name(let name), .below(let name):
            return name.indices.filter { name[$0] == UInt8(ascii: ".") }.map { .below(Array(name[($0 + 1)...])) }
        }
    }

    private static func coversPorts(_ outer: [ClosedRange<UInt16>], _ inner: [ClosedRange<UInt16>]) -> Bool {
        if outer.isEmpty { return true }
        let sorted = outer.sorted { $0.lowerBound < $1.lowerBound }
        return (inner.isEmpty ? [1...UInt16.max] : inner).allSatisfy { range in
            var next = Int(range.lowerBound)
            for part in sorted where Int(part.lowerBound) <= next { next = max(next, Int(part.upperBound) + 1) }
            return next > Int(range.upperBound)
        }
    }

    private static func coversPaths(_ outer: [PathPattern], _ inner: [PathPattern], budget: inout StepBudget) -> Bool {
        if outer.isEmpty { return true }
        if inner.isEmpty { return false }
        if Set(inner.map(\.text)).isSubset(of: outer.map(\.text)) { return true }
        var automaton = PathAutomaton()
        for (side, patterns) in [(Side.old, outer), (.new, inner)] {
            for pattern in patterns {
                automaton.insert(
                    PathTokens(pattern).tokens, ending: PathAutomaton.PatternEnd(side: side, effect: .allow, rule: 0))
            }
        }
        var isCovered = true
        let isComplete = automaton.search(in: .readings, budget: &budget) { ends, _ in
            let isOuter = ends.contains { $0.side == .old }
            if !isOuter, ends.contains(where: { $0.side == .new }) { isCovered = false }
        }
        return isComplete && isCovered
    }
}
