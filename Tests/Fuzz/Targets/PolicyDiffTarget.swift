import PolicyTools
import ProxyPolicy

extension FuzzTarget {
    /// A policy does not differ from itself. Each certain difference of two policies is a request on which they differ, and the way back has
    /// the opposite ones.
    package static let policyDiff = FuzzTarget("PolicyDiff") { octets in
        guard let first = octets.first else { return nil }
        let rest = Array(octets.dropFirst())
        let middle = rest.count / 2
        guard let old = rules(rest[..<middle]), let new = rules(rest[middle...]) else { return nil }
        let (before, after) = (old.under(terms(first & 3)), new.under(terms(first >> 2 & 3)))
        if !difference(before, before).isEmpty { return "a policy differs from itself" }
        let found = difference(before, after)
        for change in found.changes where change.doubt == nil {
            guard let request = try? PolicyRequest(change.method, change.target) else { return "the example is no request" }
            let (was, becomes) = (PolicyDecision(request, under: before), PolicyDecision(request, under: after))
            if was.isAllowed == becomes.isAllowed, was.allowsAnyProtocol == becomes.allowsAnyProtocol, was.word == becomes.word {
                return "both policies say the same of \(change.text)"
            }
        }
        let back = difference(after, before)
        if found.isCut || back.isCut || !found.notCompared.isEmpty || !back.notCompared.isEmpty { return nil }
        let opens = found.changes.contains { $0.kind == .opens && $0.doubt == nil }
        return opens == back.changes.contains { $0.kind == .closes && $0.doubt == nil } ? nil : "the way back is another"
    }

    private static func rules(_ octets: ArraySlice<UInt8>) -> PolicyRuleSet? {
        try? PolicyRuleSet(parsing: SettingsTree.node(from: Array(octets)))
    }

    private static func terms(_ bits: UInt8) -> EgressTerms {
        EgressTerms(bits & 1 == 0 ? .deny : .allow, enforcement: bits & 2 == 0 ? .deny : .report)
    }

    private static func difference(_ old: PolicyRuleSet, _ new: PolicyRuleSet) -> PolicyDifferences {
        PolicyComparison.differences(from: old, to: new, changes: 100, steps: 200_000)
    }
}
