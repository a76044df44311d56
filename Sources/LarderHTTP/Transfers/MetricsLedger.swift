import EventLoop
import HTTPMessage
import ServerTrust

/// Collects the timings and counts of one transfer's exchanges, and notifies the session's monitors.
final class MetricsLedger: Sendable {
    private struct State {
        var number: UInt64 = 0
        var metrics = TransferMetrics()
        var isComplete = false
    }

    private let monitors: [any EventMonitor]
    private let began = MonotonicTime.read()
    private let state = Guarded(State())

    init(_ monitors: [any EventMonitor]) { self.monitors = monitors }

    func begin(_ number: UInt64, _ method: HTTPMethod, _ uri: TargetURI) {
        state.withLock { $0.number = number }
        tell(.began(method, uri))
    }

    func noteExchange(_ uri: TargetURI) { tell(.exchangeBegan(uri)) }

    func note(_ uri: TargetURI, _ end: ResponseChannel.End, waited: Int, duration: Int) {
        let exchange = TransferMetrics.Exchange(
            uri: uri, status: end.status.map { Int($0.code) }, waited: waited, duration: duration, end.metrics, trust: end.trust)
        state.withLock { $0.metrics.exchanges.append(exchange) }
        tell(.exchangeEnded(exchange))
    }

    func note(_ uri: TargetURI, reported failure: TrustFailure) { tell(.pinMismatchReported(uri, failure)) }

    func noteRedirect(status: Int, from: TargetURI, to: TargetURI) {
        state.withLock { $0.metrics.redirectCount += 1 }
        tell(.redirected(status: status, from: from, to: to))
    }

    func noteRetry(tries: Int, after delay: Duration, _ outcome: TryOutcome) {
        state.withLock { $0.metrics.retryCount += 1 }
        var code: SessionError.Code?
        if case .failure(let error) = outcome { code = error.code }
        tell(.retrying(tries: tries, after: delay, code))
    }

    /// Sends the last event, once for each transfer.
    func complete(_ error: SessionError?) {
        let isFirst = state.withLock { state in
            defer { state.isComplete = true }
            return !state.isComplete
        }
        if isFirst, !monitors.isEmpty { tell(.completed(error, metrics)) }
    }

    func tell(_ kind: SessionEvent.Kind) {
        if monitors.isEmpty { return }
        let event = SessionEvent(transfer: state.withLock { $0.number }, kind: kind)
        for monitor in monitors { monitor.sessionDid(event) }
    }

    /// The metrics up to now.
    var metrics: TransferMetrics {
        state.withLock { state in
            var metrics = state.metrics
            metrics.total = .microseconds(counted: MonotonicTime.read().microseconds(since: began))
            return metrics
        }
    }
}
