import HTTPCaching
import HTTPMessage

/// The modes that record or replay.
///
/// These modes do not use the store or other requests' fetches, unless the store is the last replay source. A recording holds the origin's
/// response to each request, and a replayed response comes from a recording.
///
///     idle, gathering ──▶ lookingUpRecording ──recordingFound──▶ delivering
///                                  └──recordingLookedUp──▶ delivering (an error, or a body that breaks off) | lookingUp | fetching
extension Exchange {
    /// The mode for this request: the mode that a rule sets, otherwise the active mode.
    package var mode: ExchangeContext.Mode { obligations.mode.map(context.mode.replaced) ?? context.mode }

    /// Whether recordings are looked up or made.
    package var usesRecordings: Bool {
        switch mode {
        case .live, .offline: false
        case .replay, .record, .recordMissing, .refresh, .diff: true
        }
    }

    /// Applies the mode that a rule has set for the request: this mode decides whether the request may be forwarded, instead of the active
    /// mode.
    mutating func applyMode() {
        if obligations.mode != nil { obligations.cache.isDisconnected = mode.isClosed }
    }

    private var isRead: Bool { request.method == .get || request.method == .head }

    /// Whether the exchange is being recorded.
    private var isRecorded: Bool { if case .recorded? = trace.recording { true } else { false } }

    /// Whether the request is recorded and all its content has already been received. If so, Expect is not forwarded.
    var isRecordedWithContent: Bool { trace.recording == .recorded(isContentHeld: true) }

    /// Whether request content that is too long to be held in memory is still read to its end. The look-up then needs only its digest.
    package var isLongContentDigested: Bool { mode == .replay }

    /// Whether the recording needs the whole response, even if the client requests a part or already has it. The client's response is made
    /// from the whole response.
    package var wantsWholeRecorded: Bool { mode.records && isRead }

    /// Whether the rest of the body is still recorded after the client has left.
    package var isRecordedToTheEnd: Bool { if case .known = upstream.body { true } else { false } }

    /// The maximum length of request content that is gathered, in bytes.
    package var gatheredRequestLimit: Int {
        usesRecordings ? context.limits.recordedRequestLength : context.limits.keyedBodyLength
    }
}

// MARK: The request

extension Exchange {
    mutating func gatherForRecordings(at now: Timestamp, into commands: inout CommandBuffer) {
        if incoming.body == .none || incoming.body == .known(0) { return askRecordings(at: now, into: &commands) }
        state = .gathering
        commands.append(.gatherRequestBody)
    }

    /// Looks up the request in the recordings. Called when the whole request is known.
    mutating func askRecordings(at now: Timestamp, into commands: inout CommandBuffer) {
        if !mode.asksRecordings { return fetchRecorded(isContentHeld: true, at: now, into: &commands) }
        state = .lookingUpRecording
        commands.append(.lookUpRecording)
    }

    /// Forwards a request whose content is too long to be held in memory. The content is forwarded as it arrives, without a look-up in
    /// recordings.
    mutating func passRecordingsBy(at now: Timestamp, into commands: inout CommandBuffer) {
        fetchRecorded(isContentHeld: false, at: now, into: &commands)
    }

    mutating func fetchRecorded(isContentHeld: Bool, at now: Timestamp, into commands: inout CommandBuffer) {
        if asksBeforeFetch { return askApprover(beforeFetch: isContentHeld, at: now, into: &commands) }
        trace.recording = .recorded(isContentHeld: isContentHeld)
        commands.append(.beginRecording)
        fetch(at: now, into: &commands)
    }
}

// MARK: Results of the look-up

extension Exchange {
    mutating func replay(
        _ recorded: StoredResponse, isLengthTold: Bool, layer: UInt8, into commands: inout CommandBuffer
    ) {
        if !isLengthTold { cache.selectedLength = .unknown }
        trace.recording = .replayed(layer: layer)
        trace.outcome = .replayed
        cache.selected = recorded
        deliverAsItIs(into: &commands)
    }

    mutating func recordingLookedUp(at now: Timestamp, into commands: inout CommandBuffer) {
        switch replayLookup {
        case .broken(let recorded, let length, let fault, let layer):
            trace.recording = .replayed(layer: layer)
            deliverBroken(recorded, length, by: fault, into: &commands)
        case .failed(let fault, let layer):
            trace.recording = .replayed(layer: layer)
            fail(fault, at: now, into: &commands)
        case .missed(let reason, let nearest): miss(reason, nearest: nearest, at: now, into: &commands)
        case .damaged, nil: fail(.recordingDamaged, at: now, into: &commands)
        }
    }

    private mutating func miss(
        _ reason: StaticToken, nearest: NearMissReport?, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        if mode.records { return fetchRecorded(isContentHeld: true, at: now, into: &commands) }
        trace.recording = .missed
        if context.replaysStore, isRead {
            // The store is looked up first. Near misses are searched for only if the store has no response.
            replayLookup = nil
            return lookUp(at: now, into: &commands)
        }
        fail(.offlineMiss(detail: reason), at: now, into: &commands)
    }

    /// Delivers a truncated recording: its head and the recorded content; then the message breaks off. Larder makes no partial response and
    /// no 304 from a truncated recording.
    private mutating func deliverBroken(
        _ recorded: StoredResponse, _ length: BodyLength, by fault: Fault, into commands: inout CommandBuffer
    ) {
        trace.fault = fault
        trace.outcome = .failed
        cache.selected = recorded
        cache.selectedLength = length
        delivery.chooseRelayed(recorded.head, body: length)
        if obligations.limits, refusesDelivery(into: &commands) { return }
        trace.status = delivery.status.code
        state = .delivering
        commands.append(.sendStored)
    }

    /// Starts the search for near misses, if the store was the last replay source and has no response.
    mutating func comparesRecordings(before fault: Fault, into commands: inout CommandBuffer) -> Bool {
        guard case .offlineMiss = fault, trace.recording == .missed, replayLookup == nil else { return false }
        trace.fault = fault
        state = .comparing
        commands.append(.findNearest)
        return true
    }
}

// MARK: The response

extension Exchange {
    /// Called when the origin has responded: delivers the part that the client requested; the whole is recorded.
    mutating func deliverRecorded(into commands: inout CommandBuffer) {
        trace.outcome = isRecorded ? .recorded : .bypass
        if isRead, response.status == .ok, case .known(let whole) = upstream.body {
            upstream.wholeLength = whole
            delivery.chooseTransformed(
                response, whole: request.method == .head ? nil : whole, for: request,
                isUnmodified: Validation.isUnmodified(response.fields, for: request.fields, at: trace.receivedAt))
        } else {
            delivery.chooseRelayed(response, body: upstream.body)
        }
        trace.status = delivery.status.code
        state = .delivering
        commands.append(isRecorded ? .relayRecorded : .relay(store: false))
    }
}

// MARK: Recorded data

extension Exchange {
    /// The bytes of the request's whole head, with the request line. They are the key under which replayed responses are kept in memory.
    package var requestFieldBytes: [UInt8] { request.fields.bytes }

    /// The request that is recorded or looked up in recordings, without its content.
    package struct RecordedRequest: Sendable {
        package let method: [UInt8]
        package let uri: [UInt8]
        package let fields: Fields
    }

    /// - Parameter isForRecording: The recording needs the whole response, so conditions and ranges are left out.
    package mutating func recordedRequest(isForRecording: Bool) -> RecordedRequest {
        var uri: [UInt8] = []
        CacheKey.write(request, into: &uri)
        var fields = request.fields.alone
        if isForRecording, wantsWholeRecorded {
            fields.removeCacheConditions()
            fields.remove(.range)
            fields.remove(.ifRange)
        }
        return RecordedRequest(method: Self.bytes(request.span(of: request.methodName)), uri: uri, fields: fields)
    }

    /// The head of the origin's response, for a recording.
    package mutating func recordedHead() -> (status: Status, reason: [UInt8], fields: Fields) {
        (response.status, Self.bytes(response.span(of: response.reason)), response.fields.alone)
    }

    /// Whether shared caches must not store the response.
    package var isResponseUnshared: Bool { ResponseDirectives(response.fields, targets: .none).forbidsSharing }

    /// The fields of an interim response that are recorded. Responses with status 100 or 102 apply only to one connection, so they are not
    /// recorded.
    package static func recordedHints(_ head: borrowing ResponseHead) -> Fields? {
        head.status == .earlyHints ? head.fields.alone : nil
    }

    /// Writes recorded early hints, which precede the final response (RFC 8297 §2).
    package func writeEarlyHints(_ fields: Fields, into output: inout [UInt8]) {
        var head = ResponseHead()
        head.status = .earlyHints
        head.fields = fields
        writeInformational(head, into: &output)
    }

    private static func bytes(_ span: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(span.count)
        for index in span.indices { bytes.append(span[index]) }
        return bytes
    }
}

extension ExchangeContext {
    /// The name of a replay source: at most 64 bytes that are allowed in a quoted string.
    package func layerName(_ layer: UInt8) -> String { Int(layer) < layerNames.count ? layerNames[Int(layer)] : "" }
}
