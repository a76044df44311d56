import HTTPMessage

/// Reads the keys `query` and `field` of `match`: mappings from a name to the patterns of its value.
extension RuleCondition {
    static func queries(_ cursor: SettingsCursor?, problems: inout SettingsProblems) -> [QueryCondition] {
        named(cursor, problems: &problems) { entry, values, problems in
            if let condition = QueryCondition(name: entry.key, values: values) { return condition }
            problems.add(
                "a parameter's name must be 1 to \(PolicyLimits.valueLength) bytes, decoded and without control characters",
                path: entry.value.path, at: entry.place)
            return nil
        }
    }

    static func fields(_ cursor: SettingsCursor?, problems: inout SettingsProblems) -> [FieldCondition] {
        named(cursor, problems: &problems) { entry, values, problems in
            guard let name = FieldName(entry.key) else {
                problems.add("`\(SettingsText.quoted(entry.key))` is not a field name", path: entry.value.path, at: entry.place)
                return nil
            }
            if let reason = reason(againstMatching: name) { problems.add(reason, path: entry.value.path, at: entry.place) }
            return FieldCondition(name: name, values: values)
        }
    }

    private static func named<Condition>(
        _ cursor: SettingsCursor?, problems: inout SettingsProblems,
        _ make: ((key: String, place: SettingsPlace, value: SettingsCursor), [ValuePattern], inout SettingsProblems) -> Condition?
    ) -> [Condition] {
        guard let cursor, let entries = cursor.entries(problems: &problems) else { return [] }
        if entries.isEmpty { cursor.report("the mapping is empty; remove the key instead", to: &problems) }
        if entries.count > PolicyLimits.matchedNames {
            cursor.report("the mapping can have at most \(PolicyLimits.matchedNames) names", to: &problems)
        }
        return entries.compactMap { entry in make(entry, patterns(entry.value, problems: &problems), &problems) }
    }

    /// The message omits the value, which may be a secret.
    static func patterns(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [ValuePattern] {
        let items = cursor.oneOrMore(problems: &problems)
        if items.count > PolicyLimits.matchedValues {
            cursor.report("the list can have at most \(PolicyLimits.matchedValues) values", to: &problems)
        }
        return items.compactMap { item in
            guard let text = item.text(problems: &problems) else { return nil }
            if let pattern = ValuePattern(text) { return pattern }
            item.report("a value must have at most \(PolicyLimits.valueLength) bytes, and no control characters", to: &problems)
            return nil
        }
    }

    private static func reason(againstMatching name: FieldName) -> String? {
        switch name.known {
        case .host: "rules cannot match the Host field; match the host of the target with `host`"
        case .contentLength, .transferEncoding, .trailer, .te: "\(name) frames the message; rules cannot match this field"
        case .connection, .keepAlive, .proxyConnection, .proxyAuthorization:
            "\(name) belongs to one connection; rules cannot match this field"
        default: nil
        }
    }
}
