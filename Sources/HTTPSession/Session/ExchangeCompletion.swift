import EventLoop
import ServerTrust

/// What is done at an exchange's end, whoever brings it about: its turn is over, and what it has met is noted.
struct ExchangeCompletion: Sendable {
    let turns: RequestScheduler
    let ledger: MetricsLedger
    let uri: TargetURI
    /// When it was wanted.
    let began: MonotonicTime

    /// The server has none of its pins, which are only reported.
    func note(reported failure: TrustFailure) { ledger.note(uri, reported: failure) }

    /// - Parameter posted: when it was handed to its loop; `nil` where it was not.
    func close(_ end: ResponseChannel.End, posted: MonotonicTime?) {
        turns.end(uri.origin)
        guard let posted else { return }
        ledger.note(
            uri, end, waited: posted.microseconds(since: began), duration: MonotonicTime.read().microseconds(since: posted))
    }
}
