import ProxyPolicy
import Yams

/// Reads YAML into `SettingsNode`s. Yams parses; this bounds what it may cost and keeps lines and columns.
package enum YAMLReader {
    /// The longest settings file that is read.
    static let lengthLimit = 1 << 20
    /// The most values in a file, after its aliases are written out.
    static let nodeLimit = 200_000
    static let depthLimit = 64
    /// Aliases that stand inside anchored values multiply: with this many, by less than four hundred.
    static let aliasLimit = 16

    /// - Returns: an empty mapping for an empty document.
    package static func read(_ text: String) throws(SettingsProblems) -> SettingsNode {
        guard text.utf8.count <= lengthLimit else {
            throw single("longer than \(SettingsQuantity.text(ofBytes: UInt64(lengthLimit)))", .none)
        }
        guard countsOfReferences(in: text) <= aliasLimit else {
            throw single("more than \(aliasLimit) aliases (`*name`); quote what is not one", .none)
        }
        let root: Node?
        do {
            root = try Parser(yaml: text, resolver: .basic).singleRoot()
        } catch {
            throw problems(of: error, in: text)
        }
        guard let root else { return SettingsNode(.mapping([]), at: SettingsPlace(line: 1, column: 1)) }
        var budget = nodeLimit
        return try node(root, depth: 0, budget: &budget)
    }

    private static func node(_ node: Node, depth: Int, budget: inout Int) throws(SettingsProblems) -> SettingsNode {
        let place = place(of: node.mark)
        budget -= 1
        guard budget > 0 else { throw single("more than \(nodeLimit) values", place) }
        guard depth < depthLimit else { throw single("nested more than \(depthLimit) deep", place) }
        switch node {
        case .scalar(let scalar):
            return SettingsNode(.scalar(SettingsScalar(scalar.string, isQuoted: scalar.style.isQuoted)), at: place)
        case .sequence(let sequence):
            var nodes: [SettingsNode] = []
            for element in sequence { nodes.append(try Self.node(element, depth: depth + 1, budget: &budget)) }
            return SettingsNode(.sequence(nodes), at: place)
        case .mapping(let mapping):
            var entries: [SettingsNode.Entry] = []
            for (key, value) in mapping {
                guard case .scalar(let name) = key else { throw single("a key must be a single value", Self.place(of: key.mark)) }
                let value = try Self.node(value, depth: depth + 1, budget: &budget)
                entries.append(SettingsNode.Entry(key: name.string, at: Self.place(of: key.mark), value: value))
            }
            return SettingsNode(.mapping(entries), at: place)
        case .alias:
            throw single("this alias stands for nothing", place)
        }
    }

    /// How many `*name` stand where an alias could, if there is any `&name` to refer to. It counts those in comments and
    /// in text too: what is counted is a bound, not what is there.
    private static func countsOfReferences(in text: String) -> Int {
        var previous: UInt8 = 0x20
        var anchors = 0
        var aliases = 0
        for byte in text.utf8 {
            let startsToken = previous <= 0x20 || previous == 0x2C || previous == 0x5B || previous == 0x7B
            if startsToken, byte == 0x26 { anchors += 1 }
            if startsToken, byte == 0x2A { aliases += 1 }
            previous = byte
        }
        return anchors == 0 ? 0 : aliases
    }

    private static func place(of mark: Mark?) -> SettingsPlace {
        mark.map { SettingsPlace(line: $0.line, column: $0.column) } ?? .none
    }

    private static func single(_ message: String, _ place: SettingsPlace) -> SettingsProblems {
        var problems = SettingsProblems()
        problems.add(message, path: "", at: place)
        return problems
    }

    private static func problems(of error: any Error, in text: String) -> SettingsProblems {
        guard let error = error as? YamlError else { return single("not YAML: \(error)", .none) }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            // What people run into: `host: *.example` without quotes.
            let isAboutAlias = problem.contains("undefined alias") || problem.contains("alphabetic or numeric character")
            let hint = isAboutAlias ? " (a text that begins with `*` or `&` stands in quotes)" : ""
            return single("not YAML: \(problem)\(hint)", place(of: mark))
        case .duplicatedKeysInMapping(let keys, let context):
            return single("`\(printable(keys.first ?? ""))` stands twice", place(of: context.mark))
        case .reader(let problem, let offset, _, _):
            return single("not YAML: \(problem)", offset.map { place(atByte: $0, in: text) } ?? .none)
        default:
            return single("not YAML", .none)
        }
    }

    private static func place(atByte offset: Int, in text: String) -> SettingsPlace {
        let before = text.utf8.prefix(max(0, offset))
        let line = before.count { $0 == 0x0A } + 1
        let column = before.reversed().prefix { $0 != 0x0A }.count + 1
        return SettingsPlace(line: line, column: column)
    }
}

extension Node.Scalar.Style {
    /// Quoted or a block: text, whatever it looks like.
    fileprivate var isQuoted: Bool {
        switch self {
        case .any, .plain: false
        case .singleQuoted, .doubleQuoted, .literal, .folded: true
        }
    }
}
