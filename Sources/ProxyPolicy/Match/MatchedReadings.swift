/// Which readings of a request's parts a condition has to match. Servers read escapes, repeated parameters and repeated fields in different
/// ways.
package enum MatchedReadings: Sendable {
    /// Every reading and every occurrence: for rules that allow. Unknown properties do not match.
    case every
    /// Any of them: for rules that deny. Unknown properties match.
    case any
    /// The request as the client sent it: for all other rules.
    case asSent

    /// For the exclusions of a rule: they must not match in any reading if the rule must match in every reading.
    var opposite: MatchedReadings {
        switch self {
        case .every: .any
        case .any: .every
        case .asSent: .asSent
        }
    }
}
