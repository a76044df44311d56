import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The bytes that are still missing from a response after a client has requested a part of it. If a rule requires it (`fill: true`), Larder
/// fetches them only for the store, gap by gap, with the client's request and rules.
package struct Fill: Sendable {
    package let key: [UInt8]
    let context: ExchangeContext
    /// The client whose request began the fill, if it is known.
    let sender: RequestSender?
    let request: RequestHead
    let obligations: Obligations
    let matched: MatchedRules
    let secondaryKey: SecondaryKey
    /// The mark of the trust policy that applied to the client's request.
    let trust: UInt64
    /// The start of the gap that was requested last. The next gap must begin after it: a fill ends if it makes no progress.
    let start: UInt64

    /// The next part to request.
    /// - Returns: `nil` if nothing is missing, if the missing part is already in flight, or if the complete response could not be stored.
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
