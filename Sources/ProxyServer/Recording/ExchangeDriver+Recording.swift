import HTTPCaching
import HTTPMessage
import ProxyCore
import Recordings
import Snapshots

/// Exchanges that are recorded: the recording gets the whole of what the origin says, the client what it asked for of it.
extension ExchangeDriver {
    func beginRecording() {
        guard let file = recordings?.file else { return }
        var request = requestToMatch()
        if exchange.wantsWholeRecorded {
            request.fields.removeCacheConditions()
            request.fields.remove(.range)
            request.fields.remove(.ifRange)
        }
        let isLogged = accessLog.tellsMembers
        recorder = file.begin(request, isLogged: isLogged)
        if isLogged { loggedRecorder = recorder }
    }

    func relayRecorded() {
        fetch.mode = .recording
        recordHead()
        sendRelayedHead()
        delivery.source = .origin
        if let range = exchange.delivery.range {
            delivery.offset = range.lowerBound
            delivery.end = range.upperBound
        }
        boundSending()
    }

    /// Of the interim responses, those with the status 103 are recorded. What a 100 or a 102 says holds for one connection alone.
    func recordInformational(_ head: borrowing ResponseHead) {
        guard let recorder, head.status == .earlyHints else { return }
        recorder.earlyHints(head.fields.alone)
    }

    private func recordHead() {
        guard let recorder else { return }
        let isUnshared = ResponseDirectives(exchange.response.fields, targets: .none).forbidsSharing
        if isUnshared, !recorder.file.keepsUnshared {
            recorder.drop()
            self.recorder = nil
            return noteUnrecorded(recorder.file, "no_store")
        }
        var reason: [UInt8] = []
        var fields = Fields()
        exchange.withHeads { _, response in
            let phrase = response.span(of: response.reason)
            for index in phrase.indices { reason.append(phrase[index]) }
            fields = response.fields.alone
        }
        recorder.head(status: exchange.response.status, reason: reason, fields: fields)
    }

    /// Content of the origin's response.
    func record(_ bytes: Span<UInt8>) {
        if let recorder {
            var octets: [UInt8] = []
            octets.append(bytes)
            recorder.append(octets)
        }
        sendAsked(bytes)
        waitForRecording()
    }

    /// What the client asked for of these bytes.
    private func sendAsked(_ bytes: Span<UInt8>) {
        guard exchange.delivery.sendsContent else { return }
        guard exchange.delivery.range != nil else { return sendDirect(bytes) }
        let start = fetch.receivedCount - UInt64(bytes.count)
        let lower = min(max(delivery.offset, start), fetch.receivedCount) - start
        let upper = max(min(delivery.end, fetch.receivedCount), start) - start
        if lower < upper { sendDirect(bytes.extracting(Int(lower)..<Int(upper))) }
    }

    /// The disk is not to fall behind by more than the window.
    private func waitForRecording() {
        guard let recorder, !fetch.isRecordingBehind, recorder.file.isBehind(worker.settings.proxyLimits.recordedWindow) else {
            return
        }
        pauseUpstream()
        fetch.isRecordingBehind = true
        let number = fetch.number
        let reply = loop.reply { [self] (_: Void) in
            guard fetch.number == number else { return }
            fetch.isRecordingBehind = false
            let isClientBehind = (connection?.output.pendingCount ?? 0) >= worker.settings.proxyLimits.relayWindow
            if !isClientBehind { resumeUpstream() }
        }
        recorder.file.whenCaughtUp { reply.send(()) }
    }

    func endRecording(_ trailers: Fields) { finishRecorder(trailers, failure: nil) }

    /// The origin failed, or what it sent broke off. What is none of its faults is not recorded as one.
    func endRecording(failedBy fault: Fault) {
        guard let failure = RecordedFailure(fault) else { return dropRecording() }
        finishRecorder(Fields(), failure: failure)
    }

    private func finishRecorder(_ trailers: Fields, failure: RecordedFailure?) {
        guard let recorder else { return }
        self.recorder = nil
        if longContent != nil, !upload.isComplete {
            recorder.drop()
            return noteUnrecorded(recorder.file, "request_unread")
        }
        let isUnshared = ResponseDirectives(exchange.response.fields, targets: .none).forbidsSharing
        recorder.finish(
            ExchangeRecorder.End(
                times: recordedTimes,
                protocolName: Array(exchange.response.version.isAtLeast11 ? "HTTP/1.1".utf8 : "HTTP/1.0".utf8),
                trailers: trailers, chain: exchange.upstream.chain?.octets, failure: failure,
                requestBody: longContent?.body(length: upload.receivedCount), isUnshared: isUnshared))
    }

    private var recordedTimes: RecordedTimes {
        var times = RecordedTimes(started: exchange.trace.receivedAt)
        times[.blocked] = Int64(metrics.queueTime)
        if !metrics.isConnectionReused {
            times[.dns] = Int64(metrics.lookUpTime)
            times[.connect] = Int64(max(0, metrics.connectTime - metrics.lookUpTime - metrics.handshakeTime))
            if metrics.trustMark > 0 { times[.tls] = Int64(metrics.handshakeTime) }
        }
        let wait = max(0, metrics.firstByteTime - metrics.connectTime - metrics.queueTime)
        times[.wait] = Int64(wait)
        let total = loop.now.microseconds(since: startedAt)
        times[.receive] = max(0, Int64(total) - Int64(metrics.firstByteTime))
        return times
    }

    /// The exchange ends without an answer of the origin's that could be recorded.
    func dropRecording() {
        guard let recorder else { return }
        self.recorder = nil
        recorder.drop()
        noteUnrecorded(recorder.file, "left")
    }

    /// Its client has left: what has an end is recorded to it.
    var isToBeRecordedWhole: Bool {
        if recorder == nil { return false }
        if case .known = exchange.upstream.body { return true }
        return false
    }

    private func noteUnrecorded(_ file: RecordingFile, _ reason: String) {
        var text: [UInt8] = []
        exchange.withHeads { request, _ in text.append(request.span(of: request.rawTargetBeforeQuery)) }
        file.noteUnrecorded(String(decoding: text, as: UTF8.self), reason)
    }

    /// A request for WebSocket goes to the origin by itself: neither what is said behind its 101 nor another response to it is recorded.
    func noteUnrecordedSwitch() {
        if exchange.mode.records, let file = recordings?.file { noteUnrecorded(file, "websocket") }
    }

    /// What goes through a tunnel is not recorded.
    func noteUnrecordedHost(in recordings: ActiveRecordings?) {
        recordings?.file?.noteTunnel(
            to: String(decoding: exchange.originHost, as: UTF8.self) + ":\(exchange.originPort)")
    }
}

extension RecordedFailure {
    /// - Returns: `nil` for a fault that is none of the origin's or the way's to it.
    fileprivate init?(_ fault: Fault) {
        let row = GatewayError(fault)
        guard row.origin == .upstream else { return nil }
        let kind: Kind =
            switch fault {
            case .responseIncomplete: .cutShort
            case .nameLookUpTimeout, .connectionTimeout, .responseTimeout: .timedOut
            case .malformedResponse, .responseFieldsTooLarge, .unexpectedUpgrade, .unexpectedNotModified: .malformed
            default: .refused
            }
        self.init(kind, code: "\(row.code.text)")
    }
}
