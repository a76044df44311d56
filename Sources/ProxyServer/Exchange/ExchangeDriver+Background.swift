import HTTPCaching
import HTTPMessage
import ProxyCore
import ResponseStore
import SharedFetches

/// Exchanges without a client: validations (RFC 5861 §3), and fetches of missing bytes (fills). A driver without a connection runs on the
/// loop of the client that caused the exchange. The response is stored, or the failure is logged; during that time, other requests for the
/// key join the fetch.
extension LoopWorker {
    /// Validates the response that `served` has just delivered. Does nothing while the server is stopping, or if the limit of background
    /// fetches is reached. Does nothing either if a fetch of its key is in flight on any loop, or if the key is postponed after an error.
    func validateInBackground(_ served: ExchangeDriver) {
        guard let entry = leadBackground(served.exchange.key) else { return }
        takeBackgroundDriver().validate(served, leading: entry)
    }

    /// Fetches missing bytes, if any, within the limits of background fetches.
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

    /// Fetches the missing bytes of a response, once the store has received the body in flight.
    func fillRest() {
        guard let fill = exchange.fill else { return }
        let (worker, peer) = (worker, peer)
        guard let pending = storing.pending else { return worker.fill(fill, as: peer) }
        pending.whenStored(worker.loop.reply { (_: PendingOutcome) in worker.fill(fill, as: peer) })
    }

    /// Called when the server is stopping: cancels work for which no client waits.
    func giveUpBackground() {
        if exchange.isBackground, exchange.state != .finished { clientGone() }
    }

    /// Notes the outcome of a background exchange that has ended.
    func noteBackgroundEnd() {
        worker.shared.background.end()
        guard exchange.trace.outcome == .failed else { return }
        let end = Timestamp(milliseconds: worker.now.milliseconds + exchange.backgroundRetryDelay)
        worker.fetches.postpone(exchange.key, until: end, at: worker.now)
    }
}
