import HTTPMessage

/// How a rule matches the path of a request, in all its readings.
extension RuleCondition {
    func matchesPath(
        of request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        if paths.isEmpty, operations.isEmpty { return true }
        let coverage = coverage(of: request, facts, as: readings, &known)
        return readings == .every ? Self.share(of: request, in: coverage, &known.path) == .all : !coverage.isEmpty
    }

    /// The readings of the request's path that match both a path of this condition and one of its operations.
    func coverage(
        of request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> PathCoverage {
        let own = coverageByPaths(of: request, as: readings, &known.path)
        if operations.isEmpty || own.isEmpty { return own }
        var byOperations = PathCoverage.none
        for operation in operations where operation.matchesBesidesPath(request, facts, as: readings, &known) {
            byOperations.formUnion(operation.coverageByPaths(of: request, as: readings, &known.path))
        }
        return own.intersection(byOperations)
    }

    private func coverageByPaths(
        of request: RequestHead, as readings: MatchedReadings, _ known: inout PathReadings
    ) -> PathCoverage {
        if paths.isEmpty { return .everyPath }
        switch request.target.form {
        case .authority, .asterisk: return paths.contains { $0.matchesEveryPath } ? .everyPath : .none
        case .origin, .absolute:
            if request.target.path.isEmpty { return known.coverage(of: Self.root.span, by: paths, as: readings) }
            return known.coverage(of: request.span(of: request.target.path), by: paths, as: readings)
        }
    }

    /// How many of the readings that a server may use are in `coverage`.
    static func share(
        of request: RequestHead, in coverage: PathCoverage, _ known: inout PathReadings
    ) -> PathReadings.Share {
        switch request.target.form {
        case .authority, .asterisk: return coverage.isEmpty ? .none : .all
        case .origin, .absolute:
            if request.target.path.isEmpty { return known.share(of: root.span, in: coverage) }
            return known.share(of: request.span(of: request.target.path), in: coverage)
        }
    }

    /// An empty path means the root path (RFC 9110 §4.2.3).
    private static let root = [ASCII.slash]
}
