import HTTPCaching
import HTTPMessage
import ProxyCore

/// The trace of an exchange that is over, into its loop's ring.
extension ExchangeDriver {
    func keepTrace() {
        if traces.isOff { return }
        // What is handed over is copied, with a dozen retains: only where there is something in it.
        let rules = exchange.matched.isEmpty ? [] : worker.ruleNames(of: exchange.matched)
        let overrides = exchange.trace.usedUnsafeRule ? Self.lines(of: exchange.ruleOverrides) : []
        let id = exchange.id
        let tellsQuery = accessLog.includesQuery
        let ring = traces
        exchange.withTraced { trace, request, key in
            let keyEnd = tellsQuery || request.target.query.isEmpty ? key.count : Self.endBeforeQuery(of: key)
            // Made in one piece, so that nothing is written twice.
            let record = TraceRecord(
                id: id, trace: copy trace, durationMicroseconds: UInt64(loop.now.microseconds(since: startedAt)),
                bytesSent: delivery.headCount + delivery.sentCount, connectMicroseconds: UInt32(clamping: metrics.connectTime),
                firstByteMicroseconds: UInt32(clamping: metrics.firstByteTime), reusedConnection: metrics.isConnectionReused,
                conditions: RequestConditions(in: request.fields), isKeyCut: keyEnd < key.count)
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
