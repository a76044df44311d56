import ProxyPolicy
import TextCoding

/// The `variables` of a settings file. `$(name)` in the `match` of a rule is replaced by a value, or by a list of values.
struct RuleVariables {
    /// The maximum number of values in all `match` mappings after the variables are replaced, and the maximum length of one value in
    /// bytes.
    static let valueLimit = 200_000, lengthLimit = 8192

    private var values: [String: SettingsNode] = [:]
    private var valuesLeft = RuleVariables.valueLimit

    mutating func read(_ cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let entries = cursor.entries(problems: &problems) else { return }
        for entry in entries {
            let isName = !entry.key.isEmpty && entry.key.utf8.allSatisfy(Self.isNameCharacter)
            if !isName {
                problems.add(
                    "a variable's name may contain only letters, digits, `_` and `-`", path: entry.value.path, at: entry.place)
            }
            let texts = entry.value.oneOrMore(problems: &problems).map { ($0, $0.text(problems: &problems) ?? "") }
            for (item, text) in texts where text.contains("$(") {
                item.report("a variable cannot contain `$(name)`", to: &problems)
            }
            if values.updateValue(entry.value.node, forKey: entry.key) != nil {
                problems.add("the variable `\(printable(entry.key))` is set twice", path: entry.value.path, at: entry.place)
            }
        }
    }

    /// Replaces the variables in the `match` of each rule.
    mutating func expand(rules: SettingsNode, problems: inout SettingsProblems) -> SettingsNode {
        guard case .sequence(let nodes) = rules.value else { return rules }
        let expanded = nodes.enumerated().map { number, rule -> SettingsNode in
            guard case .mapping(let entries) = rule.value, entries.contains(where: { $0.key == "match" && Self.uses($0.value) })
            else {
                return rule
            }
            let changed = entries.map { entry in
                guard entry.key == "match" else { return entry }
                let cursor = SettingsCursor(entry.value, path: "rules[\(number)].match")
                return SettingsNode.Entry(key: entry.key, at: entry.keyPlace, value: expand(cursor, problems: &problems))
            }
            return SettingsNode(.mapping(changed), at: rule.place)
        }
        return SettingsNode(.sequence(expanded), at: rules.place)
    }

    private static func uses(_ node: SettingsNode) -> Bool {
        switch node.value {
        case .scalar(let scalar): scalar.text.contains("$(")
        case .sequence(let nodes): nodes.contains(where: uses)
        case .mapping(let entries): entries.contains { uses($0.value) }
        }
    }

    private mutating func expand(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> SettingsNode {
        let place = cursor.node.place
        switch cursor.node.value {
        case .scalar(let scalar):
            let values = expand(scalar, cursor, problems: &problems)
            return values.count == 1 ? values[0] : SettingsNode(.sequence(values), at: place)
        case .sequence(let nodes):
            let values = nodes.enumerated().flatMap { number, node -> [SettingsNode] in
                let item = SettingsCursor(node, path: "\(cursor.path)[\(number)]")
                guard case .scalar(let scalar) = node.value else { return [expand(item, problems: &problems)] }
                return expand(scalar, item, problems: &problems)
            }
            return SettingsNode(.sequence(values), at: place)
        case .mapping(let entries):
            let changed = entries.map { entry in
                let value = expand(
                    SettingsCursor(entry.value, path: "\(cursor.path).\(printable(entry.key))"), problems: &problems)
                return SettingsNode.Entry(key: entry.key, at: entry.keyPlace, value: value)
            }
            return SettingsNode(.mapping(changed), at: place)
        }
    }

    /// The values that a text gives when its variables are replaced. For messages, each value keeps the place of the text.
    private mutating func expand(
        _ scalar: SettingsScalar, _ cursor: SettingsCursor, problems: inout SettingsProblems
    ) -> [SettingsNode] {
        guard scalar.text.contains("$(") else { return [cursor.node] }
        var text = ""
        var rest = scalar.text[...]
        while let start = rest.firstRange(of: "$(") {
            let isEscaped = rest[..<start.lowerBound].hasSuffix("$")
            text += rest[..<start.lowerBound].dropLast(isEscaped ? 1 : 0)
            rest = rest[start.upperBound...]
            if isEscaped {
                text += "$("
                continue
            }
            guard let end = rest.firstIndex(of: ")") else {
                cursor.report("`$(` is not closed by `)`; write `$$(` for the literal characters `$(`", to: &problems)
                return [cursor.node]
            }
            guard let value = value(named: String(rest[..<end]), cursor, problems: &problems) else { return [cursor.node] }
            rest = rest[rest.index(after: end)...]
            if text.isEmpty, rest.isEmpty { return placed(value, cursor, problems: &problems) }
            guard case .scalar(let part) = value.value, text.utf8.count + part.text.utf8.count <= Self.lengthLimit else {
                cursor.report(
                    "a variable inside a longer text must be a single value, and the text may have at most \(Self.lengthLimit) bytes",
                    to: &problems)
                return [cursor.node]
            }
            text += part.text
        }
        return [SettingsNode(.scalar(SettingsScalar(text + rest, isQuoted: scalar.isQuoted)), at: cursor.node.place)]
    }

    private func value(named name: String, _ cursor: SettingsCursor, problems: inout SettingsProblems) -> SettingsNode? {
        if let value = values[name] { return value }
        cursor.report(
            "unknown variable `\(printable(name))`", suggestion: NearestName.of(name, among: values.keys.sorted()), to: &problems)
        return nil
    }

    private mutating func placed(
        _ value: SettingsNode, _ cursor: SettingsCursor, problems: inout SettingsProblems
    ) -> [SettingsNode] {
        let nodes: [SettingsNode]
        if case .sequence(let items) = value.value { nodes = items } else { nodes = [value] }
        valuesLeft -= nodes.count
        guard valuesLeft >= 0 else {
            cursor.report("the variables expand to more than \(Self.valueLimit) values in total", to: &problems)
            return [cursor.node]
        }
        return nodes.map { SettingsNode($0.value, at: cursor.node.place) }
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}
