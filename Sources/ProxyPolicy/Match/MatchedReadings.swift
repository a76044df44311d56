/// Which readings of a request's parts a condition has to match. Servers read escapes, repeated parameters and repeated fields in different
/// ways.
package enum MatchedReadings: Sendable {
    /// For rules that allow: every reading and every occurrence has to match. A property of the request that is unknown does not match.
    case every
    /// For rules that deny: one reading or one occurrence has to match. A property of the request that is unknown matches.
    case any
    /// For all other rules: the request has to match as the client sent it.
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
