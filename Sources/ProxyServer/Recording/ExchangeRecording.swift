import AccessLog
import HTTP2Wire
import HTTPCaching
import HTTPMessage
import ProxyCore
import Recordings
import ServerTrust
import Snapshots

/// Connects an exchange to recordings: looks up its response in them, or records its response. The recording gets everything that the
/// origin sends; the client gets the part that it requested.
final class ExchangeRecording {
    /// The recordings that the exchange uses; `nil` if nothing is recorded or replayed.
    private var recordings: ActiveRecordings?
    /// Records the exchange; `nil` if the exchange is not recorded.
    private var recorder: ExchangeRecorder?
    /// The recorder whose digest the log line waits for; `nil` if the log line does not wait.
    private var loggedRecorder: ExchangeRecorder?
    /// Whether the recording is behind. If so, the origin is not read until the recording has caught up.
    private(set) var isBehind = false

    var isActive: Bool { recordings != nil }

    func begin(_ active: ActiveRecordings) { recordings = active }

    func leave() { recordings = nil }

    func fetchEnded() { isBehind = false }

    // MARK: Replaying

    func lookUp(for driver: ExchangeDriver) {
        guard let layers = recordings?.layers else {
            return receive(.missed(.notRecorded, nearest: nil), from: nil, for: driver)
        }
        if let known = rememberedAnswer(for: driver) { return receive(known, from: layers, for: driver) }
        let epoch = driver.epoch
        let reply = driver.loop.reply { [self] (answer: LayerAnswer) in
            guard driver.epoch == epoch else { return }
            driver.logged.recordingMember = member(of: answer, in: layers, for: driver)
            remember(answer, for: driver)
            receive(answer, from: layers, for: driver)
            driver.client?.flush()
        }
        let wantsNearest = driver.exchange.mode == .replay && !driver.exchange.context.replaysStore
        layers.find(
            query(of: layers, wantsNearest: wantsNearest, for: driver),
            searchLimit: driver.exchange.context.limits.waitingSearches
        ) { reply.send($0) }
    }

    func findNearest(for driver: ExchangeDriver) {
        guard let layers = recordings?.layers else { return driver.handle(.nearestFound(nil, at: driver.now)) }
        let epoch = driver.epoch
        let reply = driver.loop.reply { (nearest: NearMissReport?) in
            guard driver.epoch == epoch else { return }
            driver.handle(.nearestFound(nearest, at: driver.now))
            driver.client?.flush()
        }
        layers.findNearest(
            query(of: layers, wantsNearest: true, for: driver), searchLimit: driver.exchange.context.limits.waitingSearches
        ) { reply.send($0) }
    }

    private func query(of layers: ReplaySources, wantsNearest: Bool, for driver: ExchangeDriver) -> RecordingQuery {
        let scope: [UInt8] =
            switch layers.terms.scope {
            case .server: []
            case .user: driver.exchange.incoming.sender?.user ?? []
            case .address: Array(driver.peer.address.description.utf8)
            }
        return RecordingQuery(request: request(for: driver), scope: scope, now: driver.now, wantsNearest: wantsNearest)
    }

    /// The request to look up or to record, with its content or only the digest of the content.
    private func request(isForRecording: Bool = false, for driver: ExchangeDriver) -> RequestToMatch {
        let recorded = driver.exchange.recordedRequest(isForRecording: isForRecording)
        return RequestToMatch(
            method: recorded.method, uri: recorded.uri, fields: recorded.fields, body: content(of: driver.upload))
    }

    private func content(of upload: RequestUpload) -> RequestToMatch.Body {
        if upload.isComplete, let body = upload.longContent?.body(length: upload.receivedCount) { return body }
        return upload.content.isEmpty ? .none : .octets(upload.content)
    }

    private func receive(_ known: ReplayedAnswer, from layers: ReplaySources, for driver: ExchangeDriver) {
        driver.logged.recordingMember = known.logMember
        sendEarlyHints(known.earlyHints, for: driver)
        if let body = known.body {
            driver.delivery.read(recorded: RecordedBodyPlace(layers: layers, layer: known.layer, body: body))
        }
        driver.handle(
            .recordingFound(known.stored, isLengthTold: true, layer: UInt8(clamping: known.layer), at: driver.now))
    }

    private func receive(_ answer: LayerAnswer, from layers: ReplaySources?, for driver: ExchangeDriver) {
        if case .found(_, let place) = answer { sendEarlyHints(place.earlyHints, for: driver) }
        let replayLookup: ReplayLookup
        switch answer {
        case .found(.response(let stored, let isLengthTold, _), let place):
            if let body = place.body, let layers {
                driver.delivery.read(recorded: RecordedBodyPlace(layers: layers, layer: place.layer, body: body))
            }
            return driver.handle(
                .recordingFound(
                    stored, isLengthTold: isLengthTold, layer: UInt8(clamping: place.layer), at: driver.now))
        case .found(.broken(let stored, let toldLength, let failure), let place):
            driver.client?.noteCut(by: fault(of: failure))
            replayLookup = .broken(
                stored, length: toldLength.map { .known($0) } ?? .unknown, by: fault(of: failure),
                layer: UInt8(clamping: place.layer))
            if let layers {
                driver.delivery.read(recorded: RecordedBodyPlace(layers: layers, layer: place.layer, body: place.body))
            }
        case .found(.failure(let failure), let place):
            replayLookup = .failed(failure.kind.fault, layer: UInt8(clamping: place.layer))
        case .missed(let reason, let nearest):
            replayLookup = .missed(reason: reason.word, nearest: nearest)
        case .damaged: replayLookup = .damaged
        }
        driver.handle(.recordingLookedUp(replayLookup, at: driver.now))
    }

    /// The fault that replay reproduces. The failure of a stream that the origin has reset has the code of the reset.
    private func fault(of failure: RecordedFailure) -> Fault {
        guard failure.kind == .cutShort, let code = HTTP2ErrorCode(resetReason: failure.code) else { return failure.kind.fault }
        return .responseReset(code: code.rawValue, reason: StaticToken(code.resetReason))
    }

    private func sendEarlyHints(_ hints: [Fields], for driver: ExchangeDriver) {
        for fields in hints {
            driver.delivery.sendInformational(for: driver) { driver.exchange.writeEarlyHints(fields, into: &$0) }
        }
    }

    // MARK: Cached replayed responses

    /// Whether the loop's memory of replayed responses can be used: the exchange has the active recordings, and the match depends only on
    /// the request's head.
    private func isRemembered(for driver: ExchangeDriver) -> Bool {
        recordings === driver.worker.recordings && driver.upload.content.isEmpty && driver.upload.longContent == nil
            && !driver.exchange.obligations.rewritesKey
    }

    private func rememberedAnswer(for driver: ExchangeDriver) -> ReplayedAnswer? {
        guard let memory = driver.worker.replayMemory, isRemembered(for: driver) else { return nil }
        let head = driver.exchange.requestFieldBytes
        let uri = driver.exchange.key
        return memory.answer(to: head.span, uri: uri.span)
    }

    private func remember(_ answer: LayerAnswer, for driver: ExchangeDriver) {
        guard case .found(.response(let stored, _, isLasting: true), let place) = answer, isRemembered(for: driver) else {
            return
        }
        let head = driver.exchange.requestFieldBytes
        let uri = driver.exchange.key
        driver.worker.remember(
            ReplayedAnswer(head: head.span, uri: uri.span, stored, place, logMember: driver.logged.recordingMember))
    }

    // MARK: Recording

    func beginRecording(for driver: ExchangeDriver) {
        guard let file = recordings?.file else { return }
        let isLogged = driver.accessLog.tellsMembers
        recorder = file.begin(request(isForRecording: true, for: driver), isLogged: isLogged)
        if isLogged { loggedRecorder = recorder }
    }

    /// Sends to the client the head of a response that is being recorded.
    func relay(for driver: ExchangeDriver) {
        driver.fetch.go(by: .recording)
        recordHead(for: driver)
        driver.delivery.sendRecorded(for: driver)
    }

    func record(informational head: borrowing ResponseHead) {
        guard let recorder, let fields = Exchange.recordedHints(head) else { return }
        recorder.earlyHints(fields)
    }

    private func recordHead(for driver: ExchangeDriver) {
        guard let recorder else { return }
        if driver.exchange.isResponseUnshared, !recorder.file.keepsUnshared {
            return drop(because: "no_store", for: driver)
        }
        let (status, reason, fields) = driver.exchange.recordedHead()
        recorder.head(status: status, reason: reason, fields: fields)
    }

    /// Records content of the origin's response.
    func record(_ bytes: Span<UInt8>, for driver: ExchangeDriver) {
        if let recorder {
            var octets: [UInt8] = []
            octets.append(bytes)
            recorder.append(octets)
        }
        sendWanted(bytes, for: driver)
        waitForDisk(for: driver)
    }

    /// Sends the part of these bytes that the client requested.
    private func sendWanted(_ bytes: Span<UInt8>, for driver: ExchangeDriver) {
        guard driver.exchange.delivery.sendsContent else { return }
        guard driver.exchange.delivery.range != nil else { return driver.fetch.sendDirect(bytes, for: driver) }
        let end = driver.fetch.receivedCount
        guard let wanted = driver.delivery.wanted(of: end - UInt64(bytes.count)..<end) else { return }
        driver.fetch.sendDirect(bytes.extracting(wanted), for: driver)
    }

    /// Pauses the origin if the disk is behind by more than the window.
    private func waitForDisk(for driver: ExchangeDriver) {
        let limits = driver.worker.settings.proxyLimits
        guard let recorder, !isBehind, recorder.file.isBehind(limits.recordedWindow) else { return }
        driver.fetch.pause()
        isBehind = true
        let number = driver.fetch.number
        let reply = driver.loop.reply { [self] (_: Void) in
            guard driver.fetch.number == number else { return }
            isBehind = false
            let isClientBehind = (driver.client?.output.pendingCount ?? 0) >= limits.relayWindow
            if !isClientBehind { driver.fetch.resume(for: driver) }
        }
        recorder.file.whenCaughtUp { reply.send(()) }
    }

    func end(_ trailers: Fields, for driver: ExchangeDriver) { end(trailers, failure: nil, for: driver) }

    /// Called when the origin failed, or when its response was cut off. Faults with other causes are not recorded.
    func end(failedBy fault: Fault, for driver: ExchangeDriver) {
        guard recorder != nil else { return }
        guard let failure = RecordedFailure(fault) else { return drop(for: driver) }
        end(Fields(), failure: failure, for: driver)
    }

    private func end(_ trailers: Fields, failure: RecordedFailure?, for driver: ExchangeDriver) {
        guard let recorder else { return }
        let upload = driver.upload
        if upload.longContent != nil, !upload.isComplete { return drop(because: "request_unread", for: driver) }
        self.recorder = nil
        recorder.finish(
            ExchangeRecorder.End(
                times: times(of: driver),
                protocolName: protocolName(of: driver),
                trailers: trailers, chain: driver.exchange.upstream.chain?.octets, failure: failure,
                requestBody: upload.longContent?.body(length: upload.receivedCount),
                isUnshared: driver.exchange.isResponseUnshared))
    }

    /// The protocol of the exchange with the origin, in the spelling that browsers use in HAR files.
    private func protocolName(of driver: ExchangeDriver) -> [UInt8] {
        if driver.fetch.metrics.version == .http2 { return Array("HTTP/2".utf8) }
        return Array(driver.exchange.response.version.isAtLeast11 ? "HTTP/1.1".utf8 : "HTTP/1.0".utf8)
    }

    private func times(of driver: ExchangeDriver) -> RecordedTimes {
        let metrics = driver.fetch.metrics
        var times = RecordedTimes(started: driver.exchange.trace.receivedAt)
        times[.blocked] = Int64(metrics.queueTime)
        if !metrics.isConnectionReused {
            times[.dns] = Int64(metrics.lookUpTime)
            times[.connect] = Int64(max(0, metrics.connectTime - metrics.lookUpTime - metrics.handshakeTime))
            if metrics.trustMark > 0 { times[.tls] = Int64(metrics.handshakeTime) }
        }
        let wait = max(0, metrics.firstByteTime - metrics.connectTime - metrics.queueTime)
        times[.wait] = Int64(wait)
        let total = driver.loop.now.microseconds(since: driver.startedAt)
        times[.receive] = max(0, Int64(total) - Int64(metrics.firstByteTime))
        return times
    }

    /// Called when the exchange ends without a response that could be recorded.
    func drop(for driver: ExchangeDriver) { drop(because: "left", for: driver) }

    private func drop(because reason: String, for driver: ExchangeDriver) {
        guard let recorder else { return }
        self.recorder = nil
        recorder.drop()
        noteUnrecorded(recorder.file, reason, for: driver)
    }

    /// Whether to record the rest of the response although the client has left.
    func goesOn(for driver: ExchangeDriver) -> Bool { recorder != nil && driver.exchange.isRecordedToTheEnd }

    private func noteUnrecorded(_ file: RecordingFile, _ reason: String, for driver: ExchangeDriver) {
        var text: [UInt8] = []
        driver.exchange.withHeads { request, _ in text.append(request.span(of: request.rawTargetBeforeQuery)) }
        file.noteUnrecorded(String(decoding: text, as: UTF8.self), reason)
    }

    /// A WebSocket request is forwarded to the origin without recording: neither the bytes after its 101 nor any other response to it is
    /// recorded.
    func noteUnrecordedSwitch(for driver: ExchangeDriver) {
        if driver.exchange.mode.records, let file = recordings?.file { noteUnrecorded(file, "websocket", for: driver) }
    }

    /// Notes a tunnel, because its content is not recorded.
    func noteTunnel(for driver: ExchangeDriver) {
        if driver.exchange.mode.records { noteTunnel(in: recordings, for: driver) }
    }

    /// Notes a tunnel to a host that must be intercepted, but whose content is hidden. The exchange of the CONNECT has already released
    /// its recordings.
    func noteHiddenTunnel(for driver: ExchangeDriver) {
        if driver.exchange.mode.records { noteTunnel(in: driver.worker.recordings, for: driver) }
    }

    private func noteTunnel(in recordings: ActiveRecordings?, for driver: ExchangeDriver) {
        recordings?.file?.noteTunnel(
            to: String(decoding: driver.exchange.originHost, as: UTF8.self) + ":\(driver.exchange.originPort)")
    }

    // MARK: The log

    /// - Returns: the recorder, if the log line waits for the recorded digest.
    func takeLoggedRecorder() -> ExchangeRecorder? { loggedRecorder == nil ? nil : loggedRecorder.take() }

    private func member(of answer: LayerAnswer, in layers: ReplaySources, for driver: ExchangeDriver) -> [UInt8] {
        guard driver.accessLog.tellsMembers, case .found(_, let place) = answer else { return [] }
        return RecordingMember.members(layer: Array(layers.names[place.layer].utf8), digest: place.digest)
    }

    /// How recordings were involved in the request, for the log.
    func member(for driver: ExchangeDriver) -> [UInt8] {
        let nearest: [UInt8] =
            if case .missed(_, let report?)? = driver.exchange.replayLookup { report.summary } else { [] }
        switch driver.exchange.trace.recording {
        case .replayed: return driver.logged.recordingMember
        case .recorded: return RecordingMember.members(layer: Array("new".utf8))
        case .missed: return RecordingMember.members(nearest: nearest)
        case nil: return []
        }
    }
}
