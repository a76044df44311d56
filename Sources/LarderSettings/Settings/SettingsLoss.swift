import ProxyPolicy
import TextCoding

/// Finds the settings that an emptied or truncated file would remove. An editor that writes a file in place leaves the file empty for a
/// moment. A reload in that moment would make Larder serve without rules.
package enum SettingsLoss {
    /// Whether the file sets nothing.
    static func isEmpty(_ root: SettingsNode) -> Bool {
        switch root.value {
        case .scalar(let scalar): scalar.isNull
        case .mapping(let entries): entries.isEmpty
        case .sequence: false
        }
    }

    /// Reports a file that is empty, or the keys in a file that have no value.
    static func remarks(on root: SettingsNode, in file: String) -> [String] {
        if isEmpty(root) { return ["\(file) is empty: it sets nothing"] }
        var remarks: [String] = []
        addKeys(of: root, below: "", in: file, to: &remarks)
        return remarks
    }

    private static func addKeys(of node: SettingsNode, below group: String, in file: String, to remarks: inout [String]) {
        guard case .mapping(let entries) = node.value else { return }
        for entry in entries {
            let name = group.isEmpty ? entry.key : "\(group).\(entry.key)"
            let isGroup = SettingsSchema.groups.contains(name)
            guard isGroup || SettingsSchema.byName[name] != nil else { continue }
            if isEmpty(entry.value), case .scalar = entry.value.value {
                let position = LocatedProblem.position(of: entry.keyPlace, in: file)
                remarks.append("\(position): \(name) has no value: it sets nothing")
            } else if isGroup {
                addKeys(of: entry.value, below: name, in: file, to: &remarks)
            }
        }
    }

    /// The reasons why a reload does not activate the new settings: a file is empty or missing, or all rules, all rules outside
    /// the included files, all passwords or all pins are lost.
    /// - Parameters:
    ///   - former: the active settings. `formerFile` is the file from which they were read. `formerEmpty` lists the files that set
    ///     nothing.
    ///   - next: the result of the reload. `settings` are the settings in it.
    package static func reasons(
        from former: LarderSettings, file formerFile: String?, empty formerEmpty: [String], to settings: LarderSettings,
        _ next: SettingsSources.Loaded
    ) -> [String] {
        var losses = next.emptyFiles.filter { !formerEmpty.contains($0) }.map { "\($0) is empty" }
        if let formerFile, next.file == nil { losses.append("\(formerFile) no longer exists") }
        func add(_ noun: String, _ before: Int, _ after: Int) {
            if before > 0, after == 0 { losses.append("no \(noun) is left (before: \(before))") }
        }
        add("rule", former.rules.compiled.rules.count, settings.rules.compiled.rules.count)
        if !settings.rules.compiled.rules.isEmpty {
            add("rule of the settings file itself", ownRuleCount(of: former), ownRuleCount(of: settings))
        }
        add("password", former.clients.loadedPasswords?.count ?? 0, settings.clients.loadedPasswords?.count ?? 0)
        add("host with pins", former.tls.loaded?.pinned.count ?? 0, settings.tls.loaded?.pinned.count ?? 0)
        return losses.map { "\(printable($0, limit: 4096)); to accept this, run `larder reload --allow-empty`" }
    }

    /// The number of rules that no included file contains.
    private static func ownRuleCount(of settings: LarderSettings) -> Int {
        guard case .sequence(let rules)? = settings.rules.node?.value else { return 0 }
        return rules.count { $0.place.file == 0 }
    }
}
