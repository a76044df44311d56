import EventLoop
import ServerTrust

/// Runs when an exchange ends, for any reason: ends its turn in `RequestScheduler`, and records its timings and counts.
struct ExchangeCompletion: Sendable {
    let turns: RequestScheduler
    let ledger: MetricsLedger
    let uri: TargetURI
    /// When the transfer requested the exchange.
    let began: MonotonicTime

    /// The server's keys match none of its pins, and the policy only reports that.
    func note(reported failure: TrustFailure) { ledger.note(uri, reported: failure) }

    /// - Parameter posted: when the exchange was posted to its loop; `nil` if it was not.
    func close(_ end: ResponseChannel.End, posted: MonotonicTime?) {
        turns.end(uri.origin)
        guard let posted else { return }
        ledger.note(
            uri, end, waited: posted.microseconds(since: began), duration: MonotonicTime.read().microseconds(since: posted))
    }
}
