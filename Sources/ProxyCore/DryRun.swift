import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// Runs an exchange without sending anything. It uses the real `Exchange`, with responses from the store but none from the origin, so its
/// result cannot differ from the proxy's behavior.
///
///     start ──▶ needs(look-up) ──found──▶ needs(look-up on disk) | ended
///     ended as asksOrigin ──answer──▶ ended
package struct DryRun: ~Copyable {
    package enum Step: Sendable {
        /// The caller must look up `exchange.key`, in memory or also on disk, and continue with `found`.
        case needsLookUp(onDisk: Bool)
        case ended
    }

    /// The result of an exchange, as far as it can be known without sending anything.
    package enum Conclusion: Sendable {
        case undecided
        case servesStored
        case asksOrigin(collapsing: Bool)
        case opensTunnel
        /// Larder generates an error response.
        case refuses
        /// Larder itself responds, for example to OPTIONS or TRACE.
        case answersItself
        /// The origin's response is relayed to the client.
        case relays(stores: Bool)
    }

    package private(set) var exchange: Exchange
    private let content: [UInt8]?
    package private(set) var conclusion = Conclusion.undecided
    /// Whether the request would wait for an approver.
    package private(set) var asksApprover = false
    /// The stored responses under the key, newest first.
    package private(set) var candidates: [StoredResponse] = []

    /// - Parameter content: the request's content, if known.
    package init(_ request: RequestHead, content: [UInt8]? = nil, from client: ClientFacts, context: ExchangeContext) {
        self.content = content
        exchange = Exchange(context: context)
        exchange.begin(id: 0, context: context)
        exchange.request = request
        var commands = CommandBuffer()
        exchange.handle(.sender(RequestSender(client)), into: &commands)
    }

    package mutating func start(body: BodyLength = .none, at now: Timestamp) -> Step {
        handle(.requestHead(body: body, at: now), at: now)
    }

    /// - Parameter partials: Responses that are stored in part.
    package mutating func found(
        _ responses: [StoredResponse], partials: [PartialResponse], isComplete: Bool, at now: Timestamp
    ) -> Step {
        candidates = responses
        if !partials.isEmpty {
            var commands = CommandBuffer()
            exchange.handle(.partsFound(partials, inFlight: []), into: &commands)
        }
        return handle(.lookedUp(responses, isComplete: isComplete, at: now), at: now)
    }

    /// The origin responds with this head, and a body of which only the length is known.
    package mutating func answer(_ response: ResponseHead, body: BodyLength, at now: Timestamp) -> Step {
        // The dry run assumes that the origin's server is trusted.
        handle(.upstreamHead(ReceivedHead(response), body: body, trust: exchange.directives.trust, at: now), at: now)
    }

    private mutating func handle(_ event: consuming ExchangeEvent, at now: Timestamp) -> Step {
        var commands = CommandBuffer()
        exchange.handle(event, into: &commands)
        for index in 0..<commands.count {
            switch commands[index] {
            case .lookUp(let onDisk): return .needsLookUp(onDisk: onDisk)
            case .joinFetch, .joinBody:
                // A dry run does not wait for another request's fetch. `collapsing` reports that a real request may wait.
                conclusion = .asksOrigin(collapsing: true)
                return handle(.fetchesAlone(at: now), at: now)
            case .fetch:
                if let fault = denial(byTunnel: false) { return handle(.upstreamFailed(fault, at: now), at: now) }
                if case .asksOrigin = conclusion {} else { conclusion = .asksOrigin(collapsing: false) }
            case .sendStored: conclusion = .servesStored
            case .relay(let store):
                if store, let part = exchange.partToCut { exchange.cut(part) }
                conclusion = .relays(stores: store)
            case .sendChecked(let store): conclusion = .relays(stores: store)
            // A dry run does not count requests under limits.
            case .countRequest: return handle(.requestCounted(nil, at: now), at: now)
            // A dry run asks no approver. It assumes that the request is allowed.
            case .askApprover:
                asksApprover = true
                return handle(.approvalAnswered(.allowed, at: now), at: now)
            case .gatherRequestBody:
                guard let content else { break }
                let isTooLong = content.count > exchange.context.limits.keyedBodyLength
                return handle(isTooLong ? .requestBodyTooLong(at: now) : .requestBodyEnded(content: content, at: now), at: now)
            case .judgeRecordedChain: return handle(.recordedChainJudged(judgement(at: now), at: now), at: now)
            case .transform: return handle(.transformed(nil, at: now), at: now)
            case .checkBody: return handle(.bodyChecked(.passed, length: nil, at: now), at: now)
            case .sendError: conclusion = .refuses
            case .sendLocal: conclusion = .answersItself
            // A dry run removes nothing, so it counts no removed responses.
            case .purge: return handle(.purged(count: 0, at: now), at: now)
            case .openTunnel:
                if let fault = denial(byTunnel: true) { return handle(.upstreamFailed(fault, at: now), at: now) }
                if exchange.needsApproval { return handle(.tunnelHeld(at: now), at: now) }
                conclusion = .opensTunnel
                // A disconnected cache opens no tunnel: the fault is the same as that of the offline check.
                guard exchange.obligations.cache.isDisconnected else { break }
                return handle(.upstreamFailed(.offlineMiss(detail: "tunnel"), at: now), at: now)
            // A dry run requests no credentials.
            case .judgeCredentials: break
            // A dry run ignores recordings here: its caller looks them up.
            case .lookUpRecording, .findNearest, .beginRecording, .relayRecorded: break
            // A dry run executes no command that only affects other parts of Larder.
            case .validateInBackground, .fillRest, .complete, .discardUpstreamBody, .freshen, .remove, .releaseJoined,
                .invalidate,
                .splice, .relaySwitched, .completeUpstream, .cancelUpstream, .abortClient, .finish:
                break
            }
        }
        return .ended
    }

    /// The fault with which the transport would refuse the request before a name look-up; `nil` for none.
    private func denial(byTunnel: Bool) -> Fault? {
        exchange.context.denial(
            exchange.request.target.scheme, String(decoding: exchange.originHost, as: UTF8.self), exchange.originPort, byTunnel)
    }

    private func judgement(at now: Timestamp) -> ChainJudgement {
        guard let chain = exchange.cache.selected?.chain, let judge = exchange.context.judgeChain else { return .unjudged }
        return judge(chain, String(decoding: exchange.originHost, as: UTF8.self), exchange.originPort, now)
    }
}
