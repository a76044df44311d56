/// Which readings of a request's parts a condition has to match. Servers read escapes, repeated parameters and repeated fields in different
/// ways.
package enum MatchedReadings: Sendable {
    /// Every reading and every occurrence: for rules that allow.
    case every
    /// Any of them: for rules that deny.
    case any
    /// The request as the client sent it: for all other rules.
    case asSent
}
