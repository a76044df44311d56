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

/// An exchange that fetches such a gap.
///
///     idle ──fills──▶ fetching ──upstreamHead──▶ delivering (the bytes go into the store) ──deliveryEnded──▶ finished
///                        └──── a failure, or anything but these bytes of the same representation ────────▶ finished
extension Exchange {
    /// What is to follow this exchange; `nil` where no rule asks for it.
    package var fill: Fill? {
        guard obligations.cache.fillsParts == true else { return nil }
        var request = request
        if !isBackground { request.becomeWholeGET() }
        return Fill(
            key: key, context: context, request: request, obligations: obligations, matched: matched, secondaryKey: secondaryKey,
            trust: directives.trust, start: isBackground ? (ranges.completion?.missing.upperBound ?? .max) : 0)
    }

    /// Makes the exchange ready to fetch what is missing.
    package mutating func begin(id: UInt64, fill: Fill, completion: RangeCompletion) {
        begin(id: id, context: fill.context)
        isBackground = true
        request = fill.request
        directives = RequestDirectives(request)
        directives.trust = fill.trust
        obligations = fill.obligations
        matched = fill.matched
        key = fill.key
        secondaryKey = fill.secondaryKey
        ranges.completion = completion
    }

    mutating func startFill(at now: Timestamp, into commands: inout CommandBuffer) {
        cache.isLeading = true
        trace.reuse = .forward(.fill)
        fetch(at: now, into: &commands)
    }

    /// A part is stored now, or about to be.
    mutating func fillRest(into commands: inout CommandBuffer) {
        if obligations.cache.fillsParts == true, !obligations.cache.isDisconnected { commands.append(.fillRest) }
    }
}
