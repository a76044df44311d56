import HTTPMessage

/// What happens to requests that no rule allows: the setting `egress.default`.
package enum EgressDefault: String, CaseIterable, Sendable { case allow, deny }

/// Whether a request that the rules deny may get a recorded or stored response: the setting `egress.stored`, and the key `stored` of a
/// rule's `deny`.
package enum DeniedUse: String, CaseIterable, Sendable { case deny, serve }

/// The settings under `egress` for requests that the rules deny.
package struct EgressTerms: Equatable, Sendable {
    package var `default`: EgressDefault
    /// Whether the error response to a denied client contains the rule that would allow the request.
    package var suggests: Bool
    /// Whether a denied request may get a recorded or stored response.
    package var servesStored: Bool
    /// Whether such requests are denied, or forwarded and reported.
    package var enforcement: Enforcement

    /// Equals `default`, except in report mode, which denies nothing: then it is `allow`.
    package var appliedDefault: EgressDefault { enforcement == .report ? .allow : `default` }

    package init(
        _ default: EgressDefault = .allow, suggests: Bool = true, servesStored: Bool = false, enforcement: Enforcement = .deny
    ) {
        self.default = `default`
        self.suggests = suggests
        self.servesStored = servesStored
        self.enforcement = enforcement
    }
}

/// Collects the verdicts on one request of the rules with `allow`. Servers may read one path in different ways. The request is allowed
/// if each reading that a server may use is allowed, by one rule or by several.
struct Allowance {
    /// Whether requests that no rule allows are denied.
    let isNeeded: Bool
    private var coverage = PathCoverage.none
    private var tunnel = TunnelPermission.inspectedOnly
    /// Whether a rule may allow some request inside the tunnel.
    private var mayAllowInside = false

    init(isNeeded: Bool) { self.isNeeded = isNeeded }

    /// Notes which readings of the request's path the rule allows.
    /// - Returns: whether the rule's other keys apply to the request, because it matches the path as the client sent it, or every reading.
    mutating func applies(
        _ rule: PolicyRule, to request: RequestHead, _ facts: borrowing RequestFacts, readings known: inout RequestReadings
    ) -> Bool {
        let condition = rule.condition
        if case .authority = request.target.form, isNeeded { return appliesToTunnel(rule, request, facts, &known) }
        guard condition.matchesBesidesPath(request, facts, as: .every, &known) else { return false }
        let allowed = condition.coverage(of: request, facts, as: .every, &known)
        coverage.formUnion(allowed)
        return RuleCondition.share(of: request, in: allowed, &known.path) == .all
            || condition.matchesPath(of: request, facts, as: .asSent, &known)
    }

    private mutating func appliesToTunnel(
        _ rule: PolicyRule, _ request: RequestHead, _ facts: borrowing RequestFacts, _ known: inout RequestReadings
    ) -> Bool {
        let condition = rule.condition
        let port = request.target.port
        // A request inside a tunnel may be http or https: the scheme of a CONNECT is known only after the client's first bytes have
        // arrived.
        guard condition.mayMatch(scheme: .https, port: port) || condition.mayMatch(scheme: .http, port: port),
            condition.mayMatch(inside: request, facts, as: .every, &known)
        else { return false }
        mayAllowInside = true
        guard condition.allowsTunnels, condition.mayMatch(scheme: .https, port: port) else { return false }
        let permission = rule.allowsAnyTunnel ? TunnelPermission.any : .named
        if permission.rawValue > tunnel.rawValue { tunnel = permission }
        return true
    }

    func verdict(on request: RequestHead, readings known: inout RequestReadings, _ obligations: Obligations) -> Verdict {
        guard isNeeded else { return .allow(obligations) }
        if case .authority = request.target.form {
            guard mayAllowInside else { return .unlisted }
            var obligations = obligations
            obligations.tunnel = tunnel
            return .allow(obligations)
        }
        switch RuleCondition.share(of: request, in: coverage, &known.path) {
        case .all: return .allow(obligations)
        case .some: return .ambiguousPath
        case .none: return .unlisted
        }
    }
}
