import HTTPCaching
import HTTPMessage

/// An exchange that is thought through and not carried out: the real `Exchange`, with answers for the store's and none for the
/// origin's, so that what it says cannot differ from what the proxy does.
///
///     start ──▶ needs(look-up) ──found──▶ needs(look-up on disk) | ended
///     ended as asksOrigin ──answer──▶ ended
package struct DryRun: ~Copyable {
    package enum Step: Sendable {
        /// Find `exchange.key`, in memory or on the disk too; answered by `found`.
        case needsLookUp(onDisk: Bool)
        case ended
    }

    /// Where the exchange leads, as far as it can be told without sending anything.
    package enum Conclusion: Sendable {
        case undecided
        case servesStored
        case asksOrigin(collapsing: Bool)
        case opensTunnel
        /// With an error of our own.
        case refuses
        /// OPTIONS or TRACE.
        case answersItself
        /// The origin's response passes to the client.
        case relays(stores: Bool)
    }

    package private(set) var exchange: Exchange
    private let content: [UInt8]?
    package private(set) var conclusion = Conclusion.undecided
    /// What the store has under the key, newest first.
    package private(set) var candidates: [StoredResponse] = []

    /// - Parameter content: the request's, where it is known.
    package init(_ request: RequestHead, content: [UInt8]? = nil, context: ExchangeContext) {
        self.content = content
        exchange = Exchange(context: context)
        exchange.begin(id: 0, context: context)
        exchange.request = request
        var commands = CommandBuffer()
        // Whoever asks is on this machine.
        exchange.handle(.sender(RequestSender(address: .loopbackIPv4)), into: &commands)
    }

    package mutating func start(body: BodyLength = .none, at now: Timestamp) -> Step {
        handle(.requestHead(body: body, at: now), at: now)
    }

    /// - Parameter partials: What is stored in part.
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

    /// The origin answers with this head, and a body of which nothing but its length is known.
    package mutating func answer(_ response: ResponseHead, body: BodyLength, at now: Timestamp) -> Step {
        // Its server is taken for one that is trusted.
        handle(.upstreamHead(ReceivedHead(response), body: body, trust: exchange.directives.trust, at: now), at: now)
    }

    private mutating func handle(_ event: consuming ExchangeEvent, at now: Timestamp) -> Step {
        var commands = CommandBuffer()
        exchange.handle(event, into: &commands)
        for index in 0..<commands.count {
            switch commands[index] {
            case .lookUp(let onDisk): return .needsLookUp(onDisk: onDisk)
            case .joinFetch, .joinBody:
                // Whoever comes first leads; waiting for another's fetch is said beside.
                conclusion = .asksOrigin(collapsing: true)
                return handle(.fetchesAlone(at: now), at: now)
            case .fetch: if case .asksOrigin = conclusion {} else { conclusion = .asksOrigin(collapsing: false) }
            case .sendStored: conclusion = .servesStored
            case .relay(let store):
                if store, let part = exchange.partToCut { exchange.cut(part) }
                conclusion = .relays(stores: store)
            case .sendChecked(let store): conclusion = .relays(stores: store)
            case .gatherRequestBody:
                guard let content else { break }
                let isTooLong = content.count > exchange.context.limits.keyedBodyLength
                return handle(isTooLong ? .requestBodyTooLong(at: now) : .requestBodyEnded(content: content, at: now), at: now)
            case .judgeRecordedChain: return handle(.recordedChainJudged(judgement(at: now), at: now), at: now)
            case .transform: return handle(.transformed(nil, at: now), at: now)
            case .checkBody: return handle(.bodyChecked(.passed, length: nil, at: now), at: now)
            case .sendError: conclusion = .refuses
            case .sendLocal: conclusion = .answersItself
            // How many it would be is for the purge itself to say.
            case .purge: return handle(.purged(count: 0, at: now), at: now)
            case .openTunnel:
                conclusion = .opensTunnel
                // What the gate would say.
                guard exchange.obligations.cache.isDisconnected else { break }
                return handle(.upstreamFailed(.offlineMiss(detail: "tunnel"), at: now), at: now)
            // Nobody is asked who it is.
            case .judgeCredentials: break
            // What recordings have is for whoever reads them to say.
            case .lookUpRecording, .findNearest, .beginRecording, .relayRecorded: break
            // What has effects elsewhere is left undone here.
            case .validateInBackground, .fillRest, .complete, .discardUpstreamBody, .freshen, .remove, .releaseJoined,
                .invalidate,
                .splice, .relaySwitched, .completeUpstream, .cancelUpstream, .abortClient, .finish:
                break
            }
        }
        return .ended
    }

    private func judgement(at now: Timestamp) -> ChainJudgement {
        guard let chain = exchange.cache.selected?.chain, let judge = exchange.context.judgeChain else { return .unjudged }
        return judge(chain, String(decoding: exchange.originHost, as: UTF8.self), exchange.originPort, now)
    }
}
