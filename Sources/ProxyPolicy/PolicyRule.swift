import HTTPCaching
import HTTPMessage

/// A named, compiled rule: it denies, or it changes how a request and its response are processed.
package final class PolicyRule: Sendable {
    package let name: String
    package let condition: RuleCondition
    /// The reason that a denied client gets; `nil` if this rule does not deny. No rule after a rule that denies is applied.
    package let reason: String?
    /// Whether a request that this rule denies may get a recorded or stored response; `nil` if the settings decide.
    package let deniedUse: DeniedUse?
    /// Whether the rule allows the requests that it matches, in settings that deny all other requests.
    package let allows: Bool
    /// How requests that the rule matches wait for an approver; `nil` if the rule does not ask. An answer of the approver allows the
    /// request like a rule with `allow`.
    package let question: RuleQuestion?
    /// Whether a tunnel that this rule allows may carry any protocol.
    package let allowsAnyTunnel: Bool
    package let request: FieldEdits
    package let response: FieldEdits
    package let cache: CacheRule?
    package let validation: ValidationRule?
    /// This rule's own transformation of response content.
    package let transform: TransformPlan?
    /// Whether requests over http are fetched over https.
    package let upgradesToTLS: Bool
    /// The way on which the requests are sent; `nil` for the way in the settings.
    package let upstream: UpstreamChoice?
    /// Overrides the mode in the settings; `nil` keeps that mode.
    package let mode: RuleMode?
    /// The text of those `match` and `key` settings of the rule that affect the URI under which a response is stored; empty if the rule
    /// has none.
    let keyText: [UInt8]
    /// Limits on the requests that match; `nil` if the rule sets none.
    package let limit: RuleLimit?
    /// Whether a rule that denies only reports its requests instead; `nil` if `egress.enforce` decides.
    package let enforcement: Enforcement?

    package init(
        name: String, condition: RuleCondition, reason: String? = nil, deniedUse: DeniedUse? = nil, allows: Bool = false,
        question: RuleQuestion? = nil, allowsAnyTunnel: Bool = false,
        request: FieldEdits = FieldEdits(), response: FieldEdits = FieldEdits(), cache: CacheRule? = nil,
        validation: ValidationRule? = nil,
        transform: TransformPlan? = nil, upgradesToTLS: Bool = false, upstream: UpstreamChoice? = nil, mode: RuleMode? = nil,
        keyText: [UInt8] = [],
        limit: RuleLimit? = nil, enforcement: Enforcement? = nil
    ) {
        self.name = name
        self.condition = condition
        self.reason = reason
        self.deniedUse = deniedUse
        self.allows = allows
        self.question = question
        self.allowsAnyTunnel = allowsAnyTunnel
        self.request = request
        self.response = response
        self.cache = cache
        self.validation = validation
        self.transform = transform
        self.upgradesToTLS = upgradesToTLS
        self.upstream = upstream
        self.mode = mode
        self.keyText = keyText
        self.limit = limit
        self.enforcement = enforcement
    }

    package var denies: Bool { reason != nil }

    package var asks: Bool { question != nil }

    /// Whether the rule may make another decision about a request after Larder has upgraded the request to https.
    var judgesUpgrades: Bool { (denies || allows || asks) && condition.looksAtOrigin }

    /// Whether the rule denies requests under these terms. If not, it does not deny at all, or only reports requests.
    package func denies(under egress: EgressTerms) -> Bool { denies && enforcement ?? egress.enforcement == .deny }
}
