import HTTPCaching
import HTTPMessage

extension KeyRewriting {
    static let keys = ["drop_query", "keep_query", "sort_query", "canonical_host", "fields", "body"]

    /// Reads the `key` mapping of a rule's `cache`.
    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        self.init()
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return }
        if mapping.isEmpty { cursor.report("nothing to do: give \(Self.keys.joined(separator: ", "))", to: &problems) }
        dropped = mapping["drop_query"].map { Self.parameters($0, problems: &problems) }
        kept = mapping["keep_query"].map { Self.parameters($0, problems: &problems) }
        sortsQuery = mapping["sort_query"]?.boolean(problems: &problems)
        canonicalHost = mapping["canonical_host"].flatMap { Self.host($0, problems: &problems) }
        fields = mapping["fields"].map { SecondaryKey(fields: Self.fieldNames($0, problems: &problems)) }
        bodyMethods = mapping["body"].map { Self.methods($0, problems: &problems) }
    }

    private static func parameters(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [ParameterPattern] {
        let items = cursor.oneOrMore(problems: &problems)
        if items.count > PolicyLimits.keyParts {
            cursor.report("the list can have at most \(PolicyLimits.keyParts) parameter names", to: &problems)
        }
        return items.compactMap { item in
            guard let text = item.text(problems: &problems) else { return nil }
            if let pattern = ParameterPattern(text) { return pattern }
            item.report(
                "`\(SettingsText.quoted(text))` is not a parameter name as it appears in the URL; a star is allowed only at its end",
                to: &problems)
            return nil
        }
    }

    private static func host(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [UInt8]? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        switch try? HostPattern(text) {  // the cause of the error is reported below
        case .name(let name): return name
        case .any, .below, .address, nil:
            cursor.report("`\(SettingsText.quoted(text))` is not a host name", to: &problems)
            return nil
        }
    }

    private static func fieldNames(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [FieldName] {
        let items = cursor.oneOrMore(problems: &problems)
        if items.count > PolicyLimits.keyFields {
            cursor.report("the list can have at most \(PolicyLimits.keyFields) fields", to: &problems)
        }
        var names: [FieldName] = []
        for item in items {
            guard let text = item.text(problems: &problems) else { continue }
            guard let name = FieldName(text) else {
                item.report("`\(SettingsText.quoted(text))` is not a field name", to: &problems)
                continue
            }
            if names.contains(name) { item.report("this field is listed twice", to: &problems) }
            names.append(name)
        }
        return names
    }

    private static func methods(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> Methods {
        var methods: Methods = []
        for item in cursor.oneOrMore(problems: &problems) {
            if let method = item.word(among: ["QUERY": Methods.query, "POST": .post], problems: &problems) {
                methods.insert(method)
            }
        }
        return methods
    }
}
