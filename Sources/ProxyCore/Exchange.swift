import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// One request and its response, from the first byte to the last, as a pure state machine: events in, commands out.
///
/// States and the moves between them, with the file that decides:
///
///     Exchange+Request
///     idle ──requestHead──▶ authenticating ──credentialsJudged──▶ as from idle
///     idle ──requestHead──▶ counting ──requestCounted──▶ as from idle         (a rule has a limit)
///     idle, counting, connecting ──▶ awaitingApproval ──approvalAnswered──▶ as from idle   (a rule asks an approver)
///     idle ──requestHead──▶ gathering ──requestBodyEnded──▶ lookingUp            (the content is part of the key)
///     idle ──requestHead──▶ lookingUp
///     idle ──requestHead (CONNECT)──▶ connecting ──tunnelOpened──▶ tunnelling
///     idle ──requestHead (Upgrade)──▶ fetching ──protocolSwitched──▶ tunnelling  (after any other response: delivering)
///     idle ──requestHead (PURGE)──▶ purging ──purged──▶ delivering
///
///     Exchange+Replay
///     idle, gathering ──▶ lookingUpRecording ──recordingFound, recordingLookedUp──▶ delivering | lookingUp | fetching
///     lookingUp ──▶ comparing ──nearestFound──▶ delivering                       (neither recordings nor the store have it)
///
///     Exchange+LookUp
///     lookingUp ──lookedUp──▶ delivering                                         (fresh, or stale and allowed)
///               └───────────▶ joining | fetching                                 (nothing to use, or it is to be validated)
///     joining ──leadsFetch──▶ fetching   joining ──fetchShared, sharedFound──▶ delivering   joining ──fetchNotShared, fetchesAlone──▶ fetching
///     delivering (a stored response that a rule transforms) ──▶ transforming ──transformed──▶ delivering
///     lookingUp, fetching ──▶ judging ──recordedChainJudged──▶ delivering        (the origin cannot be contacted)
///
///     Exchange+Upstream
///     fetching ──upstreamHead──▶ delivering | checking   fetching ──upstreamFailed──▶ delivering (an error, or a stale response)
///     checking ──bodyChecked──▶ delivering
///
///     background fetches (Exchange+Store)
///     idle ──validates, fills──▶ fetching                                        (for the store, not for a client)
///     idle ──validates, fills──▶ counting ──requestCounted──▶ fetching           (a rule has a limit)
///
///     Here
///     delivering, tunnelling ──deliveryEnded──▶ finished   tunnelling ──tunnelRefused──▶ finished
///     any ──clientGone──▶ finished
///
/// `handle` shows every transition; Exchange+Heads writes the heads for the client. The driver executes the commands and decides nothing.
/// An exchange serves one request after another: `begin` replaces the state of each phase and keeps the storage of heads and key.
package struct Exchange: ~Copyable, Sendable {
    package enum State: UInt8, Sendable {
        case idle, authenticating, counting, awaitingApproval, gathering, lookingUpRecording, lookingUp, comparing, joining,
            fetching, checking,
            judging,
            transforming, connecting, purging, delivering, tunnelling, finished
    }

    package internal(set) var state: State = .idle
    package internal(set) var context: ExchangeContext
    /// Identifies this request in the log and in error responses.
    package internal(set) var id: UInt64 = 0
    /// Whether this exchange runs in the background: no client waits for the response, which is only for the store.
    package internal(set) var isBackground = false

    // Storage that is reused for the next request.

    /// The request's head. The parser or `HTTP2Stream` writes it here before the event `requestHead`, and completes it with the tunnel's
    /// origin if the request came in a tunnel. No other state of the exchange is set from outside.
    package var request = RequestHead()
    package internal(set) var response = ResponseHead()
    /// The primary key (RFC 9111 §2), for GET and HEAD.
    package internal(set) var key: [UInt8] = []
    /// The conditions by which rules distinguish responses under the key.
    package internal(set) var secondaryKey = SecondaryKey.none
    /// The request's directives. They are read from the head once the client is admitted; until then, they are those of the previous
    /// request.
    package internal(set) var directives = RequestDirectives(RequestHead())

    // The rules that match the request, and their effects.

    package internal(set) var matched = MatchedRules()
    package internal(set) var obligations = Obligations()

    // The state of each phase.

    package internal(set) var incoming = RequestState()
    package internal(set) var cache = CacheState()
    var found = StoredUnderKey()
    package internal(set) var changes = StoreChanges()
    package internal(set) var ranges = RangeState()
    package internal(set) var upstream = UpstreamState()
    package internal(set) var transform = TransformState()
    package internal(set) var delivery = Delivery()
    /// The result of the look-up in recordings; `nil` after the event `recordingsLeft`.
    package internal(set) var replayLookup: ReplayLookup?
    package internal(set) var trace = DecisionTrace()

    var memos = OriginMemos()
    /// Never set. A struct with a weak reference is passed by its address. Without a weak reference, calls that only read would copy the
    /// whole struct, about 1 KB.
    private weak var keepsItsAddress: ExchangeContext?

    /// The maximum capacity of `key` that is kept for the next request.
    private static let keyCapacity = 1024

    package init(context: ExchangeContext) {
        self.context = context
        context.complete(&obligations.cache)
    }

    /// Prepares the exchange for the next request, under the given settings; storage is kept.
    package mutating func begin(id: UInt64, context: ExchangeContext) {
        self.id = id
        if !matched.isEmpty || incoming.denial != nil || self.context !== context {
            obligations = Obligations()
            context.complete(&obligations.cache)
            if self.context !== context { memos = OriginMemos() }
            self.context = context
        }
        matched.removeAll()
        state = .idle
        isBackground = false
        request.removeAll()
        response.removeAll()
        if key.capacity > Exchange.keyCapacity { key = [] } else { key.removeAll(keepingCapacity: true) }
        if !secondaryKey.isEmpty { secondaryKey = .none }
        cache = CacheState()
        delivery = Delivery()
        trace = DecisionTrace()
        incoming.reset()
        found.reset()
        changes.reset()
        ranges.reset()
        upstream.reset()
        transform.reset()
        if replayLookup != nil { replayLookup = nil }
    }

    package mutating func handle(_ event: borrowing ExchangeEvent, into commands: inout CommandBuffer) {
        switch event {
        case .sender(let sender):
            guard state == .idle else { return }
            incoming.sender = sender

        case .requestHead(let body, let now):
            guard state == .idle else { return }
            incoming.body = body
            trace.receivedAt = now
            receiveRequest(at: now, into: &commands)

        case .requestRefused(let fault, let now):
            guard state == .idle else { return }
            trace.receivedAt = now
            _ = delivery.readConnection(of: request)
            fail(fault, at: now, into: &commands)

        case .requestRejected(let fault, let now):
            guard state == .idle else { return }
            trace.receivedAt = now
            forgetUnreadRequest()
            fail(fault, at: now, into: &commands)

        case .validates(let now):
            guard state == .idle, isBackground else { return }
            trace.receivedAt = now
            startBackground(at: now, into: &commands)

        case .fills(let now):
            guard state == .idle, isBackground, ranges.completion != nil else { return }
            trace.receivedAt = now
            startBackground(at: now, into: &commands)

        case .credentialsJudged(let judgement, let now):
            guard state == .authenticating else { return }
            credentialsJudged(judgement, at: now, into: &commands)

        case .requestCounted(let refusal, let now):
            guard state == .counting else { return }
            requestCounted(refusal, at: now, into: &commands)

        case .approvalAnswered(let answer, let now):
            guard state == .awaitingApproval else { return }
            approvalAnswered(answer, at: now, into: &commands)

        case .tunnelHeld(let now):
            guard state == .connecting else { return }
            askApprover(at: now, into: &commands)

        case .limitReached(let refusal):
            note(refusal)
            // The client has already received the head, so the fault is only for the log.
            if state == .delivering { note(.limitReached(refusal.word)) }

        case .requestBodyEnded(let content, let now):
            guard state == .gathering else { return }
            if usesRecordings { return askRecordings(at: now, into: &commands) }
            keyByContent(content)
            lookUp(at: now, into: &commands)

        case .requestBodyTooLong(let now):
            guard state == .gathering else { return }
            if usesRecordings { return passRecordingsBy(at: now, into: &commands) }
            lookUp(at: now, into: &commands)

        case .recordingFound(let recorded, let isLengthTold, let layer, _):
            guard state == .lookingUpRecording else { return }
            replay(recorded, isLengthTold: isLengthTold, layer: layer, into: &commands)

        case .recordingLookedUp(let found, let now):
            guard state == .lookingUpRecording else { return }
            replayLookup = found
            recordingLookedUp(at: now, into: &commands)

        case .recordingsLeft: replayLookup = nil

        case .nearestFound(let nearest, let now):
            guard state == .comparing, let fault = trace.fault else { return }
            replayLookup = .missed(reason: "not_recorded", nearest: nearest)
            fail(fault, at: now, into: &commands)

        case .partsFound(let stored, let inFlight):
            guard state == .lookingUp else { return }
            (found.partials, found.bodiesUnderWay) = (stored, inFlight)

        case .lookedUp(let candidates, let isComplete, let now):
            guard state == .lookingUp else { return }
            select(among: candidates, isComplete: isComplete, at: now, into: &commands)

        case .leadsFetch(let now):
            guard state == .joining else { return }
            cache.isLeading = true
            fetch(at: now, into: &commands)

        case .fetchShared(let shared, let length, let now):
            guard state == .joining else { return }
            if let length { cache.selectedLength = length }
            share(shared, at: now, into: &commands)

        case .sharedFound(let shared, let now):
            guard state == .joining else { return }
            sharedFound(shared, at: now, into: &commands)

        case .fetchAbandoned:
            guard state == .joining else { return }
            commands.append(.joinFetch)

        case .fetchesAlone(let now):
            guard state == .joining else { return }
            fetch(at: now, into: &commands)

        case .fetchNotShared(let now), .waitEnded(let now):
            guard state == .joining else { return }
            cache.collapsing = .failed
            if ranges.joinedBody != nil { ranges.joinedBody = nil }
            fetch(at: now, into: &commands)

        case .upstreamHead(let received, let body, let trust, let chain, let now):
            guard state == .fetching else { return }
            swap(&response, &received.head)
            upstream.trust = trust
            upstream.chain = chain
            upstream.body = body
            trace.upstreamStatus = response.status.code
            receiveResponse(at: now, into: &commands)

        case .protocolSwitched(let received, let now):
            guard state == .fetching else { return }
            swap(&response, &received.head)
            trace.upstreamStatus = response.status.code
            switchProtocols(at: now, into: &commands)

        case .serverRejected(let refusal): upstream.trustRefusal = refusal

        case .upstreamFailed(let fault, let now):
            switch state {
            case .gathering, .fetching, .connecting, .checking: upstreamFailed(fault, at: now, into: &commands)
            case .idle, .authenticating, .counting, .awaitingApproval, .lookingUpRecording, .lookingUp, .comparing, .joining,
                .judging,
                .transforming, .purging,
                .delivering,
                .tunnelling,
                .finished:
                break
            }

        case .completionRefused(let now):
            guard state == .delivering, ranges.completion != nil else { return }
            completionRefused(at: now, into: &commands)

        case .bodyChecked(let outcome, let made, let length, let now):
            guard state == .checking else { return }
            if let made { transform.end = made }
            bodyChecked(outcome, length: length, at: now, into: &commands)

        case .transformed(let end, let length, let now):
            guard state == .transforming else { return }
            if let length { cache.selectedLength = .known(length) }
            transform.end = end
            transformed(at: now, into: &commands)

        case .storageRefused(let reason):
            trace.storage = .refused(reason)
            // The response is too long for the store. But it shows that the stored responses that it would replace are outdated, so they
            // are removed.
            if reason == .bodyTooLarge { noteRemoved(changes.replaced) }

        // The stored responses that the new response replaces are removed, so that they are no longer found.
        case .bodyStored: noteRemoved(changes.replaced)

        case .wholeStored: if let partToCut { cut(partToCut) }

        case .connectionEnds: delivery.closeConnection()

        case .recordedChainJudged(let judgement, let now):
            guard state == .judging else { return }
            recordedChainJudged(judgement, at: now, into: &commands)

        case .purged(let count, let now):
            guard state == .purging else { return }
            purged(count, at: now, into: &commands)

        case .tunnelPlanned: noteTunnelOpens()

        case .tunnelOpened:
            guard state == .connecting else { return }
            state = .tunnelling
            trace.outcome = .tunnel
            trace.status = 200
            commands.append(.splice)

        case .tunnelRefused(let fault, _):
            guard state == .tunnelling else { return }
            // The client has already received status 200, so the fault is only for the log.
            note(fault)
            state = .finished
            commands.append(.finish)

        case .deliveryEnded(let isComplete, _):
            guard state == .delivering || state == .tunnelling else { return }
            if isBackground { return endBackground(isComplete ? .background : .failed, into: &commands) }
            if !isComplete { commands.append(.abortClient) }
            state = .finished
            if delivery.isCutFromRelayed { commands.append(.completeUpstream) }
            commands.append(.finish)

        case .clientGone:
            guard state != .finished, state != .idle else { return }
            state = .finished
            commands.append(.cancelUpstream)
            commands.append(.finish)
        }
    }
}

// MARK: End of the exchange

extension Exchange {
    mutating func fail(_ fault: Fault, at now: Timestamp, into commands: inout CommandBuffer) {
        if comparesRecordings(before: fault, into: &commands) { return }
        let fault = faultOfDenied(fault)
        if cache.selected != nil { cache.failsValidation = true }
        let row = note(fault)
        trace.status = row.status.code
        cache.selected = nil
        if cache.isLeading { commands.append(.releaseJoined) }
        if isBackground { return endBackground(.failed, into: &commands) }
        delivery.chooseGenerated(row.status, closes: row.closesConnection)
        state = .delivering
        commands.append(.sendError)
    }

    @discardableResult
    private mutating func note(_ fault: Fault) -> GatewayError {
        let row = gatewayError(fault)
        trace.fault = fault
        trace.outcome = row.origin == .policy ? .denied : .failed
        return row
    }

    func gatewayError(_ fault: Fault) -> GatewayError {
        cache.failsValidation ? GatewayError(fault).ofValidation : GatewayError(fault)
    }
}

// MARK: Access for the log

extension Exchange {
    /// Lends the heads of the request and the response to the log. The function is mutating so that nothing is copied.
    package mutating func withHeads(_ body: (_ request: borrowing RequestHead, _ response: borrowing ResponseHead) -> Void) {
        body(request, response)
    }

    /// The request's place in a distributed trace; `nil` if the request is not traced.
    package var traceContext: TraceContext? {
        guard let sampling = context.tracing else { return nil }
        let trace = TraceContext(request.fields, id: id, sampling)
        return trace.isSampled ? trace : nil
    }

    /// Lends the trace, the request's head and its key to the log. The function is mutating so that nothing is copied.
    package mutating func withTraced(
        _ body: (_ trace: borrowing DecisionTrace, _ request: borrowing RequestHead, _ key: Span<UInt8>) -> Void
    ) {
        body(trace, request, key.span)
    }

    /// The name of the rule for the log: the rule that denied the request, limits it or would deny it; otherwise the last rule that
    /// matched; empty if none matched.
    package var decidingRuleName: String {
        if matched.isEmpty { return "" }
        if let index = trace.decidingRule { return matched[Int(index)].name }
        if case .rule(let index) = trace.reported { return matched[Int(index)].name }
        return matched[matched.count - 1].name
    }

    /// The conditions in the client's request, for the trace.
    package var clientConditions: RequestConditions { RequestConditions(in: request.fields) }

    var overrides: RuleOverrides {
        RuleOverrides(of: trace, selected: cache.selected, facts: cache.facts, matched: matched)
    }

    /// The origin's directives that rules overrode, with those rules.
    package var ruleOverrides: [(rule: String, word: StaticString)] { overrides.all }
}
