import HTTPMessage
import ProxyCore

/// The record of an exchange in the access log: the words of its decisions, as they stand in its trace.
extension ExchangeDriver {
    func record() {
        if worker.accessLog.isOff { return }
        let trace = exchange.trace
        var record = AccessRecord()
        record.id = exchange.id
        record.receivedAt = trace.receivedAt
        record.durationMicroseconds = UInt64(worker.loop.now.microseconds(since: startedAt))
        record.client = peer.address
        record.clientPort = peer.port
        record.version = exchange.request.version
        record.status = trace.status
        record.bytesSent = delivery.sentCount
        record.bytesReceived = upload.receivedCount
        record.outcome = Self.outcome(trace.outcome)
        record.isFromMemory = trace.outcome == .hit && delivery.body == nil
        record.reuse = trace.reuse?.word ?? ""
        record.storage = trace.storage?.word ?? ""
        record.error = trace.fault.map { GatewayError($0).code.text } ?? ""
        record.upstreamStatus = trace.upstreamStatus
        record.upstream = metrics.remoteAddress
        record.upstreamPort = metrics.remoteAddress == nil ? 0 : exchange.originPort
        record.reusedConnection = metrics.isConnectionReused
        record.connectMicroseconds = UInt64(metrics.connectTime)
        record.firstByteMicroseconds = UInt64(metrics.firstByteTime)
        note(record)
    }

    private func note(_ record: AccessRecord) {
        let rule = Array(exchange.decidingRuleName.utf8)
        Self.note(record, request: exchange.request, response: exchange.response, rule: rule, in: worker.accessLog)
    }

    private static func note(
        _ record: AccessRecord, request: borrowing RequestHead, response: borrowing ResponseHead, rule: borrowing [UInt8],
        in log: AccessLogBuffer
    ) {
        let userAgent = request.fields.first(.userAgent)?.value ?? .empty
        let contentType = response.fields.first(.contentType)?.value ?? .empty
        let method = request.fields.bytes.span.extracting(request.methodName.range)
        log.append(
            record, method: method, url: request.fields.bytes.span.extracting(request.rawTarget.range),
            userAgent: request.fields.bytes.span.extracting(userAgent.range),
            contentType: response.fields.bytes.span.extracting(contentType.range), rule: rule.span)
    }

    private static func outcome(_ outcome: DecisionTrace.Outcome) -> AccessRecord.Outcome {
        switch outcome {
        case .none: .none
        case .hit: .hit
        case .staleHit: .staleHit
        case .revalidated: .revalidated
        case .miss: .miss
        case .refreshed: .refreshed
        case .bypass: .bypass
        case .collapsed: .collapsed
        case .denied: .denied
        case .tunnel: .tunnel
        case .local: .local
        case .failed: .failed
        }
    }
}
