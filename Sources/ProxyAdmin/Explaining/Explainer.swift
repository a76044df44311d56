import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore

/// Explains what would be done with a request by a dry run of it, with a store that is asked from here.
package enum Explainer {
    /// What a store answers to a look-up.
    package enum Answer {
        case found([StoredResponse], partials: [PartialResponse], isComplete: Bool)
        /// It has to be asked on the disk, which takes its time: explain again with what it finds.
        case later
    }

    package enum Explained {
        case explanation(Explanation)
        case waiting(key: [UInt8])
    }

    package static func explain(
        _ heads: ExplainedHeads, context: ExchangeContext, tellsQuery: Bool, at now: Timestamp,
        lookUp: (_ key: [UInt8], _ onDisk: Bool) -> Answer
    ) -> Explained {
        if let refusal = heads.refusal { return .explanation(Explanation(refusal, at: now, tellsQuery: tellsQuery)) }
        let request = heads.request
        var dryRun = DryRun(request, content: heads.requestContent, context: context)
        var step = dryRun.start(body: body(of: request), at: now)
        while case .needsLookUp(let onDisk) = step {
            switch lookUp(dryRun.exchange.key, onDisk) {
            case .later: return .waiting(key: dryRun.exchange.key)
            case .found(let responses, let partials, let isComplete):
                step = dryRun.found(responses, partials: partials, isComplete: isComplete, at: now)
            }
        }
        return .explanation(Explanation(dryRun, at: now, tellsQuery: tellsQuery))
    }

    /// Judges a saved response: whether it would be stored if the origin sent it now, and then what would be done with the same
    /// request.
    package static func judge(
        _ heads: ExplainedHeads, context: ExchangeContext, tellsQuery: Bool, at now: Timestamp
    ) -> Explanation {
        if let refusal = heads.refusal { return Explanation(refusal, at: now, tellsQuery: tellsQuery) }
        var dryRun = DryRun(heads.request, content: heads.requestContent, context: context)
        var step = dryRun.start(body: body(of: heads.request), at: now)
        while case .needsLookUp = step { step = dryRun.found([], partials: [], isComplete: true, at: now) }
        guard case .asksOrigin = dryRun.conclusion, let response = heads.response else {
            return Explanation(dryRun, at: now, tellsQuery: tellsQuery, judgesSaved: true)
        }
        _ = dryRun.answer(response, body: heads.responseBody.length, at: now)
        let origin = Explanation.Step(
            "origin", "the saved response, as if it arrived now: \(response.status.code)",
            values: [("status", .number(Int(response.status.code)))])
        return Explanation(
            dryRun, at: now, tellsQuery: tellsQuery, judgesSaved: true, origin: origin,
            again: again(dryRun, heads, context, tellsQuery, now))
    }

    /// The same request once the response is stored.
    private static func again(
        _ first: borrowing DryRun, _ heads: ExplainedHeads, _ context: ExchangeContext, _ tellsQuery: Bool, _ now: Timestamp
    ) -> Explanation.Step? {
        guard case .relays(stores: true) = first.conclusion, let stored = first.exchange.makeStoredResponse(body: .bytes([]))
        else {
            return nil
        }
        let second = explain(heads, context: context, tellsQuery: tellsQuery, at: now) { _, _ in
            .found([stored], partials: [], isComplete: true)
        }
        guard case .explanation(let explanation) = second else { return nil }
        return Explanation.Step(
            "again", "the same request, after this response is stored",
            values: [("action", .string(explanation.action.rawValue))],
            steps: explanation.steps.filter { ["freshness", "decision", "request"].contains($0.name) })
    }

    private static func body(of request: RequestHead) -> BodyLength {
        // A head whose framing is wrong has been refused before.
        guard let framing = try? BodyFraming.ofRequest(request) else { return .none }
        return framing.length
    }
}

extension BodyFraming {
    var length: BodyLength {
        switch self {
        case .none: .none
        case .length(let length): .known(length)
        case .chunked, .untilClose: .unknown
        }
    }
}
