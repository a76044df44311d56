import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// What is left to fetch of a response of which a client has asked for a part, under a rule that wants the rest (`fill: true`):
/// for the store alone, one gap after the other, as the client would have asked and under the same rules.
package struct Fill: Sendable {
    package let key: [UInt8]
    let context: ExchangeContext
    let request: RequestHead
    let obligations: Obligations
    let matched: MatchedRules
    let secondaryKey: SecondaryKey
    /// As the client's request required it.
    let trust: UInt64
    /// Each gap begins behind the one before, so that a fill that brings nothing ends.
    let start: UInt64

    /// What is to be asked for now.
    /// - Returns: `nil` where nothing is missing, it is coming already, or it could not be kept whole.
    package func completion(of partials: [PartialResponse], beside bodies: [BodyUnderWay], at now: Timestamp) -> RangeCompletion?
    {
        var directives = RequestDirectives(request)
        directives.trust = trust
        let found = Vary.select(among: partials.map(\.response), for: request, secondaryKey).map { partials[$0] }
        guard let found, !found.firstGap.isEmpty, found.firstGap.lowerBound >= start,
            found.wholeLength <= obligations.cache.maximumBodyLength ?? .max,
            case .fresh = Reuse.decide(
                found.response.facts, for: directives, overrides: obligations.cache, at: now),
            !bodies.contains(where: { $0.range.overlaps(found.firstGap) })
        else { return nil }
        return RangeCompletion(partial: found, wanted: found.firstGap, missing: found.firstGap)
    }
}
