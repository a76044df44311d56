import HTTPMessage
import ProxyPolicy

/// Names of a query's parameters, one for each way in which rules may distinguish names.
///
/// A server may read another spelling as the name in a rule: `Service`, `service[]`, or `run.as` for `run_as` (`QueryCondition`). Such a
/// spelling matters to rules that deny, and prevents a match of rules that allow. If a name in a rule is the beginning of a longer
/// name (`a` and `a_b`), a spelling such as `a[b` may stand for both.
struct QueryNames {
    struct Name {
        let bytes: [UInt8]
        /// The conditions, by index, whose name some server may read in this spelling.
        let possible: [Int]
        /// The conditions whose name has exactly this spelling.
        let exact: [Int]
    }

    /// The maximum number of names in rules that are beginnings of the same longer name.
    private static let beginningLimit = 4

    /// - Returns: `nil` if too many names are beginnings of each other.
    static func all(of conditions: [QueryCondition]) -> [Name]? {
        let spelled = Set(conditions.map(\.name))
        var names: [Name] = []
        var known: Set<[[Int]]> = []
        for bytes in spelled.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let name = name(bytes, of: conditions)
            if known.insert([name.possible, name.exact]).inserted { names.append(name) }
        }
        for bytes in Set(conditions.map(\.folded)).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            guard let spellings = spellings(of: bytes, beside: conditions) else { return nil }
            for spelling in spellings where !spelled.contains(spelling) {
                let name = name(spelling, of: conditions)
                if known.insert([name.possible, name.exact]).inserted { names.append(name) }
            }
        }
        return names
    }

    private static func name(_ bytes: [UInt8], of conditions: [QueryCondition]) -> Name {
        let possible = conditions.indices.filter { conditions[$0].mayBeNamed(by: bytes.span) }
        return Name(bytes: bytes, possible: possible, exact: possible.filter { conditions[$0].name == bytes })
    }

    /// Other spellings of a folded name. At each place where a shorter name in a rule may end, a spelling has `[`, which ends that name,
    /// or `.`, which does not.
    private static func spellings(of folded: [UInt8], beside conditions: [QueryCondition]) -> [[UInt8]]? {
        let places = Set(conditions.map(\.folded.count)).filter { count in
            count < folded.count && conditions.contains { $0.folded.count == count && begins(folded, with: $0.folded) }
        }.sorted()
        guard places.count <= beginningLimit else { return nil }
        var spellings: [[UInt8]] = []
        for choice in 0..<(1 << places.count) {
            var plain = folded
            for (index, place) in places.enumerated() {
                plain[place] = choice >> index & 1 == 1 ? UInt8(ascii: "[") : UInt8(ascii: ".")
            }
            let upper = plain.map { ASCII.isAlpha($0) ? $0 & ~0x20 : $0 }
            for base in [upper, plain] { for end in ["", "[]", "[x]", "[y]"] { spellings.append(base + Array(end.utf8)) } }
        }
        return spellings
    }

    private static func begins(_ long: [UInt8], with short: [UInt8]) -> Bool {
        long.starts(with: short) && long[short.count] == UInt8(ascii: "_")
    }

    /// The conditions in groups, by index: no spelling of a name may stand for conditions of two groups.
    static func groups(of conditions: [QueryCondition]) -> [[Int]] {
        let folded = conditions.map(\.folded)
        var groups: [[Int]] = []
        for index in conditions.indices {
            let isNear = { (other: Int) in
                folded[index] == folded[other]
                    || folded[index].count > folded[other].count && begins(folded[index], with: folded[other])
                    || folded[other].count > folded[index].count && begins(folded[other], with: folded[index])
            }
            let near = groups.filter { $0.contains(where: isNear) }
            groups.removeAll { $0.contains(where: isNear) }
            groups.append(near.flatMap { $0 } + [index])
        }
        return groups
    }
}
