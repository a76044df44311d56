import HTTPMessage

extension FieldEdits {
    package enum Message { case request, response }

    static let keys = Kind.allCases.map(\.word)

    /// Reads `{default: {…}, set: {…}, append: {…}, remove: [...]}`.
    init(parsing mapping: SettingsMapping, of message: Message, problems: inout SettingsProblems) {
        self.init()
        for kind in Kind.allCases {
            guard let value = mapping[kind.word] else { continue }
            if kind == .remove {
                addRemovals(parsing: value, of: message, problems: &problems)
            } else {
                addLines(kind, parsing: value, of: message, problems: &problems)
            }
        }
    }

    private mutating func addRemovals(parsing cursor: SettingsCursor, of message: Message, problems: inout SettingsProblems) {
        for item in cursor.oneOrMore(problems: &problems) {
            guard let text = item.text(problems: &problems) else { continue }
            let name = Self.name(text, at: item.node.place, path: item.path, problems: &problems)
            if let name { add(.remove, name, []) }
        }
    }

    private mutating func addLines(
        _ kind: Kind, parsing cursor: SettingsCursor, of message: Message, problems: inout SettingsProblems
    ) {
        guard let entries = cursor.entries(problems: &problems) else { return }
        if entries.isEmpty { cursor.report("no field is listed", to: &problems) }
        var seen: [FieldName] = []
        for entry in entries {
            let values = entry.value.oneOrMore(problems: &problems).compactMap { Self.value($0, problems: &problems) }
            let path = entry.value.path
            guard let name = Self.name(entry.key, at: entry.place, path: path, problems: &problems) else { continue }
            if let reason = FieldProtection.reason(againstWriting: name.known, in: message) {
                problems.add(reason, path: path, at: entry.place)
                continue
            }
            if seen.contains(name) { problems.add("this field is listed twice", path: path, at: entry.place) }
            seen.append(name)
            add(kind, name, values)
        }
    }

    private static func name(
        _ text: String, at place: SettingsPlace, path: String, problems: inout SettingsProblems
    ) -> FieldName? {
        guard let name = FieldName(text) else {
            problems.add("`\(SettingsText.quoted(text))` is not a field name", path: path, at: place)
            return nil
        }
        if let reason = FieldProtection.reason(againstTouching: name) {
            problems.add(reason, path: path, at: place)
            return nil
        }
        return name
    }

    private static func value(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> FieldValue? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        guard text.utf8.count <= PolicyLimits.fieldValueLength else {
            cursor.report("a field value must have at most \(PolicyLimits.fieldValueLength) bytes", to: &problems)
            return nil
        }
        do {
            return try FieldValue(text)
        } catch {
            switch error {
            // The message omits the field's value, which may be a secret.
            case .control:
                cursor.report("a field value must not contain a line break, NUL or other control character", to: &problems)
            case .outerBlank: cursor.report("a field value must not begin or end with a space or tab", to: &problems)
            }
        }
        return nil
    }
}
