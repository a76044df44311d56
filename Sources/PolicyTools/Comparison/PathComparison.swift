import HTTPMessage
import ProxyPolicy

/// Finds the paths about which two lists of rules decide differently.
struct PathComparison {
    /// The rules that decide about a path.
    enum Cause: Hashable {
        case byDefault, unlisted
        case allowedBy(Int32)
        case deniedBy(Int32)

        var allows: Bool {
            switch self {
            case .byDefault, .allowedBy: true
            case .unlisted, .deniedBy: false
            }
        }
    }

    struct Causes: Hashable {
        let before: Cause
        let after: Cause
    }

    struct Difference {
        let kind: PolicyChange.Kind
        /// The path in the form in which a client would send it.
        let sent: String
        let causes: Causes
    }

    /// The first rule that allows every path and the first rule that denies every path, in one policy.
    private struct Base {
        var allow: Int32?
        var deny: Int32?
        let isDefault: Bool

        mutating func note(_ effect: RuleEffect, _ rule: Int32) {
            switch effect {
            case .allow: allow = min(allow ?? rule, rule)
            case .deny: deny = min(deny ?? rule, rule)
            case .none: break
            }
        }

        var cause: Cause {
            if let deny { return .deniedBy(deny) }
            if isDefault { return .byDefault }
            return allow.map(Cause.allowedBy) ?? .unlisted
        }
    }

    private var bases: [Base]
    private var automaton = PathAutomaton()
    private let lists: RuleLists
    /// The sets of paths in which the lists can differ. Paths with several readings are considered only if some pattern has a literal
    /// part that occurs in no other paths.
    private(set) var universes = [PathUniverse.oneReading]

    init(_ lists: RuleLists, oldDefault: EgressDefault, newDefault: EgressDefault) {
        self.lists = lists
        bases = [Base(isDefault: oldDefault == .allow), Base(isDefault: newDefault == .allow)]
        for side in Side.allCases {
            for rule in lists[side] {
                if rule.paths.isEmpty { bases[side.rawValue].note(rule.effect, rule.number) }
                for path in rule.paths {
                    if path.isOfSeveralReadings { universes = [.oneReading, .readings] }
                    automaton.insert(
                        path.tokens, ending: PathAutomaton.PatternEnd(side: side, effect: rule.effect, rule: rule.number))
                }
            }
        }
    }

    /// Whether the policy of this side allows any path.
    func mayAllow(_ side: Side) -> Bool {
        bases[side.rawValue].isDefault || lists[side].contains { $0.effect == .allow }
    }

    /// A comparison of only the rules that deny; `nil` if it is not needed. Such a rule applies if any reading of the path matches, for
    /// example the path before its escapes are decoded. Rules that allow are not compared with that reading.
    var denialsAlone: PathComparison? {
        let denials = lists.filtered { $0.effect == .deny && !$0.paths.isEmpty }
        if Set(denials.old.map(\.meaning)) == Set(denials.new.map(\.meaning)) { return nil }
        if lists.old.contains(where: { $0.effect == .deny && $0.paths.isEmpty }) { return nil }
        if lists.new.contains(where: { $0.effect == .deny && $0.paths.isEmpty }) { return nil }
        return PathComparison(denials, oldDefault: .allow, newDefault: .allow)
    }

    /// - Returns: one path for each pair of rules that decide differently.
    func search(in universe: PathUniverse, budget: inout StepBudget) -> (differences: [Difference], isComplete: Bool) {
        var found: [Difference] = []
        var seen: Set<Causes> = []
        let isComplete = automaton.search(in: universe, budget: &budget) { ends, path in
            var (old, new) = (bases[0], bases[1])
            for end in ends {
                if end.side == .old { old.note(end.effect, end.rule) } else { new.note(end.effect, end.rule) }
            }
            let causes = Causes(before: old.cause, after: new.cause)
            guard causes.before.allows != causes.after.allows, seen.insert(causes).inserted else { return }
            found.append(
                Difference(
                    kind: causes.after.allows ? .opens : .closes, sent: Self.sent(path()), causes: causes))
        }
        return (found, isComplete)
    }

    /// The path with escapes for bytes that a request cannot contain, or that servers read in several ways.
    private static func sent(_ path: [UInt8]) -> String {
        if path.allSatisfy(PathUniverse.hasOneReading), let text = String(validating: path, as: UTF8.self) { return text }
        var sent: [UInt8] = []
        for byte in path {
            if PathUniverse.hasOneReading(byte), byte < 0x80 {
                sent.append(byte)
            } else {
                sent += [UInt8(ascii: "%"), Hexadecimal.digit(byte >> 4), Hexadecimal.digit(byte & 15)]
            }
        }
        return String(decoding: sent, as: UTF8.self)
    }
}
