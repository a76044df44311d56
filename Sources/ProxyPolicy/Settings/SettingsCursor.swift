import HTTPMessage

/// Reads a settings value (a `SettingsNode`), and knows the path of the value.
///
/// If the value is not of the requested kind, each reader returns `nil` and adds a problem. So one pass over a file finds all its
/// errors.
package struct SettingsCursor: Sendable {
    package let node: SettingsNode
    private let location: SettingsPath

    package init(_ node: SettingsNode, path: String = "") { self.init(node, .root(path)) }

    private init(_ node: SettingsNode, _ location: SettingsPath) {
        self.node = node
        self.location = location
    }

    /// The path of the value, for example `rules[2].match.host`.
    package var path: String { location.text }

    package func report(_ message: String, suggestion: String? = nil, to problems: inout SettingsProblems) {
        problems.add(message, path: path, at: node.place, suggestion: suggestion)
    }

    package var isNull: Bool {
        if case .scalar(let scalar) = node.value { scalar.isNull } else { false }
    }

    // MARK: Structure

    /// The entries of a mapping with a fixed set of keys: unknown and duplicate keys are problems.
    /// - Parameter suggestion: proposes a correction for an unknown key; `nil` proposes the nearest of `keys`.
    package func mapping(
        of keys: [String], suggestion: ((String) -> String?)? = nil, problems: inout SettingsProblems
    ) -> SettingsMapping? {
        guard case .mapping(let entries) = node.value else {
            report("expected a mapping, found \(node.kindName)", to: &problems)
            return nil
        }
        var seen = SeenKeys(count: entries.count)
        for (number, entry) in entries.enumerated() {
            if !seen.insert(entry.key, after: entries[..<number].lazy.map { $0.key }) {
                reportRepeated(entry, to: &problems)
            } else if !keys.contains(entry.key) {
                problems.add(
                    "unknown key `\(SettingsText.quoted(entry.key))`", path: path, at: entry.keyPlace,
                    suggestion: suggestion.map { $0(entry.key) } ?? NearestName.of(entry.key, among: keys))
            }
        }
        return SettingsMapping(whole: self, entries: entries)
    }

    private func reportRepeated(_ entry: SettingsNode.Entry, to problems: inout SettingsProblems) {
        problems.add("this key is set twice", path: value(of: entry).path, at: entry.keyPlace)
    }

    /// The value of an entry of this mapping.
    fileprivate func value(of entry: SettingsNode.Entry) -> SettingsCursor {
        SettingsCursor(entry.value, .key(entry.key, of: location))
    }

    /// The entries of a mapping that may have any keys. A duplicate key is a problem, and its second entry is dropped.
    package func entries(problems: inout SettingsProblems) -> [(key: String, place: SettingsPlace, value: SettingsCursor)]? {
        guard case .mapping(let entries) = node.value else {
            report("expected a mapping, found \(node.kindName)", to: &problems)
            return nil
        }
        var result: [(key: String, place: SettingsPlace, value: SettingsCursor)] = []
        result.reserveCapacity(entries.count)
        var seen = SeenKeys(count: entries.count)
        for entry in entries {
            if seen.insert(entry.key, after: result.lazy.map { $0.key }) {
                result.append((entry.key, entry.keyPlace, value(of: entry)))
            } else {
                reportRepeated(entry, to: &problems)
            }
        }
        return result
    }

    /// The elements of a list.
    package func list(problems: inout SettingsProblems) -> [SettingsCursor]? {
        guard case .sequence(let nodes) = node.value else {
            report("expected a list, found \(node.kindName)", to: &problems)
            return nil
        }
        return nodes.enumerated().map { SettingsCursor($1, .element($0, of: location)) }
    }

    /// The elements of a list, or a single value as a list of one. An empty list is a problem, because a user could mean
    /// everything or nothing by it.
    package func oneOrMore(problems: inout SettingsProblems) -> [SettingsCursor] {
        switch node.value {
        case .scalar: return [self]
        case .mapping:
            report("expected a value or a list, found a mapping", to: &problems)
            return []
        case .sequence(let nodes):
            if nodes.isEmpty { report("the list is empty; remove the key instead", to: &problems) }
            return nodes.enumerated().map { SettingsCursor($1, .element($0, of: location)) }
        }
    }

    // MARK: Scalars

    /// Any scalar except null, as written.
    package func text(problems: inout SettingsProblems) -> String? { scalar("a value", problems: &problems)?.text }

    package func boolean(problems: inout SettingsProblems) -> Bool? {
        guard let scalar = scalar("true or false", problems: &problems) else { return nil }
        switch scalar.isQuoted ? "" : scalar.text {
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        default:
            let meant = ["yes": "true", "on": "true", "no": "false", "off": "false"][scalar.text.lowercased()]
            let suggestion = meant ?? NearestName.of(scalar.text, among: ["true", "false"])
            report("expected true or false, found `\(SettingsText.quoted(scalar.text))`", suggestion: suggestion, to: &problems)
            return nil
        }
    }

    package func integer(in range: ClosedRange<Int64>, problems: inout SettingsProblems) -> Int64? {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let scalar = scalar(expected, problems: &problems) else { return nil }
        let isNumber = !scalar.isQuoted && scalar.text.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: "-") }
        guard isNumber, let number = Int64(scalar.text), range.contains(number) else {
            report("expected \(expected), found \(SettingsText.shown(scalar))", to: &problems)
            return nil
        }
        return number
    }

    /// Reads one of the words that a setting allows.
    package func word<Meaning>(
        among words: KeyValuePairs<String, Meaning>, problems: inout SettingsProblems
    ) -> Meaning? {
        let names = words.map(\.key)
        let expected = (names.count > 1 ? "one of " : "") + names.joined(separator: ", ")
        guard let scalar = scalar(expected, problems: &problems) else { return nil }
        if let found = words.first(where: { $0.key == scalar.text }) { return found.value }
        report(
            "expected \(expected), found \(SettingsText.shown(scalar))",
            suggestion: NearestName.of(scalar.text, among: names), to: &problems)
        return nil
    }

    /// A duration: `60` and `60s` are seconds; `ms`, `m`, `h` and `d` are also units; decimals such as `1.5h` are allowed.
    package func milliseconds(in range: ClosedRange<Int64>, problems: inout SettingsProblems) -> Int64? {
        let expected = "a time such as 60, 60s, 5m or 1h"
        guard let scalar = scalar(expected, problems: &problems) else { return nil }
        guard let amount = SettingsQuantity.milliseconds(scalar.text) else {
            report("expected \(expected), found \(SettingsText.shown(scalar))", to: &problems)
            return nil
        }
        guard let number = Int64(exactly: amount), range.contains(number) else {
            let limits =
                "\(SettingsQuantity.text(ofMilliseconds: range.lowerBound)) to "
                + SettingsQuantity.text(ofMilliseconds: range.upperBound)
            report("expected \(limits), found \(SettingsText.shown(scalar))", to: &problems)
            return nil
        }
        return number
    }

    /// A number of bytes: `4096`, `16KiB`, `1.5GiB`, `2MB`.
    package func byteCount(in range: ClosedRange<UInt64>, problems: inout SettingsProblems) -> UInt64? {
        let expected = "a number of bytes such as 4096, 16MiB or 1.5GiB"
        guard let scalar = scalar(expected, problems: &problems) else { return nil }
        guard let amount = SettingsQuantity.byteCount(scalar.text) else {
            report("expected \(expected), found \(SettingsText.shown(scalar))", to: &problems)
            return nil
        }
        guard range.contains(amount) else {
            let limits =
                "\(SettingsQuantity.text(ofBytes: range.lowerBound)) to \(SettingsQuantity.text(ofBytes: range.upperBound))"
            report("expected \(limits), found \(SettingsText.shown(scalar))", to: &problems)
            return nil
        }
        return amount
    }

    private func scalar(_ expected: String, problems: inout SettingsProblems) -> SettingsScalar? {
        guard case .scalar(let scalar) = node.value, !scalar.isNull else {
            report("expected \(expected), found \(node.kindName)", to: &problems)
            return nil
        }
        return scalar
    }
}

/// A mapping with a fixed set of keys, after unknown keys were reported.
package struct SettingsMapping: Sendable {
    package let whole: SettingsCursor
    /// All entries, also unknown and repeated ones. Of two entries with the same key, the first one counts. A mapping has few keys, so a
    /// look-up compares them one by one. A cursor is made only for a value that is read, because a file has many values.
    private let entries: [SettingsNode.Entry]

    fileprivate init(whole: SettingsCursor, entries: [SettingsNode.Entry]) {
        self.whole = whole
        self.entries = entries
    }

    /// Whether the mapping is empty, without even an unknown key.
    package var isEmpty: Bool { entries.isEmpty }

    package subscript(key: String) -> SettingsCursor? {
        for entry in entries where entry.key == key { return whole.value(of: entry) }
        return nil
    }

    package func contains(_ key: String) -> Bool {
        for entry in entries where entry.key == key { return true }
        return false
    }

    /// The value of a required key.
    package func required(_ key: String, problems: inout SettingsProblems) -> SettingsCursor? {
        if let value = self[key] { return value }
        whole.report("the key `\(key)` is missing", to: &problems)
        return nil
    }
}
