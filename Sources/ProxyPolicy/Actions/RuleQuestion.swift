/// The value of a rule's `ask`: a request that the rule matches waits until an approver answers.
package struct RuleQuestion: Equatable, Sendable {
    /// The maximum time that the request waits, in milliseconds.
    package let timeout: Int64
    /// Whether the request is allowed if no approver answers in time.
    package let allowsOtherwise: Bool

    package static let defaultTimeout: Int64 = 60_000

    package init(timeout: Int64 = defaultTimeout, allowsOtherwise: Bool = false) {
        self.timeout = timeout
        self.allowsOtherwise = allowsOtherwise
    }

    /// The value as in the settings, without braces.
    package var description: String {
        "timeout: \(SettingsQuantity.text(ofMilliseconds: timeout)), otherwise: \(allowsOtherwise ? "allow" : "deny")"
    }

    static let keys = ["timeout", "otherwise"]

    /// Reads `ask: {timeout: 60s, otherwise: deny}`. `ask:` and `ask: {}` have the defaults.
    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        if cursor.isNull {
            self.init()
            return
        }
        let mapping = cursor.mapping(of: Self.keys, problems: &problems)
        let timeout = mapping?["timeout"]?.milliseconds(in: PolicyLimits.questionTimeout, problems: &problems)
        let allows = mapping?["otherwise"]?.word(among: ["deny": false, "allow": true], problems: &problems)
        self.init(timeout: timeout ?? Self.defaultTimeout, allowsOtherwise: allows ?? false)
    }
}
