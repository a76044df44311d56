import ProxyPolicy

extension SettingsNode {
    /// The value of a key of a mapping; `nil` if the value is no mapping, or has no such key.
    func member(_ key: String) -> SettingsNode? {
        guard case .mapping(let entries) = value else { return nil }
        return entries.first { $0.key == key }?.value
    }
}

/// Checks a file of rules before it is written.
package enum RuleFileCheck {
    /// The number of the file's own rules; `nil` if the file is not valid, or has no list `rules`.
    package static func ruleCount(of text: String) -> Int? {
        do throws(SettingsProblems) {
            guard let rules = try YAMLReader.read(text).member("rules"), case .sequence(let items) = rules.value else {
                return nil
            }
            _ = try PolicyRuleSet(parsing: rules)
            return items.count
        } catch {
            return nil
        }
    }
}
