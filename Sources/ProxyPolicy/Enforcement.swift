/// What happens to a request that a rule denies, or that no rule allows: `enforce` of a rule, and `egress.enforce`.
package enum Enforcement: String, CaseIterable, Sendable {
    /// The request is forwarded, and reported as one that the rules would deny.
    case report
    case deny

    /// Reads the key `enforce` of a rule.
    init?(parsing cursor: SettingsCursor, denies: Bool, problems: inout SettingsProblems) {
        if !denies { cursor.report("`enforce` needs `deny` in the same rule", to: &problems) }
        guard let word = cursor.word(among: ["report": Enforcement.report, "deny": .deny], problems: &problems) else {
            return nil
        }
        self = word
    }
}

/// Why the rules would deny a request that report mode forwards. A trivial type.
package enum ReportedDenial: Equatable, Sendable {
    /// A rule would deny the request.
    /// - Parameter index: the index of the rule in `MatchedRules`.
    case rule(index: UInt32)
    case unlisted
    case ambiguousPath
}
