import HTTPCaching
import HTTPMessage
import ProxyCore

/// Validations for which no client waits (RFC 5861 §3): a driver without a connection carries one out on the loop whose client
/// was served stale. What came is stored, or the failure is told to the log; others who ask for the key meanwhile join it.
extension LoopWorker {
    /// Has the origin asked whether what `served` has just delivered still holds: once at a time for all loops, so many at once, and
    /// not while the server is about to stop.
    func validateUnattended(_ served: ExchangeDriver) {
        let limits = settings.proxyLimits
        guard !isDraining, shared.unattended.begin(limit: limits.unattendedValidations) else { return }
        guard let entry = fetches.lead(served.exchange.key, at: now, retryDelay: limits.unattendedRetryDelay) else {
            return shared.unattended.end()
        }
        let driver = takeUnattendedDriver()
        driver.validate(served, leading: entry)
    }
}

extension ExchangeDriver {
    func validate(_ served: ExchangeDriver, leading entry: FetchEntry) {
        attachToNobody(as: served.peer)
        exchange.begin(id: worker.nextRequestID(), validating: served.exchange)
        fetch.entry = entry
        handle(.validates(at: now))
    }

    /// The server is about to stop: what nobody waits for is let go.
    func giveUpUnattended() {
        if exchange.isUnattended, exchange.state != .finished { clientGone() }
    }

    /// The exchange is over, with what it has come to.
    func noteUnattendedEnd() {
        worker.shared.unattended.end()
        if exchange.trace.outcome == .failed { worker.fetches.postpone(exchange.key, at: worker.now) }
    }

    /// The head has come, and there is nobody to send it to: the content goes into the store, or nowhere.
    func relayToNobody() {
        guard fetch.mode == .direct else { return }
        discardUpstreamBody()
        releaseJoined(.notShareable)
        handle(.deliveryEnded(isComplete: false, at: worker.now))
    }

    func sendCheckedToNobody(_ body: [UInt8]) {
        keepChecked(body)
        releaseJoined(.notShareable)
        fetch.reset()
        handle(.deliveryEnded(isComplete: true, at: worker.now))
    }
}
