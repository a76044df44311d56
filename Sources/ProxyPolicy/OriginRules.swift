import HTTPCaching
import HTTPMessage

/// What the rules say of all requests to one origin together, while no request is known yet. Method and path are open, so each rule
/// counts that could match a request to that origin.
package struct OriginRules: Sendable {
    /// The first rule that names the host, or that a request inside a tunnel to an address could make itself fit; `nil`: none does.
    package fileprivate(set) var naming: PolicyRule?
    /// The first rule that can keep a request from being sent; `nil`: every request may be sent.
    package fileprivate(set) var withholding: PolicyRule?
    /// The first rule whose mode lets nothing out; `nil`: none does.
    package fileprivate(set) var closing: PolicyRule?

    /// Some requests to the origin may be denied because no rule allows them.
    package fileprivate(set) var deniesUnlisted = false

    package init() {}
}

extension PolicyRuleSet {
    /// - Parameter origin: where it is named inside the tunnel, a rule for any host can match.
    package func rules(for origin: TunnelAuthority) -> OriginRules {
        var found = OriginRules()
        found.deniesUnlisted = egress.default == .deny
        if isEmpty { return found }
        var named = RuleNumbers(count: rules.count)
        insertRules(naming: origin, into: &named)
        for (number, rule) in rules.enumerated() {
            let isNaming = named.contains(number)
            guard isNaming || !rule.condition.namesHosts, rule.condition.mayMatch(scheme: origin.scheme, port: origin.port) else {
                continue
            }
            if rule.allows, rule.condition.allowsTunnels { found.deniesUnlisted = false }
            if isNaming, found.naming == nil { found.naming = rule }
            if rule.mayWithhold, found.withholding == nil { found.withholding = rule }
            if rule.mode?.isClosed == true, found.closing == nil { found.closing = rule }
        }
        return found
    }
}

extension PolicyRule {
    /// Whether a request that this rule matches may be answered without being sent, for a reason that the rule gives.
    fileprivate var mayWithhold: Bool {
        if denies || mode?.isClosed == true || mode == .recordMissing { return true }
        if cache?.overrides.effectivePolicy == .storedOnly { return true }
        // What a rule writes counts as the client's: `only-if-cached` among it keeps the request from being sent.
        return request.edits.contains { $0.name.known == .cacheControl && $0.kind != .remove }
    }
}

extension RuleMode {
    /// Nothing leaves.
    fileprivate var isClosed: Bool { self == .offline || self == .replay }
}
