import HTTPCaching
import HTTPMessage

extension PolicyRule {
    private static let keys = ["name", "match", "deny", "request", "response", "cache", "validate"]

    /// - Returns: `nil` where not even a name could be read; after any problem the rule is for nobody.
    convenience init?(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return nil }
        let name = mapping.required("name", problems: &problems).flatMap { Self.name($0, problems: &problems) }
        let condition = mapping["match"].map { RuleCondition(parsing: $0, problems: &problems) } ?? RuleCondition()
        let request = mapping["request"].map { FieldEdits(parsing: $0, of: .request, problems: &problems) }
        let response = mapping["response"].map { FieldEdits(parsing: $0, of: .response, problems: &problems) }
        let cache = mapping["cache"].map { CacheRule(parsing: $0, problems: &problems) }
        let validation = mapping["validate"].map { ValidationRule(parsing: $0, problems: &problems) }
        let reason = mapping["deny"].map { Self.reason($0, problems: &problems) }
        let changeKeys = ["request", "response", "cache", "validate"].filter { mapping[$0] != nil }
        if reason != nil, let useless = changeKeys.first {
            mapping[useless]?.report("a rule that denies does nothing else", to: &problems)
        }
        if reason == nil, changeKeys.isEmpty {
            cursor.report("the rule does nothing: give deny, request, response, cache or validate", to: &problems)
        }
        guard let name else { return nil }
        self.init(
            name: name, condition: condition, reason: reason.map { $0 ?? "denied by the rule \(name)" },
            request: request ?? FieldEdits(), response: response ?? FieldEdits(), cache: cache, validation: validation)
    }

    /// Visible ASCII and inner blanks, without `"` and `\`: it stands quoted in logs and in structured fields.
    private static func name(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> String? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        let isVisible = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != ASCII.quote && $0 != ASCII.backslash }
        let isTrimmed = text.first != " " && text.last != " "
        guard (1...PolicyLimits.nameLength).contains(text.utf8.count), isVisible, isTrimmed else {
            cursor.report(
                "a rule's name is 1 to \(PolicyLimits.nameLength) visible ASCII characters without \" and \\", to: &problems)
            return nil
        }
        return text
    }

    /// `deny: {reason: …}`; without a reason (`deny:` or `deny: {}`) the answer is `nil` and the rule still denies.
    private static func reason(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> String? {
        if cursor.isNull { return nil }
        guard let mapping = cursor.mapping(of: ["reason"], problems: &problems) else { return nil }
        guard let value = mapping["reason"], let text = value.text(problems: &problems) else { return nil }
        let hasControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard (1...PolicyLimits.reasonLength).contains(text.utf8.count), !hasControl else {
            value.report("a reason is one line of 1 to \(PolicyLimits.reasonLength) bytes", to: &problems)
            return nil
        }
        return text
    }
}
