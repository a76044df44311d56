import HTTPCaching
import HTTPMessage

/// One named rule, compiled: it denies, or it changes what happens to the request and its response.
package final class PolicyRule: Sendable {
    package let name: String
    package let condition: RuleCondition
    /// What the client is told by a rule that denies and so ends the list; `nil` for one that does not.
    package let reason: String?
    /// The requests that match may leave where the settings deny all others.
    package let allows: Bool
    /// A tunnel that this rule allows may carry any protocol.
    package let allowsAnyTunnel: Bool
    package let request: FieldEdits
    package let response: FieldEdits
    package let cache: CacheRule?
    package let validation: ValidationRule?
    /// What is to be made of the content of responses, as this rule alone has it.
    package let transform: TransformPlan?
    /// What is asked for in plain text is fetched over https.
    package let upgradesToTLS: Bool
    /// In place of the one that the settings name; `nil` where that holds.
    package let mode: RuleMode?
    /// When and how it changes under which URI a response stands, as it was written; empty where it does not.
    let keyText: [UInt8]

    package init(
        name: String, condition: RuleCondition, reason: String? = nil, allows: Bool = false, allowsAnyTunnel: Bool = false,
        request: FieldEdits = FieldEdits(), response: FieldEdits = FieldEdits(), cache: CacheRule? = nil,
        validation: ValidationRule? = nil,
        transform: TransformPlan? = nil, upgradesToTLS: Bool = false, mode: RuleMode? = nil, keyText: [UInt8] = []
    ) {
        self.name = name
        self.condition = condition
        self.reason = reason
        self.allows = allows
        self.allowsAnyTunnel = allowsAnyTunnel
        self.request = request
        self.response = response
        self.cache = cache
        self.validation = validation
        self.transform = transform
        self.upgradesToTLS = upgradesToTLS
        self.mode = mode
        self.keyText = keyText
    }

    package var denies: Bool { reason != nil }
}
