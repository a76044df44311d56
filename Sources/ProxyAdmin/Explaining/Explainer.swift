import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore

/// Explains how Larder would handle a request, by a dry run with look-ups in a store.
package enum Explainer {
    /// The result of a look-up in a store.
    package enum Answer {
        case found([StoredResponse], partials: [PartialResponse], isComplete: Bool)
        /// The store must read the disk, which takes time. The caller explains again when the store has finished.
        case later
    }

    /// What an explanation may show, and the facts that the dry run does not contain.
    package struct Terms: Sendable {
        /// Whether the query of a URL may be shown, as in the log.
        let tellsQuery: Bool
        /// Why the trust policies are not known.
        let trustProblem: String?

        package init(tellsQuery: Bool, trustProblem: String? = nil) {
            self.tellsQuery = tellsQuery
            self.trustProblem = trustProblem
        }
    }

    package enum Explained {
        case explanation(Explanation)
        case waiting(key: [UInt8])
    }

    package static func explain(
        _ heads: ExplainedHeads, context: ExchangeContext, _ terms: Terms, at now: Timestamp,
        lookUp: (_ key: [UInt8], _ onDisk: Bool) -> Answer
    ) -> Explained {
        if let refusal = heads.refusal { return .explanation(Explanation(refusal, at: now, tellsQuery: terms.tellsQuery)) }
        let request = heads.request
        var dryRun = DryRun(request, content: heads.requestContent, from: heads.client, context: context)
        var step = dryRun.start(body: body(of: request), at: now)
        while case .needsLookUp(let onDisk) = step {
            switch lookUp(dryRun.exchange.key, onDisk) {
            case .later: return .waiting(key: dryRun.exchange.key)
            case .found(let responses, let partials, let isComplete):
                step = dryRun.found(responses, partials: partials, isComplete: isComplete, at: now)
            }
        }
        return .explanation(Explanation(dryRun, at: now, terms))
    }

    /// Explains a saved response: whether Larder would store it if the origin sent it now, and how it would then handle the same request.
    package static func judge(
        _ heads: ExplainedHeads, context: ExchangeContext, _ terms: Terms, at now: Timestamp
    ) -> Explanation {
        if let refusal = heads.refusal { return Explanation(refusal, at: now, tellsQuery: terms.tellsQuery) }
        var dryRun = DryRun(heads.request, content: heads.requestContent, from: heads.client, context: context)
        var step = dryRun.start(body: body(of: heads.request), at: now)
        while case .needsLookUp = step { step = dryRun.found([], partials: [], isComplete: true, at: now) }
        guard case .asksOrigin = dryRun.conclusion, let response = heads.response else {
            return Explanation(dryRun, at: now, terms, judgesSaved: true)
        }
        _ = dryRun.answer(response, body: heads.responseBody.length, at: now)
        let origin = Explanation.Step(
            "origin", "the saved response, as if it arrived now: \(response.status.code)",
            values: [("status", .number(Int(response.status.code)))])
        return Explanation(
            dryRun, at: now, terms, judgesSaved: true, origin: origin,
            again: again(dryRun, heads, context, terms, now))
    }

    /// Explains how the same request is handled after the response is stored.
    private static func again(
        _ first: borrowing DryRun, _ heads: ExplainedHeads, _ context: ExchangeContext, _ terms: Terms, _ now: Timestamp
    ) -> Explanation.Step? {
        guard case .relays(stores: true) = first.conclusion, let stored = first.exchange.makeStoredResponse(body: .bytes([]))
        else {
            return nil
        }
        let second = explain(heads, context: context, terms, at: now) { _, _ in
            .found([stored], partials: [], isComplete: true)
        }
        guard case .explanation(let explanation) = second else { return nil }
        return Explanation.Step(
            "again", "the same request, after this response is stored",
            values: [("action", .string(explanation.action.rawValue))],
            steps: explanation.steps.filter { ["freshness", "decision", "request"].contains($0.name) })
    }

    private static func body(of request: RequestHead) -> BodyLength {
        // A head with invalid framing was refused earlier.
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
