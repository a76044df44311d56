import HTTPMessage

/// Collects whether a request has to wait for an approver: a rule with `ask` matches it, and the rules with `allow` do not allow all
/// readings of its path. The order of the rules does not matter.
struct Asking {
    /// Whether rules ask at all. Report mode asks nothing.
    private let isNeeded: Bool
    private var isAsked = false
    private var allowance = Allowance(isNeeded: true)

    init(isNeeded: Bool) { self.isNeeded = isNeeded }

    /// Notes a matching rule that asks.
    mutating func note(_ rule: PolicyRule) { if isNeeded { isAsked = true } }

    /// Notes a rule that allows, whether or not it matches.
    mutating func note(
        allowing rule: PolicyRule, _ request: RequestHead, _ facts: borrowing RequestFacts, _ known: inout RequestReadings
    ) {
        if isNeeded { _ = allowance.applies(rule, to: request, facts, readings: &known) }
    }

    /// Whether an approver has to allow the request.
    func isOpen(on request: RequestHead, readings known: inout RequestReadings) -> Bool {
        guard isAsked else { return false }
        guard case .allow(let allowed) = allowance.verdict(on: request, readings: &known, .none) else { return true }
        // A rule that only allows requests inside a tunnel does not allow a tunnel that hides them.
        if case .authority = request.target.form { return allowed.tunnel == .inspectedOnly }
        return false
    }
}
