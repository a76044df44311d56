import HTTPCaching
import HTTPMessage

/// What becomes of a request in the modes that have to do with recordings.
///
/// Neither the store nor others' fetches are asked in them, unless the store is the last of what is replayed: a recording is to hold what the
/// origin has said to each request, and what is replayed is to come from a recording.
extension Exchange {
    /// Recordings are asked, or made.
    var usesRecordings: Bool {
        switch context.mode {
        case .live, .offline: false
        case .replay, .record, .recordMissing: true
        }
    }

    /// The exchange is being recorded.
    var isRecorded: Bool { if case .recorded? = trace.recording { true } else { false } }

    /// The recording is to hold the whole, whatever the client has or wants of it: what it gets is made of that.
    package var wantsWholeRecorded: Bool { context.mode.records && isRead }

    private var isRead: Bool { request.method == .get || request.method == .head }

    /// How much of the request's content is gathered, in octets.
    package var gatheredRequestLimit: Int {
        usesRecordings ? context.limits.recordedRequestLength : context.limits.keyedBodyLength
    }

    mutating func gatherForRecordings(at now: Timestamp, into commands: inout CommandBuffer) {
        if requestBody == .none || requestBody == .known(0) { return askRecordings(at: now, into: &commands) }
        state = .gathering
        commands.append(.gatherRequestBody)
    }

    /// All of the request is known.
    mutating func askRecordings(at now: Timestamp, into commands: inout CommandBuffer) {
        if context.mode == .record { return fetchRecorded(at: now, into: &commands) }
        state = .recalling
        commands.append(.recall)
    }

    /// The request's content is too long to be held.
    mutating func passRecordingsBy(at now: Timestamp, into commands: inout CommandBuffer) {
        guard context.mode.records else { return miss(Self.tooLong, nearest: nil, at: now, into: &commands) }
        trace.recording = .unrecorded
        fetch(at: now, into: &commands)
    }

    private static var tooLong: Word { "request_too_long" }

    mutating func recalled(at now: Timestamp, into commands: inout CommandBuffer) {
        switch recollection {
        case .found(let recorded, let layer):
            trace.recording = .replayed(layer: layer)
            trace.outcome = .replayed
            selected = recorded
            deliverAsItIs(into: &commands)
        case .failed(let fault, let layer):
            trace.recording = .replayed(layer: layer)
            fail(fault, at: now, into: &commands)
        case .missed(let reason, let nearest): miss(reason, nearest: nearest, at: now, into: &commands)
        case .damaged, nil: fail(.recordingDamaged, at: now, into: &commands)
        }
    }

    private mutating func miss(_ reason: Word, nearest: NearMissReport?, at now: Timestamp, into commands: inout CommandBuffer) {
        if context.mode.records { return fetchRecorded(at: now, into: &commands) }
        trace.recording = .missed
        if context.replaysStore, isRead { return lookUp(at: now, into: &commands) }
        fail(.offlineMiss(detail: reason), at: now, into: &commands)
    }

    private mutating func fetchRecorded(at now: Timestamp, into commands: inout CommandBuffer) {
        trace.recording = .recorded
        commands.append(.beginRecording)
        fetch(at: now, into: &commands)
    }

    /// The origin has answered: the client gets what it asked for of what is recorded whole.
    mutating func deliverRecorded(into commands: inout CommandBuffer) {
        trace.outcome = isRecorded ? .recorded : .bypass
        if isRead, response.status == .ok, case .known(let whole) = responseBody {
            cutLength = whole
            delivery.chooseTransformed(response, whole: request.method == .head ? nil : whole, for: request)
        } else {
            delivery.chooseRelayed(response, body: responseBody)
        }
        trace.status = delivery.status.code
        state = .delivering
        commands.append(isRecorded ? .relayRecorded : .relay(store: false))
    }

    /// What comes near to the request, where it was looked for.
    var nearMisses: NearMissReport? {
        if case .missed(_, let nearest)? = recollection { nearest } else { nil }
    }

    /// How recordings handled the request (RFC 9211), where the store had nothing to do with it.
    func writeRecordingStatus(into output: inout OutputSpan<UInt8>) {
        switch trace.recording {
        case .replayed(let layer):
            output.append("Cache-Status: Larder; hit; detail=\"replay ")
            // It holds neither quotes nor backslashes.
            for octet in context.layerName(layer).utf8 { output.append(octet) }
            output.append("\"\r\n")
        case .recorded: output.append("Cache-Status: Larder; fwd=bypass; detail=record\r\n")
        case .unrecorded: output.append("Cache-Status: Larder; fwd=bypass; detail=unrecorded\r\n")
        case .missed: output.append("Cache-Status: Larder; detail=offline_miss\r\n")
        case nil: break
        }
    }
}

extension ExchangeContext {
    /// What the recordings of a layer are called: 64 octets at most that may stand in a quoted string.
    package func layerName(_ layer: UInt8) -> String { Int(layer) < layerNames.count ? layerNames[Int(layer)] : "" }
}
