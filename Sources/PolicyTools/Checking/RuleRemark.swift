import ProxyPolicy

/// A rule that has no effect.
package struct RuleRemark: Equatable, Sendable {
    package enum Cause: Equatable, Sendable {
        /// No request can meet the rule's match.
        case neverMatches(String)
        /// Every request that the rule matches is denied by another rule.
        case deniedBy(Int)
        /// Another rule allows every request that this rule allows.
        case allowedBy(Int)
        /// The rule allows requests, but the settings allow every request that no rule denies.
        case allowedByDefault
    }

    /// The number of the rule that has no effect.
    package let rule: Int
    package let cause: Cause

    /// The number of the rule that overrides it; `nil` if there is none.
    package var other: Int? {
        switch cause {
        case .neverMatches, .allowedByDefault: nil
        case .deniedBy(let other), .allowedBy(let other): other
        }
    }

    /// - Parameter place: gives the place of a rule, for example "line 4".
    package func text(of policy: PolicyRuleSet, place: (Int) -> String) -> String {
        func name(_ rule: Int) -> String { "`\(policy.rules[rule].name)` (\(place(rule)))" }
        switch cause {
        case .neverMatches(let reason): return "the rule \(name(rule)) never matches: \(reason)"
        case .deniedBy(let other):
            return
                "the rule \(name(rule)) has no effect: the rule \(name(other)) denies every request that `\(policy.rules[rule].name)` matches"
        case .allowedBy(let other):
            return
                "the rule \(name(rule)) has no effect: the rule \(name(other)) allows every request that `\(policy.rules[rule].name)` \(policy.rules[rule].asks ? "asks about" : "allows")"
        case .allowedByDefault:
            return
                "the rule \(name(rule)) has no effect: egress.default is allow, which already allows every request that no rule denies"
        }
    }
}
