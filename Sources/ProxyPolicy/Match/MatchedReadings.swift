/// Which readings of a request's parts a condition has to match. Servers read escapes, repeated parameters and repeated fields in different
/// ways.
package enum MatchedReadings: Sendable {
    /// Every reading and every occurrence: for rules that allow. Unknown properties do not match.
    case every
    /// Any reading and any occurrence: for rules that deny. Unknown properties match.
    case any
    /// The request as the client sent it: for all other rules.
    case asSent

    /// The readings for a rule's exclusions. If the rule must match in every reading, its exclusions must not match in any.
    var opposite: MatchedReadings {
        switch self {
        case .every: .any
        case .any: .every
        case .asSent: .asSent
        }
    }
}
