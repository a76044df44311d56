import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// One request and its answer, from the first byte to the last, as a pure state machine: events in, commands out.
///
/// States and the moves between them:
///
///     idle ──requestHead──▶ authenticating ──credentialsJudged──▶ as from idle    (Exchange+Credentials)
///     idle ──requestHead──▶ gathering ──requestBodyEnded──▶ lookingUp             (the content is part of the key)
///     idle ──requestHead──▶ lookingUp ──lookedUp──▶ delivering                    (fresh, or stale and allowed)
///                                  └──────────────▶ joining | fetching            (nothing to use, or to be validated)
///     joining ──leadsFetch──▶ fetching   joining ──fetchShared──▶ delivering   joining ──fetchNotShared, fetchesAlone──▶ fetching
///     delivering, where rules want something made of what is stored: ──▶ transforming ──transformed──▶ delivering  (Exchange+Transforming)
///     fetching ──upstreamHead──▶ delivering | checking   fetching ──upstreamFailed──▶ delivering (an error, or stale)
///     checking ──bodyChecked──▶ delivering
///     idle, gathering ──▶ lookingUpRecording ──recordingLookedUp──▶ delivering | lookingUp | fetching   (recordings are asked: Exchange+Replay)
///     lookingUp ──▶ comparing ──nearestFound──▶ delivering    (neither recordings nor the store have it: what comes near is told)
///     lookingUp, fetching ──▶ judging ──recordedChainJudged──▶ delivering       (the origin cannot be asked: Exchange+RecordedChain)
///     idle ──requestHead (CONNECT)──▶ connecting ──tunnelOpened──▶ tunnelling
///     idle ──requestHead (Upgrade)──▶ fetching ──protocolSwitched──▶ tunnelling  (any other answer is one: delivering)
///     idle ──requestHead (PURGE)──▶ purging ──purged──▶ delivering
///     delivering, tunnelling ──deliveryEnded──▶ finished   tunnelling ──tunnelRefused──▶ finished
///     any ──clientGone──▶ finished
///     idle ──validates──▶ fetching                                       (for no client: Exchange+Background)
///     idle ──fills──▶ fetching                                           (for no client: Fill)
///
/// `handle` shows every transition. The driver carries the commands out; it decides nothing.
/// An exchange is used for one request after the other: `begin` keeps the storage.
package struct Exchange: ~Copyable, Sendable {
    package enum State: UInt8, Sendable {
        case idle, authenticating, gathering, lookingUpRecording, lookingUp, comparing, joining, fetching, checking, judging,
            transforming,
            connecting, purging,
            delivering, tunnelling, finished
    }

    package internal(set) var state: State = .idle
    package internal(set) var context: ExchangeContext
    /// Names this request in the log, in errors and to the client's operator.
    package internal(set) var id: UInt64 = 0
    /// The parser writes it here, before `requestHead`. Nothing else of the exchange is set from outside.
    package var request = RequestHead()
    package internal(set) var response = ResponseHead()
    /// The mark of the trust policy that accepted the server; 0 without TLS.
    package internal(set) var upstreamTrust: UInt64 = 0
    /// What the server showed, to be kept with what is stored; `nil` without TLS.
    package internal(set) var upstreamChain: RecordedChain?
    package internal(set) var requestBody: BodyLength = .none
    package internal(set) var responseBody: BodyLength = .none
    /// The primary key (RFC 9111 §2), for GET and HEAD.
    package internal(set) var key: [UInt8] = []
    /// What rules have tell apart the responses under it.
    package internal(set) var secondaryKey = SecondaryKey.none
    package internal(set) var matched = MatchedRules()
    package internal(set) var obligations = Obligations()
    package internal(set) var directives = RequestDirectives(RequestHead())
    /// The stored response that is delivered, or that is being validated.
    package internal(set) var selected: StoredResponse?
    /// The stored responses that a 304, or a 200 to HEAD, has brought up to date, oldest first.
    package internal(set) var freshened: [Freshened] = []
    /// The stored responses that are to go, after a 304 that forbids storing, or what shows that they are outdated.
    package internal(set) var removed: [StoredResponse] = []
    /// What is stored of an older representation than the response, which is to be stored: when that has come it goes, be that kept or not.
    var replaced: [StoredResponse] = []
    /// How many milliseconds the origin server asks to wait after the error that it sent to a background fetch.
    package internal(set) var retryAfter: Int64?
    /// The responses stored under the key, newest first: a 304 may identify several of them (RFC 9111 §4.3.4).
    var siblings: [StoredResponse] = []
    package internal(set) var invalidatedKeys: [[UInt8]] = []
    package internal(set) var facts: ReuseFacts?
    package internal(set) var delivery = Delivery()
    package internal(set) var trace = DecisionTrace()
    package internal(set) var requestTime = Timestamp(milliseconds: 0)
    /// Of the https origin that was asked about last, under the same context.
    var trustMemo: TrustMemo?
    /// The http origin that was found last to be one that may be asked, under the same context.
    var plaintextMemo: OriginMemo?
    var isValidating = false
    /// The origin is asked for another protocol on the connection.
    package internal(set) var isForSwitch = false
    var isCollapsed = false
    var collapsing = CacheStatus.Collapsing.none
    /// How much of the joined response is to come, where its body is still on its way.
    package internal(set) var selectedLength: BodyLength?
    /// The length of the whole of which the client may get a part: of a body that was gathered to be checked, or that comes whole in
    /// place of the part.
    var cutLength: UInt64?
    var isLeading = false
    /// Told for a method that is not known here.
    var clientAddress: IPAddress?
    /// Who asks has to say who that is, and prove it.
    var needsCredentials = false
    /// What the client says of that, where it has to.
    package internal(set) var credentials: BasicCredentials?
    /// The name of who asks, once it is proved; empty where nobody had to say. For the log.
    package internal(set) var user: [UInt8] = []
    /// What a PURGE is to remove.
    package internal(set) var purgedKeys: [[UInt8]] = []
    /// How much it has removed.
    var purgedCount: Int?
    /// What is stored in part under the key.
    var partials: [PartialResponse] = []
    /// What is under way to the store for the key, where the request is for a part.
    var bodiesUnderWay: [BodyUnderWay] = []
    /// The one of these that is read along.
    package internal(set) var joinedBody: BodyUnderWay?
    /// How the request is answered from what is stored in part and from the origin.
    package internal(set) var completion: RangeCompletion?
    /// Where the response is a part that is stored: its place, and the head of the whole.
    package internal(set) var part: Part?
    var wholeHead: ResponseHead?
    /// What the content is taken for of which something is made.
    package internal(set) var transformSource: TransformPlan.Source?
    /// How that ended.
    package internal(set) var transformEnd: TransformEnd?
    /// The head of what was made of the origin's body.
    var variantHead: ResponseHead?
    /// How the origin's body was continued, where it broke off.
    var continuation: BodyResumption?
    /// No client waits for it: what it brings is for the store.
    package internal(set) var isBackground = false
    /// Where the fault is that the server is not trusted.
    package internal(set) var trustRefusal: TrustRefusal?
    /// What is told unless the chain that was recorded with `selected` lets it be used.
    var faultUnlessAccepted: Fault?
    /// What recordings have for the request, until `recordingsLeft`.
    package internal(set) var replayLookup: ReplayLookup?
    /// A fault, if one comes, has kept a stored response from being validated that may not be used without.
    var failsValidation = false
    /// Never set. What holds a weak reference is handed on by its address alone: without one, each call that only reads is given
    /// a copy of all the thousand bytes.
    private weak var keepsItsAddress: ExchangeContext?

    /// The capacity of `key` that is kept for the next request.
    private static let keyCapacity = 1024

    package init(context: ExchangeContext) {
        self.context = context
        context.complete(&obligations.cache)
    }

    /// Makes the exchange ready for the next request, under the settings given; storage is kept.
    package mutating func begin(id: UInt64, context: ExchangeContext) {
        self.id = id
        if !matched.isEmpty || self.context !== context {
            obligations = Obligations()
            context.complete(&obligations.cache)
            if self.context !== context { forgetOrigins() }
            self.context = context
        }
        upstreamTrust = 0
        if upstreamChain != nil { upstreamChain = nil }
        if faultUnlessAccepted != nil { faultUnlessAccepted = nil }
        matched.removeAll()
        state = .idle
        request.removeAll()
        response.removeAll()
        requestBody = .none
        responseBody = .none
        if key.capacity > Exchange.keyCapacity { key = [] } else { key.removeAll(keepingCapacity: true) }
        if !secondaryKey.isEmpty { secondaryKey = .none }
        selected = nil
        if !freshened.isEmpty { freshened = [] }
        if !removed.isEmpty { removed = [] }
        if retryAfter != nil { retryAfter = nil }
        if !replaced.isEmpty { replaced = [] }
        if !invalidatedKeys.isEmpty { invalidatedKeys = [] }
        if !siblings.isEmpty { siblings = [] }
        facts = nil
        delivery = Delivery()
        trace = DecisionTrace()
        isValidating = false
        isForSwitch = false
        isCollapsed = false
        collapsing = .none
        selectedLength = nil
        cutLength = nil
        isLeading = false
        clientAddress = nil
        needsCredentials = false
        if credentials != nil { credentials = nil }
        if !user.isEmpty { user = [] }
        purgedCount = nil
        if !purgedKeys.isEmpty { purgedKeys = [] }
        continuation = nil
        isBackground = false
        failsValidation = false
        if !partials.isEmpty { partials = [] }
        if !bodiesUnderWay.isEmpty { bodiesUnderWay = [] }
        if joinedBody != nil { joinedBody = nil }
        if completion != nil { completion = nil }
        part = nil
        if wholeHead != nil { wholeHead = nil }
        if trustRefusal != nil { trustRefusal = nil }
        transformSource = nil
        if transformEnd != nil { transformEnd = nil }
        if variantHead != nil { variantHead = nil }
    }

    package mutating func handle(_ event: borrowing ExchangeEvent, into commands: inout CommandBuffer) {
        switch event {
        case .sender(let sender):
            guard state == .idle else { return }
            clientAddress = sender.address
            user = sender.user
            needsCredentials = sender.needsCredentials

        case .requestHead(let body, let now):
            guard state == .idle else { return }
            requestBody = body
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
            validate(at: now, into: &commands)

        case .fills(let now):
            guard state == .idle, isBackground, completion != nil else { return }
            trace.receivedAt = now
            startFill(at: now, into: &commands)

        case .credentialsJudged(let judgement, let now):
            guard state == .authenticating else { return }
            credentialsJudged(judgement, at: now, into: &commands)

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
            (partials, bodiesUnderWay) = (stored, inFlight)

        case .lookedUp(let candidates, let isComplete, let now):
            guard state == .lookingUp else { return }
            select(among: candidates, isComplete: isComplete, at: now, into: &commands)

        case .leadsFetch(let now):
            guard state == .joining else { return }
            isLeading = true
            fetch(at: now, into: &commands)

        case .fetchShared(let shared, let length, let now):
            guard state == .joining else { return }
            if let length { selectedLength = length }
            share(shared, at: now, into: &commands)

        case .fetchAbandoned:
            guard state == .joining else { return }
            commands.append(.joinFetch)

        case .fetchesAlone(let now):
            guard state == .joining else { return }
            fetch(at: now, into: &commands)

        case .fetchNotShared(let now), .waitEnded(let now):
            guard state == .joining else { return }
            collapsing = .failed
            if joinedBody != nil { joinedBody = nil }
            fetch(at: now, into: &commands)

        case .upstreamHead(let received, let body, let trust, let chain, let now):
            guard state == .fetching else { return }
            swap(&response, &received.head)
            upstreamTrust = trust
            upstreamChain = chain
            responseBody = body
            trace.upstreamStatus = response.status.code
            receiveResponse(at: now, into: &commands)

        case .protocolSwitched(let received, let now):
            guard state == .fetching else { return }
            swap(&response, &received.head)
            trace.upstreamStatus = response.status.code
            switchProtocols(at: now, into: &commands)

        case .serverRejected(let refusal): trustRefusal = refusal

        case .upstreamFailed(let fault, let now):
            switch state {
            case .gathering, .fetching, .connecting, .checking: upstreamFailed(fault, at: now, into: &commands)
            case .idle, .authenticating, .lookingUpRecording, .lookingUp, .comparing, .joining, .judging, .transforming, .purging,
                .delivering,
                .tunnelling,
                .finished:
                break
            }

        case .completionRefused(let now):
            guard state == .delivering, completion != nil else { return }
            completionRefused(at: now, into: &commands)

        case .bodyChecked(let outcome, let transform, let length, let now):
            guard state == .checking else { return }
            if let transform { transformEnd = transform }
            bodyChecked(outcome, length: length, at: now, into: &commands)

        case .transformed(let end, let length, let now):
            guard state == .transforming else { return }
            if let length { selectedLength = .known(length) }
            transformEnd = end
            transformed(at: now, into: &commands)

        case .storageRefused(let reason):
            trace.storage = .refused(reason)
            // What a response that is too long for the store would have replaced does not hold any more.
            if reason == .bodyTooLarge { noteRemoved(replaced) }

        // What it replaces is in `removed`, lest it be found until then.
        case .bodyStored: noteRemoved(replaced)

        case .wholeStored: if let partToCut { cut(partToCut) }

        case .connectionEnds: delivery.closeConnection()

        case .recordedChainJudged(let judgement, let now):
            guard state == .judging else { return }
            recordedChainJudged(judgement, at: now, into: &commands)

        case .purged(let count, let now):
            guard state == .purging else { return }
            purged(count, at: now, into: &commands)

        case .tunnelOpened:
            guard state == .connecting else { return }
            state = .tunnelling
            trace.outcome = .tunnel
            trace.status = 200
            commands.append(.splice)

        case .tunnelRefused(let fault, _):
            guard state == .tunnelling else { return }
            // The client's 200 has left: this is for the log.
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

// MARK: Ends

extension Exchange {
    mutating func fail(_ fault: Fault, at now: Timestamp, into commands: inout CommandBuffer) {
        if comparesRecordings(before: fault, into: &commands) { return }
        if selected != nil { failsValidation = true }
        let row = note(fault)
        trace.status = row.status.code
        selected = nil
        if isLeading { commands.append(.releaseJoined) }
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
        failsValidation ? GatewayError(fault).ofValidation : GatewayError(fault)
    }
}
