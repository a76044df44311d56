import ProxyPolicy
import TextCoding
import Yams

/// Reads YAML into `SettingsNode`s. The library Yams parses; this type limits the cost and keeps lines and columns.
package enum YAMLReader {
    /// The maximum length of a settings file, in bytes.
    package static let lengthLimit = 1 << 20
    /// The maximum number of values in a file, after its aliases are expanded.
    static let nodeLimit = 200_000
    static let depthLimit = 64
    /// The maximum number of aliases. Nested aliases multiply the number of values; with this limit, the factor is less than 400.
    static let aliasLimit = 16

    /// - Parameter file: the file's number, as in `SettingsPlace`.
    /// - Returns: an empty mapping for an empty document.
    package static func read(_ text: String, file: Int = 0) throws(SettingsProblems) -> SettingsNode {
        guard text.utf8.count <= lengthLimit else {
            throw single("the file is longer than \(SettingsQuantity.text(ofBytes: UInt64(lengthLimit)))", .none)
        }
        if let excess = firstAlias(in: text, after: aliasLimit) {
            throw single("more than \(aliasLimit) aliases (`*name`); put quotes around a value that is not an alias", excess)
        }
        let root: Node?
        do {
            // The encoding is given, because otherwise Yams searches the whole environment for one at each call.
            root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch {
            throw problems(of: error, in: text)
        }
        guard let root else { return SettingsNode(.mapping([]), at: SettingsPlace(line: 1, column: 1)) }
        var budget = nodeLimit
        return try node(root, file: file, depth: 0, budget: &budget)
    }

    private static func node(
        _ node: Node, file: Int, depth: Int, budget: inout Int
    ) throws(SettingsProblems) -> SettingsNode {
        let place = place(of: node.mark, in: file)
        budget -= 1
        guard budget > 0 else { throw single("the file contains more than \(nodeLimit) values", place) }
        guard depth < depthLimit else { throw single("values are nested more than \(depthLimit) levels deep", place) }
        switch node {
        case .scalar(let scalar):
            return SettingsNode(.scalar(SettingsScalar(scalar.string, isQuoted: scalar.style.isQuoted)), at: place)
        case .sequence(let sequence):
            var nodes: [SettingsNode] = []
            for element in sequence { nodes.append(try Self.node(element, file: file, depth: depth + 1, budget: &budget)) }
            return SettingsNode(.sequence(nodes), at: place)
        case .mapping(let mapping):
            var entries: [SettingsNode.Entry] = []
            for (key, value) in mapping {
                guard case .scalar(let name) = key else {
                    throw single("a key must be a single value", Self.place(of: key.mark, in: file))
                }
                let value = try Self.node(value, file: file, depth: depth + 1, budget: &budget)
                entries.append(SettingsNode.Entry(key: name.string, at: Self.place(of: key.mark, in: file), value: value))
            }
            return SettingsNode(.mapping(entries), at: place)
        case .alias:
            throw single("no anchor (`&name`) defines this alias", place)
        }
    }

    /// The place of the first alias (`*name`) beyond the limit, if the text has an anchor (`&name`). Every `*` at the start of a
    /// word counts as an alias, even in a comment or in a text. The true number may therefore be lower.
    private static func firstAlias(in text: String, after limit: Int) -> SettingsPlace? {
        var previous: Unicode.Scalar = " "
        var hasAnchor = false
        var aliases = 0
        var excess: String.Index?
        for index in text.unicodeScalars.indices {
            let scalar = text.unicodeScalars[index]
            let startsToken = previous.value <= 0x20 || previous == "," || previous == "[" || previous == "{"
            if startsToken, scalar == "&" { hasAnchor = true }
            if startsToken, scalar == "*" { aliases += 1 }
            if aliases > limit, excess == nil { excess = index }
            previous = scalar
        }
        return hasAnchor ? excess.map { place(of: $0, in: text) } : nil
    }

    private static func place(of mark: Mark?, in file: Int = 0) -> SettingsPlace {
        mark.map { SettingsPlace(file: file, line: $0.line, column: $0.column) } ?? .none
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
            // Users often write `host: *.example` without quotes.
            let isAboutAlias = problem.contains("undefined alias") || problem.contains("alphabetic or numeric character")
            let hint = isAboutAlias ? " (put quotes around a value that starts with `*` or `&`)" : ""
            // If something is missing at the end of a text without a final line end, the parser gives a place one line after the
            // text.
            return single("not YAML: \(problem)\(hint)", min(place(of: mark), place(of: text.endIndex, in: text)))
        case .duplicatedKeysInMapping(let keys, let context):
            return single("`\(printable(keys.first ?? ""))` is set twice", place(of: context.mark))
        case .reader(let problem, _, let value, _):
            // The parser's offset is in grapheme clusters, so it is not used. The parser stops at the first character that is not
            // allowed, so this searches for that character.
            let index = text.unicodeScalars.firstIndex { Int($0.value) == Int(value) }
            return single("not YAML: \(problem)", index.map { place(of: $0, in: text) } ?? .none)
        default:
            return single("not YAML", .none)
        }
    }

    /// Counts lines as the parser does, by the rules of YAML 1.1.
    private static func place(of end: String.Index, in text: String) -> SettingsPlace {
        var line = 1
        var column = 1
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars[..<end] {
            let endsLine = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
            let isSecondHalf = scalar == "\n" && previous == "\r"
            if endsLine, !isSecondHalf { line += 1 }
            column = endsLine ? 1 : column + 1
            previous = scalar
        }
        return SettingsPlace(line: line, column: column)
    }
}

extension Node.Scalar.Style {
    /// Whether the scalar is quoted or a block. Then the value is text, even if it looks like a number.
    fileprivate var isQuoted: Bool {
        switch self {
        case .any, .plain: false
        case .singleQuoted, .doubleQuoted, .literal, .folded: true
        }
    }
}
