import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ResponseStore
import SharedFetches

/// A wait for another request's fetch of the same key.
final class FetchJoining {
    private var joined: (entry: FetchEntry, number: Int, reply: Reply<SharedFetch>)?
    /// The timer of the wait; `nil` if the wait has no time limit.
    private var timer: TimerID?
    /// The look-up in the shared tier; `nil` if none is in progress.
    private var asking: Reply<SharedAnswer>?

    func join(for driver: ExchangeDriver) {
        let (worker, epoch) = (driver.worker, driver.epoch)
        let join = worker.fetches.join(driver.exchange.key) {
            worker.loop.reply { [self] (shared: SharedFetch) in
                guard driver.epoch == epoch else { return }
                let told = joined
                joined = nil
                endTimer(for: driver)
                receive(shared, for: driver)
                // First attach the reader, then remove the waiter from the entry: the fetch must count this request at every
                // moment, as a waiter or as a reader.
                if let told { told.entry.leave(told.number) }
                driver.client?.flush()
            }
        }
        switch join {
        case .leads(let entry): lead(entry, for: driver)
        case .waits(let entry, let number, let reply):
            joined = (entry, number, reply)
            beginTimer(for: driver)
        case .shared(let shared): receive(shared, for: driver)
        case .alone: driver.handle(.fetchesAlone(at: worker.now))
        }
    }

    private func lead(_ entry: FetchEntry, for driver: ExchangeDriver) {
        driver.storing.lead(entry)
        guard driver.exchange.looksAgainWhenLeading, let stored = driver.newestInMemory else {
            if let tier = driver.worker.shared.tier, driver.exchange.asksSharedTier, !hasIdentity(for: driver) {
                return ask(tier, for: driver)
            }
            return driver.handle(.leadsFetch(at: driver.now))
        }
        driver.storing.releaseJoined(.complete(stored), for: driver)
        driver.handle(.fetchShared(stored, at: driver.now))
    }

    // MARK: The shared tier

    /// Whether Larder has a client certificate for the origin. What such an origin sends is for this machine, whatever its fields say.
    private func hasIdentity(for driver: ExchangeDriver) -> Bool {
        let host = String(decoding: driver.exchange.originHost, as: UTF8.self)
        return driver.worker.transport.configuration.identities.value(host: host, port: driver.exchange.originPort) != nil
    }

    private func ask(_ tier: any SharedResponses, for driver: ExchangeDriver) {
        let epoch = driver.epoch
        let lookUp = SharedLookUp(
            key: driver.exchange.key, request: driver.exchange.request, secondaryKey: driver.exchange.secondaryKey,
            since: driver.store.moment(of: driver.exchange.key))
        let reply = driver.loop.reply { [self] (answer: SharedAnswer) in
            guard driver.epoch == epoch else { return }
            asking = nil
            receive(answer, since: lookUp.since, for: driver)
            driver.client?.flush()
        }
        asking = reply
        tier.find(lookUp, reply: reply)
    }

    private func receive(_ answer: SharedAnswer, since: StoreEpoch, for driver: ExchangeDriver) {
        switch answer {
        case .absent: break
        case .leads(let lease): driver.storing.share(under: lease)
        case .found(let response, let lease):
            driver.storing.share(under: lease)
            // A purge or an invalidation may have come since the look-up began.
            guard case .accepted(let kept) = driver.store.put(response, since: since) else { break }
            if driver.exchange.mayUse(shared: kept, at: driver.now) {
                driver.storing.releaseJoined(.complete(kept), for: driver)
            }
            return driver.handle(.sharedFound(kept, at: driver.now))
        }
        driver.handle(.leadsFetch(at: driver.now))
    }

    private func receive(_ shared: SharedFetch, for driver: ExchangeDriver) {
        switch shared {
        case .complete(let response):
            driver.handle(.fetchShared(response, at: driver.now))
        case .pending(let response, let pending):
            guard let reader = pending.attach() else { return driver.handle(.fetchNotShared(at: driver.now)) }
            driver.delivery.read(by: reader)
            let length: BodyLength = pending.plan.length.map { .known($0) } ?? .unknown
            driver.handle(.fetchShared(response, length: length, at: driver.now))
        case .notShareable:
            driver.handle(.fetchNotShared(at: driver.now))
        case .abandoned:
            driver.handle(.fetchAbandoned(at: driver.now))
        }
    }

    /// Joins a body that is in flight for another request: this request reads the body too. If the other request's client leaves, the
    /// fetch continues for this request.
    func joinBody(for driver: ExchangeDriver) {
        guard let body = driver.exchange.ranges.joinedBody,
            let pending = driver.store.pendingResponses(of: driver.exchange.key).first(where: { $0.row == body.row }),
            let reader = pending.attach()
        else { return driver.handle(.fetchNotShared(at: driver.now)) }
        driver.delivery.read(by: reader, from: body.range.lowerBound)
        let response = driver.exchange.ranges.completion?.partial.response ?? body.response
        driver.handle(.fetchShared(response, length: .known(body.wholeLength), at: driver.now))
    }

    // MARK: End of the wait

    private func beginTimer(for driver: ExchangeDriver) {
        guard let wait = driver.exchange.longestWait else { return }
        let timer = driver.loop.makeTimer(driver)
        self.timer = timer
        driver.loop.setTimer(timer, afterMilliseconds: Int(wait))
    }

    private func endTimer(for driver: ExchangeDriver) {
        if let timer { driver.loop.removeTimer(timer) }
        timer = nil
    }

    func tookTooLong(for driver: ExchangeDriver) {
        guard leave(for: driver) else { return }
        driver.handle(.waitEnded(at: driver.now))
        driver.client?.flush()
    }

    func exchangeEnded(for driver: ExchangeDriver) {
        if joined != nil || timer != nil { _ = leave(for: driver) }
        guard let asking else { return }
        // The client has left while the shared tier was asked: one of the waiting requests asks again.
        self.asking = nil
        driver.loop.forget(asking)
        driver.storing.releaseJoined(.abandoned, for: driver)
    }

    /// Stops waiting for the joined fetch.
    /// - Returns: whether it was waiting.
    private func leave(for driver: ExchangeDriver) -> Bool {
        endTimer(for: driver)
        guard let joined else { return false }
        self.joined = nil
        driver.loop.forget(joined.reply)
        joined.entry.leave(joined.number)
        return true
    }
}
