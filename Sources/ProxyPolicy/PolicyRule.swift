import HTTPMessage

/// One named rule, compiled.
package final class PolicyRule: Sendable {
    package let name: String
    package let condition: RuleCondition
    package let action: Action

    package enum Action: Sendable {
        /// Ends the list: the client is refused, with this reason.
        case deny(reason: String)
        case change(Changes)
    }

    package struct Changes: Sendable {
        package var request = FieldEdits()
        package var response = FieldEdits()
        package var cache: CacheRule?
        package var validation: ValidationRule?

        package init() {}
    }

    init(name: String, condition: RuleCondition, action: Action) {
        self.name = name
        self.condition = condition
        self.action = action
    }

    package var denies: Bool {
        if case .deny = action { true } else { false }
    }

    /// What the client is told; empty for a rule that does not deny.
    package var reason: String {
        if case .deny(let reason) = action { reason } else { "" }
    }
}
