import HTTPMessage
import ProxyPolicy

/// Divides all queries into classes: the rules treat all queries of a class alike.
///
/// Each parameter of a query has effects on the conditions of the rules. It may match a condition of a rule that denies. It may
/// be the parameter that a rule with `allow` requires, or it may prevent the match of such a rule (`QueryParameters`). The
/// effects of several parameters add up. So the classes are found in three steps: the effects of single parameters, their sums
/// within a group of names that servers may confuse, and the combinations of groups. Values with several readings add no class,
/// because several parameters have the same effects as the readings of one.
enum QueryClasses {
    struct Class {
        /// The numbers of the rules' queries (`ComparedRule.query`) that match; always contains 0, the number of rules without a query.
        let matching: Set<Int32>
        /// A query of the class as in a URL: empty, or with its question mark.
        let query: String
    }

    /// The maximum number of classes, of effects in one group of names, and of different rules with a query.
    private static let classLimit = 2048, effectLimit = 4096, ruleLimit = 64

    /// One condition of a rule that decides.
    private struct Part: Equatable {
        let condition: QueryCondition
        let isDenial: Bool
    }

    /// What parameters do to the conditions of a group. Each bit stands for a condition.
    private struct Effects: Hashable {
        /// The conditions of rules that deny, of which some parameter matches.
        var denied: UInt64 = 0
        /// The conditions of rules that allow, whose parameter is there.
        var named: UInt64 = 0
        /// The conditions of rules with `allow` that some parameter does not match.
        var prevented: UInt64 = 0

        var matching: UInt64 { denied | named & ~prevented }

        func union(_ other: Effects) -> Effects {
            Effects(denied: denied | other.denied, named: named | other.named, prevented: prevented | other.prevented)
        }
    }

    /// - Returns: `nil` if the queries are too complex, or if the conditions contain `%` or `+`, so that different readings of one value may
    ///   match them.
    static func all(of rules: [ComparedRule], budget: inout StepBudget) -> [Class]? {
        var members: [(number: Int32, parts: [Int])] = []
        var parts: [Part] = []
        for rule in rules where rule.query != 0 && !members.contains(where: { $0.number == rule.query }) {
            var indexes: [Int] = []
            for condition in rule.condition.queries {
                let part = Part(condition: condition, isDenial: rule.effect == .deny)
                if parts.firstIndex(of: part) == nil { parts.append(part) }
                indexes += parts.firstIndex(of: part).map { [$0] } ?? []
            }
            members.append((rule.query, indexes))
        }
        guard members.count <= ruleLimit, !parts.contains(where: { hasSeveralReadings($0.condition) }) else { return nil }
        let everyMember: UInt64 = members.count == 64 ? .max : 1 << UInt64(members.count) - 1
        var found: [(members: UInt64, parameters: [[UInt8]])] = [(everyMember, [])]
        for group in QueryNames.groups(of: parts.map(\.condition)) {
            guard let sums = sums(group.map { parts[$0] }, budget: &budget) else { return nil }
            var next: [(members: UInt64, parameters: [[UInt8]])] = []
            var known: Set<UInt64> = []
            for sum in sums {
                let matching = Set(group.indices.filter { sum.matching >> UInt64($0) & 1 == 1 }.map { group[$0] })
                var kept: UInt64 = 0
                for (index, member) in members.enumerated()
                where member.parts.allSatisfy({ !group.contains($0) || matching.contains($0) }) {
                    kept |= 1 << UInt64(index)
                }
                guard budget.spend(found.count + members.count) else { return nil }
                for earlier in found where known.insert(earlier.members & kept).inserted {
                    next.append((earlier.members & kept, earlier.parameters + sum.parameters))
                }
            }
            guard next.count <= classLimit else { return nil }
            found = next
        }
        found.sort { $0.parameters.count < $1.parameters.count }
        return found.map { found in
            let matching = members.indices.filter { found.members >> UInt64($0) & 1 == 1 }.map { members[$0].number }
            return Class(matching: Set(matching).union([0]), query: text(of: found.parameters))
        }
    }

    // MARK: The effects of parameters

    /// The possible effects of all parameters whose names belong to one group, each with such parameters.
    private static func sums(
        _ parts: [Part], budget: inout StepBudget
    ) -> [(matching: UInt64, parameters: [[UInt8]])]? {
        guard parts.count <= 64, let single = single(parts, budget: &budget) else { return nil }
        var sums: [(effects: Effects, parameters: [[UInt8]])] = [(Effects(), [])]
        var known: Set<Effects> = [Effects()]
        var current = 0
        while current < sums.count {
            let sum = sums[current]
            guard budget.spend(single.count) else { return nil }
            for one in single {
                let effects = sum.effects.union(one.effects)
                if known.insert(effects).inserted { sums.append((effects, sum.parameters + [one.parameter])) }
            }
            guard sums.count <= effectLimit else { return nil }
            current += 1
        }
        var matching: Set<UInt64> = []
        return sums.filter { matching.insert($0.effects.matching).inserted }.map { ($0.effects.matching, $0.parameters) }
    }

    /// The different effects of a single parameter.
    private static func single(
        _ parts: [Part], budget: inout StepBudget
    ) -> [(effects: Effects, parameter: [UInt8])]? {
        guard let names = QueryNames.all(of: parts.map(\.condition)) else { return nil }
        var single: [(effects: Effects, parameter: [UInt8])] = []
        var known: Set<Effects> = []
        for name in names {
            // The patterns of all conditions that the name may stand for, with the condition of each.
            let patterns = name.possible.flatMap { part in parts[part].condition.values.map { (part: part, pattern: $0) } }
            guard let values = QueryValueClasses(of: patterns.map(\.pattern), budget: &budget) else { return nil }
            for value in values.classes {
                var effects = Effects()
                for part in name.exact where !parts[part].isDenial { effects.named |= 1 << UInt64(part) }
                for part in name.possible {
                    let own = patterns.indices.filter { patterns[$0].part == part }
                    if parts[part].isDenial {
                        if own.contains(where: { value.matchesFolded[$0] }) { effects.denied |= 1 << UInt64(part) }
                    } else if !own.contains(where: { value.matches[$0] }) {
                        effects.prevented |= 1 << UInt64(part)
                    }
                }
                let encoded = self.encoded(value.value)
                if encoded != value.value {
                    // A server that decodes nothing reads the escapes. If a pattern matches them, this value stands for another class.
                    for index in patterns.indices where parts[patterns[index].part].isDenial && !value.matchesFolded[index] {
                        if matchesFolded(patterns[index].pattern, encoded) { return nil }
                    }
                }
                if effects != Effects(), known.insert(effects).inserted {
                    single.append((effects, self.encoded(name.bytes) + [ASCII.equals] + encoded))
                }
            }
        }
        return single
    }

    private static func matchesFolded(_ pattern: ValuePattern, _ value: [UInt8]) -> Bool {
        let (folded, text) = (pattern.bytes.map(ASCII.lowercased), value.map(ASCII.lowercased))
        return Glob.matches(folded.span, text.span)
    }

    private static func hasSeveralReadings(_ condition: QueryCondition) -> Bool {
        ([condition.name] + condition.values.map(\.bytes)).contains {
            $0.contains(UInt8(ascii: "%")) || $0.contains(UInt8(ascii: "+"))
        }
    }

    // MARK: Text

    private static func text(of parameters: [[UInt8]]) -> String {
        if parameters.isEmpty { return "" }
        return "?" + parameters.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "&")
    }

    private static let plainBytes = Set("-._~:/@!$'()*,".utf8)

    /// Encodes the bytes that are not plain in the query of a URL.
    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte in
            ASCII.isAlpha(byte) || ASCII.isDigit(byte) || plainBytes.contains(byte)
                ? [byte]
                : [
                    UInt8(ascii: "%"), Hexadecimal.digit(byte >> 4, isUppercase: true),
                    Hexadecimal.digit(byte & 15, isUppercase: true),
                ]
        }
    }
}
