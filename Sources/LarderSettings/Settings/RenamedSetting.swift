import ProxyPolicy
import TextCoding

/// A setting that was renamed. For one version, Larder still reads the old name, and warns.
struct RenamedSetting: Sendable {
    /// The dotted old name.
    let old: String
    let new: String
    /// The version that introduced the new name.
    let since: String

    static let all = [
        RenamedSetting(old: "tls.connect.verdicts_kept", new: "tls.connect.verdict_ttl", since: "0.2"),
        RenamedSetting(old: "egress.deny", new: "egress.addresses.deny", since: "0.2"),
    ]

    /// The new name of a setting that was renamed; any other name unchanged.
    static func current(_ name: String) -> String { all.first { $0.old == name }?.new ?? name }

    /// Replaces old names by new names, and appends a warning for each replacement.
    /// - Throws: a problem, if a layer has a setting under both names.
    static func apply(to layer: inout SettingsLayer, warnings: inout [String]) throws(SettingsProblems) {
        for setting in all {
            let (oldParts, newParts) = (setting.old.split(separator: "."), setting.new.split(separator: "."))
            guard let old = layer.root.entry(at: oldParts[...]) else { continue }
            if layer.root.entry(at: newParts[...]) != nil {
                var problems = SettingsProblems()
                problems.add(
                    "this is the old name of \(setting.new), which is also set; remove one of the two names",
                    path: setting.old, at: old.keyPlace
                )
                layer.root = layer.root.removing(oldParts[...])
                throw problems
            }
            let renamed = SettingsNode.Entry(key: String(newParts[newParts.count - 1]), at: old.keyPlace, value: old.value)
            layer.root = layer.root.removing(oldParts[...]).inserting(renamed, in: newParts.dropLast())
            warnings.append(
                "\(layer.position(of: old)): \(setting.old) was renamed to \(setting.new) in \(setting.since); the next version rejects the old name"
            )
        }
    }
}

extension SettingsLayer {
    /// The position of the entry's name, for a warning.
    func position(of entry: SettingsNode.Entry) -> String {
        LocatedProblem.position(of: entry.keyPlace, in: printable(name, limit: 4096))
    }
}

extension SettingsNode {
    /// The first entry whose key has this path.
    func entry(at path: ArraySlice<Substring>) -> Entry? {
        guard case .mapping(let entries) = value, let key = path.first,
            let entry = entries.first(where: { $0.key == key })
        else { return nil }
        return path.count == 1 ? entry : entry.value.entry(at: path.dropFirst())
    }

    /// A copy of the node without the entry at this path.
    func removing(_ path: ArraySlice<Substring>) -> SettingsNode {
        guard case .mapping(let entries) = value, let key = path.first else { return self }
        let left = entries.compactMap { entry -> Entry? in
            guard entry.key == key else { return entry }
            return path.count == 1
                ? nil : Entry(key: entry.key, at: entry.keyPlace, value: entry.value.removing(path.dropFirst()))
        }
        return SettingsNode(.mapping(left), at: place)
    }

    /// A copy of the node with the entry added to this group. A missing group is created. A group that is not a mapping stays
    /// unchanged; reading the settings reports it.
    func inserting(_ entry: Entry, in group: ArraySlice<Substring>) -> SettingsNode {
        var entries: [Entry]
        switch value {
        case .mapping(let given): entries = given
        case .scalar(let scalar) where scalar.isNull: entries = []
        case .scalar, .sequence: return self
        }
        guard let key = group.first else { return SettingsNode(.mapping(entries + [entry]), at: place) }
        let index = entries.firstIndex { $0.key == key }
        let inner = index.map { entries[$0].value } ?? SettingsNode(.mapping([]), at: entry.keyPlace)
        let changed = Entry(
            key: String(key), at: index.map { entries[$0].keyPlace } ?? entry.keyPlace,
            value: inner.inserting(entry, in: group.dropFirst()))
        if let index { entries[index] = changed } else { entries.append(changed) }
        return SettingsNode(.mapping(entries), at: place)
    }
}
