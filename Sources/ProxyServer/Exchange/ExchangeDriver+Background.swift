import HTTPCaching
import HTTPMessage
import ProxyCore
import ResponseStore

/// Exchanges for which no client waits, validations (RFC 5861 §3) and fills: a driver without a connection carries one out on the loop whose client
/// has led to it. What came is stored, or the failure is told to the log; others who ask for the key meanwhile join it.
extension LoopWorker {
    /// Has the origin asked whether what `served` has just delivered still holds: once at a time for all loops, so many at once, and
    /// not while the server is about to stop.
    func validateInBackground(_ served: ExchangeDriver) {
        guard let entry = leadBackground(served.exchange.key) else { return }
        takeBackgroundDriver().validate(served, leading: entry)
    }

    /// Has what is missing fetched, where anything is, within the same bounds.
    func fill(_ fill: Fill, as peer: PeerAddress) {
        guard store.hasPartials,
            let completion = fill.completion(
                of: store.partials(of: fill.key), beside: store.bodiesUnderWay(of: fill.key), at: now),
            completion.partial.wholeLength <= store.greatestBodyLength(of: completion.partial.response),
            let entry = leadBackground(fill.key)
        else { return }
        takeBackgroundDriver().fill(fill, completion, as: peer, leading: entry)
    }

    private func leadBackground(_ key: [UInt8]) -> FetchEntry? {
        let limits = settings.proxyLimits
        guard !isDraining, shared.background.begin(limit: limits.backgroundValidations) else { return nil }
        if let entry = fetches.lead(key, at: now) { return entry }
        shared.background.end()
        return nil
    }
}

extension ExchangeDriver {
    func validate(_ served: ExchangeDriver, leading entry: FetchEntry) {
        attachInBackground(as: served.peer)
        exchange.begin(id: worker.nextRequestID(), validating: served.exchange)
        storing.lead(entry)
        handle(.validates(at: now))
    }

    func fill(_ fill: Fill, _ completion: RangeCompletion, as peer: PeerAddress, leading entry: FetchEntry) {
        attachInBackground(as: peer)
        exchange.begin(id: worker.nextRequestID(), fill: fill, completion: completion)
        storing.lead(entry)
        handle(.fills(at: now))
    }

    /// Once what is under way to the store has arrived there.
    func fillRest() {
        guard let fill = exchange.fill else { return }
        let (worker, peer) = (worker, peer)
        guard let pending = storing.pending else { return worker.fill(fill, as: peer) }
        pending.whenStored(worker.loop.reply { (_: PendingOutcome) in worker.fill(fill, as: peer) })
    }

    /// The server is about to stop: what nobody waits for is let go.
    func giveUpBackground() {
        if exchange.isBackground, exchange.state != .finished { clientGone() }
    }

    /// The exchange is over, with what it has come to.
    func noteBackgroundEnd() {
        worker.shared.background.end()
        guard exchange.trace.outcome == .failed else { return }
        let end = Timestamp(milliseconds: worker.now.milliseconds + exchange.backgroundRetryDelay)
        worker.fetches.postpone(exchange.key, until: end, at: worker.now)
    }
}
