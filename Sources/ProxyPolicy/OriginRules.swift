import HTTPCaching
import HTTPMessage

/// The effect of the rules on all requests to one origin, before any request is known. Considers every rule whose host, port and scheme
/// could match a request to that origin.
package struct OriginRules: Sendable {
    /// The first rule that names the host; `nil` if there is none. In a tunnel to an address, requests may name any host, so this
    /// is then the first rule that names any host.
    package fileprivate(set) var naming: PolicyRule?
    /// The first rule that can prevent a request from being sent; `nil` if every request may be sent.
    package fileprivate(set) var withholding: PolicyRule?
    /// The first rule with a mode that forwards no request; `nil` if there is none.
    package fileprivate(set) var closing: PolicyRule?

    /// The first rule that names the way for some requests; `nil` if there is none.
    package fileprivate(set) var routing: PolicyRule?

    /// The first rule that allows tunnels to the origin, if requests that no rule allows are denied.
    package fileprivate(set) var tunnelling: PolicyRule?
    /// The first rule that has to see each request: it looks at the method or path, and it can prevent a request from being sent, or
    /// allow a request that would otherwise be denied. `nil` if there is no such rule, or if a rule allows tunnels for any protocol.
    package fileprivate(set) var inspecting: PolicyRule?

    /// Whether some requests to the origin may be denied because no rule allows them.
    package fileprivate(set) var deniesUnlisted = false

    package init() {}
}

extension PolicyRuleSet {
    /// - Parameter origin: the target of the tunnel. If the requests inside the tunnel name the host, a rule for any host can match.
    package func rules(for origin: TunnelAuthority) -> OriginRules {
        var found = OriginRules()
        found.deniesUnlisted = egress.appliedDefault == .deny
        if isEmpty { return found }
        var allowsAnyTunnel = false
        forEachRule(for: origin) { rule in
            guard rule.condition.mayMatch(scheme: origin.scheme, port: origin.port) else { return }
            if rule.allows || rule.asks, rule.condition.allowsTunnels {
                if found.tunnelling == nil { found.tunnelling = rule }
                if !rule.condition.dependsOnRequest { found.deniesUnlisted = false }
            }
            if rule.allowsAnyTunnel, egress.default == .deny { allowsAnyTunnel = true }
            let mayWithhold = rule.mayWithhold(under: egress)
            if found.inspecting == nil, !rule.condition.allowsTunnels,
                mayWithhold || (rule.allows || rule.asks) && egress.default == .deny
            {
                found.inspecting = rule
            }
            if rule.condition.namesHosts, found.naming == nil { found.naming = rule }
            if mayWithhold, found.withholding == nil { found.withholding = rule }
            if rule.upstream != nil, found.routing == nil { found.routing = rule }
            if rule.mode?.isClosed == true, found.closing == nil { found.closing = rule }
        }
        if allowsAnyTunnel { found.inspecting = nil }
        return found
    }
}

extension PolicyRuleSet {
    /// Whether some request to the host may be allowed. If so, a client may look up the host's name.
    /// - Parameter name: the host's name in lower case, without a final dot.
    package func mayAllow(name: [UInt8]) -> Bool {
        guard egress.appliedDefault == .deny else { return true }
        var isAllowed = false
        forEachRule(naming: name) { rule in if rule.allows || rule.asks { isAllowed = true } }
        return isAllowed
    }
}

extension PolicyRule {
    /// Whether this rule can make Larder answer a matching request without forwarding it.
    fileprivate func mayWithhold(under egress: EgressTerms) -> Bool {
        if denies { return denies(under: egress) }
        if asks { return egress.enforcement == .deny }
        if limit != nil || mode?.isClosed == true || mode == .recordMissing { return true }
        if cache?.overrides.effectivePolicy == .storedOnly { return true }
        // Larder treats fields that a rule writes as the client's own. If a rule writes `only-if-cached`, the request is not forwarded.
        return request.edits.contains { $0.name.known == .cacheControl && $0.kind != .remove }
    }
}

extension RuleMode {
    /// Whether the mode forwards nothing.
    fileprivate var isClosed: Bool { self == .offline || self == .replay }
}
