import AccessLog
import HTTPCaching
import HTTPMessage
import ProxyCore
import Recordings

/// Makes the record of an exchange for the access log: the words for the decisions in its trace.
extension ExchangeDriver {
    func log() {
        if !exchange.isBackground { worker.note(exchange.trace.outcome, sentBytes: delivery.sentCount) }
        noteMetrics()
        if let transform = exchange.trace.transform { worker.note(transform) }
        if exchange.trace.reported != nil || exchange.trace.shadow != nil { reportPolicy() }
        keepTrace()
        if let log = worker.auditLog { ExchangeAudit(self, in: log).note() }
        if let telemetry = worker.telemetry { ExchangeSpans(self, to: telemetry).note() }
        if accessLog.isOff { return }
        let record = accessRecord()
        if let recorder = recording.takeLoggedRecorder() { return logOnceRecorded(record, in: recorder) }
        let log = accessLog
        let rule = exchange.decidingRuleName
        let serverKey = exchange.upstream.trustRefusal?.serverKey ?? ""
        let user = exchange.incoming.sender?.user ?? []
        let members = logged.judgedChain.isEmpty && logged.way.isEmpty && exchange.trace.recording == nil ? [] : madeMembers()
        exchange.withHeads { request, response in
            log.append(record, of: request, response, rule: rule, serverKey: serverKey, members: members, user: user)
        }
    }

    private func noteMetrics() {
        let trace = exchange.trace
        if !exchange.isBackground {
            let labels = RequestLabels(
                mode: exchange.mode, method: exchange.request.method, status: trace.status, outcome: trace.outcome)
            worker.metrics.note(
                labels, microseconds: UInt64(loop.now.microseconds(since: startedAt)), receivedBytes: upload.receivedCount)
        }
        if trace.upstreamStatus != 0 {
            worker.metrics.noteUpstream(
                connectMicroseconds: UInt64(fetch.metrics.connectTime),
                firstByteMicroseconds: UInt64(fetch.metrics.firstByteTime),
                isConnectionReused: fetch.metrics.isConnectionReused)
        }
        if trace.fault != nil || trace.reported != nil { noteRefusal() }
    }

    private func noteRefusal() {
        if let fault = exchange.trace.fault {
            let code = GatewayError(fault).code.text
            worker.metrics.noteError(code)
            switch fault {
            case .offlineMiss where exchange.mode == .replay: worker.metrics.noteReplayMiss()
            case .deniedByRule, .limitReached, .approvalDenied:
                worker.metrics.note(PolicyDenial(rule: exchange.decidingRuleName, reason: "\(code)", isReportOnly: false))
            case .egressDenied, .ambiguousPath:
                worker.metrics.note(PolicyDenial(rule: "", reason: "\(code)", isReportOnly: false))
            default: break
            }
        }
        if let reported = exchange.trace.reported {
            let rule = reported.word == .deniedByRule ? exchange.decidingRuleName : ""
            worker.metrics.note(PolicyDenial(rule: rule, reason: "\(reported.word.text)", isReportOnly: true))
        }
    }

    private func reportPolicy() {
        if let warning = worker.shared.reports.note(&exchange, at: loop.now) { worker.shared.warn(warning) }
    }

    private func accessRecord() -> AccessRecord {
        let trace = exchange.trace
        var record = AccessRecord()
        record.id = exchange.id
        record.receivedAt = trace.receivedAt
        record.durationMicroseconds = UInt64(loop.now.microseconds(since: startedAt))
        record.client = peer.address
        record.clientPort = peer.port
        record.version = exchange.request.version
        record.status = trace.status
        record.bytesSent = delivery.headCount + delivery.sentCount
        record.bytesReceived = upload.receivedCount
        record.outcome = trace.outcome
        record.isUpgraded = trace.isUpgraded
        if case .hit = trace.outcome { record.isFromMemory = delivery.body == nil }
        if exchange.obligations.cache.isDisconnected, exchange.incoming.denial == nil { record.isOffline = true }
        record.reuse = trace.reuse?.word ?? ""
        record.storage = trace.storage?.word ?? ""
        if let transform = trace.transform {
            record.transform = transform.word
            record.transformReason = transform.reason ?? ""
        }
        if let row = trace.fault.map({ GatewayError($0) }) {
            record.error = row.code.text
            record.errorDetail = row.detail?.text ?? ""
            record.isClientsFault = row.origin == .client
        }
        if let reported = trace.reported { record.wouldDeny = reported.word }
        record.shadow = trace.shadow?.shadow
        if let outcome = logged.connectOutcome {
            record.connect = outcome.word
            record.uninspected = logged.uninspected
        }
        record.isTransparent = isTransparent
        record.upstreamStatus = trace.upstreamStatus
        record.continuations = trace.continuations
        if let address = fetch.metrics.remoteAddress {
            record.upstream = address
            record.upstreamPort = fetch.metrics.remotePort
            record.upstreamVersion = fetch.metrics.version
        }
        record.reusedConnection = fetch.metrics.isConnectionReused
        record.connectMicroseconds = UInt64(fetch.metrics.connectTime)
        record.firstByteMicroseconds = UInt64(fetch.metrics.firstByteTime)
        return record
    }

    /// The server's verified chain and the recordings involved in this request, as members for the log.
    private func madeMembers() -> [UInt8] {
        if !accessLog.tellsMembers { return [] }
        let recording = recording.member(for: self)
        // A replayed hit has neither: then its member is used as it is, without an allocation.
        return logged.judgedChain.isEmpty && logged.way.isEmpty ? recording : recording + chainMember() + wayMember()
    }

    /// The way on which the request left; empty for direct connections.
    private func wayMember() -> [UInt8] { logged.way.isEmpty ? [] : WayMember.member(way: logged.way) }

    private func chainMember() -> [UInt8] {
        if logged.judgedChain.isEmpty { return [] }
        return JudgedChain.member(
            host: logged.judgedName.map { Array($0.utf8) } ?? exchange.originHost, port: exchange.originPort,
            chain: logged.judgedChain)
    }

    /// Leaves the log line to the thread that records the exchange, because only that thread knows the digest of the recorded response.
    private func logOnceRecorded(_ record: AccessRecord, in recorder: ExchangeRecorder) {
        let rule = exchange.decidingRuleName
        let serverKey = exchange.upstream.trustRefusal?.serverKey ?? ""
        let user = exchange.incoming.sender?.user ?? []
        let chain = chainMember() + wayMember()
        let log = accessLog
        exchange.withHeads { request, _ in
            let line = HeldAccessLine(
                record, method: request.span(of: request.methodName), url: request.span(of: request.rawTarget), rule: rule,
                serverKey: serverKey, user: user, in: log)
            recorder.tellDigest { digest in
                line.write(members: RecordingMember.members(layer: Array("new".utf8), digest: digest) + chain)
            }
        }
    }

    // MARK: The trace

    /// Writes the trace of a finished exchange into its loop's ring.
    private func keepTrace() {
        if traces.isOff { return }
        // The list of rules is passed only if it is not empty, because the call copies it, with a dozen retains.
        let rules = exchange.matched.isEmpty ? [] : worker.ruleNames(of: exchange.matched)
        let overrides = exchange.trace.usedUnsafeRule ? Self.lines(of: exchange.ruleOverrides) : []
        let id = exchange.id
        let tellsQuery = accessLog.includesQuery
        let ring = traces
        let conditions = exchange.clientConditions
        let mode = exchange.mode
        exchange.withTraced { trace, request, key in
            let keyEnd = tellsQuery || request.target.query.isEmpty ? key.count : Self.endBeforeQuery(of: key)
            // The record is constructed in one step, so that no field is written twice.
            let record = TraceRecord(
                id: id, trace: copy trace, durationMicroseconds: UInt64(loop.now.microseconds(since: startedAt)),
                bytesSent: delivery.headCount + delivery.sentCount, finishedAt: loop.now,
                connectMicroseconds: UInt32(clamping: fetch.metrics.connectTime),
                firstByteMicroseconds: UInt32(clamping: fetch.metrics.firstByteTime),
                reusedConnection: fetch.metrics.isConnectionReused, mode: mode,
                conditions: conditions, isKeyCut: keyEnd < key.count)
            ring.note(
                record, method: request.span(of: request.methodName),
                url: request.span(of: tellsQuery ? request.rawTarget : request.rawTargetBeforeQuery),
                key: key.extracting(0..<keyEnd), rules: rules.span, overrides: overrides.span)
        }
    }

    private static func endBeforeQuery(of key: Span<UInt8>) -> Int {
        for index in 0..<key.count where key[index] == UInt8(ascii: "?") { return index }
        return key.count
    }

    private static func lines(of overrides: [(rule: String, word: StaticString)]) -> [UInt8] {
        Array(overrides.map { "\($0.word) \($0.rule)" }.joined(separator: "\n").utf8)
    }
}
