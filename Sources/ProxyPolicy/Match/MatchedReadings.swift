/// Which readings of a request's parts a condition has to match. Servers read escapes, repeated parameters and repeated fields in different
/// ways.
package enum MatchedReadings: Sendable {
    /// Every reading and every occurrence has to match. For rules that allow. A property of the request that is unknown does not match.
    case every
    /// One reading or occurrence has to match. For rules that deny. A property of the request that is unknown matches.
    case any
    /// The request has to match as the client sent it. For all other rules.
    case asSent

    /// The readings for a rule's exclusions. If the rule must match in every reading, its exclusions must not match in any reading.
    var opposite: MatchedReadings {
        switch self {
        case .every: .any
        case .any: .every
        case .asSent: .asSent
        }
    }
}
