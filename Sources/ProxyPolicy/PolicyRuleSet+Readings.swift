import HTTPMessage

/// The verdict of the rules on one reading of a request's path, for explanations.
package struct ReadingVerdict: Equatable, Sendable {
    package enum Outcome: String, Sendable {
        case allowed, denied
        /// The request would be denied, but report mode forwards it.
        case reported
    }

    package let path: [UInt8]
    package let outcome: Outcome
}

extension PolicyRuleSet {
    /// The verdict on each reading of the request's path that a server may use. `match` allows a request only if none of these readings
    /// is denied.
    /// - Parameter needsRule: whether a rule has to allow the request, as under `egress.default: deny`.
    /// - Returns: empty if the path has one reading, and for CONNECT.
    package func readings(of request: RequestHead, _ facts: borrowing RequestFacts, needsRule: Bool = true) -> [ReadingVerdict] {
        guard case .absolute = request.target.form, !request.target.path.isEmpty else { return [] }
        var known = RequestReadings()
        let texts = known.path.finalTexts(of: request.span(of: request.target.path))
        guard texts.count > 1 else { return [] }
        let isAllowed = egress.default == .allow || !needsRule
        var found = texts.map { _ in (isAllowed: isAllowed, isDenied: false, isReported: false) }
        forEachRule(concerning: request) { rule in
            guard rule.denies || rule.allows || rule.asks else { return }
            let readings: MatchedReadings = rule.denies ? .any : .every
            guard rule.condition.matchesBesidesPath(request, facts, as: readings, &known) else { return }
            for (index, text) in texts.enumerated()
            where rule.condition.matches(reading: text, of: request, facts, as: readings, &known) {
                if rule.allows || rule.asks { found[index].isAllowed = true }
                if rule.denies(under: egress) {
                    found[index].isDenied = true
                } else if rule.denies {
                    found[index].isReported = true
                }
            }
        }
        return zip(texts, found).map { text, found in
            let isForwarded = found.isAllowed && !found.isReported
            let outcome: ReadingVerdict.Outcome =
                found.isDenied
                ? .denied : isForwarded ? .allowed : found.isAllowed || egress.enforcement == .report ? .reported : .denied
            return ReadingVerdict(path: text, outcome: outcome)
        }
    }
}

extension RuleCondition {
    /// Whether this reading of the request's path matches a path of the condition, and one of its operations.
    fileprivate func matches(
        reading path: [UInt8], of request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings,
        _ known: inout RequestReadings
    ) -> Bool {
        guard isPath(path, as: readings) else { return false }
        if operations.isEmpty { return true }
        for operation in operations where operation.isPath(path, as: readings) {
            if operation.matchesBesidesPath(request, facts, as: readings, &known) { return true }
        }
        return false
    }

    /// A rule that denies also compares the reading with the pattern as it is written, without decoding escapes.
    private func isPath(_ path: [UInt8], as readings: MatchedReadings) -> Bool {
        paths.isEmpty || paths.contains { $0.decoded.matches(path.span) || readings == .any && $0.matches(path.span) }
    }
}
