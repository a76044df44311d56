import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ResponseStore
import SharedFetches

/// A response that is being stored, and the requests that have joined its fetch.
final class ResponseStoring {
    /// The fetch that other requests can join.
    private var entry: FetchEntry?
    private var gathered: [UInt8] = []
    private(set) var pending: PendingResponse?
    /// The store's invalidation epoch at the time when the request was sent.
    private var moment = StoreEpoch.beginning
    /// The right to give the response to the other machines of a farm; `nil` without a shared tier.
    private var lease: SharedLease?

    /// Called before each attempt to fetch. The joined requests and the lease belong to all attempts together.
    func reset() {
        pending = nil
        if gathered.capacity > Self.keptCapacity { gathered = [] } else { gathered.removeAll(keepingCapacity: true) }
    }

    /// The maximum capacity kept for the next response, in bytes.
    private static let keptCapacity = 64 * 1024

    func fetchBegins(for driver: ExchangeDriver) { moment = driver.store.moment(of: driver.exchange.key) }

    // MARK: Joined requests

    func lead(_ entry: FetchEntry) { self.entry = entry }

    /// Notes that the response will be given to the other machines.
    func share(under lease: SharedLease?) { self.lease = lease }

    private func offer(_ stored: StoredResponse, for driver: ExchangeDriver) {
        guard let lease else { return }
        self.lease = nil
        driver.worker.shared.tier?.offer(stored, under: lease)
    }

    /// Ends the shared fetch: notifies the joined requests; later requests fetch again.
    func releaseJoined(_ result: SharedFetch, isUnshareable: Bool = false, for driver: ExchangeDriver) {
        if lease != nil { lease = nil }
        guard let entry else { return }
        self.entry = nil
        driver.worker.fetches.remove(entry, isUnshareable: isUnshareable)
        entry.publish(result)
    }

    /// The demand for the fetch. The count of the pending response's readers is reduced by `readers`.
    func demand(isForStore: Bool, receivedCount: UInt64, besides readers: Int) -> FetchDemand {
        let body = pending.map { pending in
            FetchDemand.Body(
                length: pending.plan.length, receivedCount: receivedCount, isKept: pending.isToBeKept,
                isOverlapped: pending.isOverlapped, readerCount: pending.readerCount - readers)
        }
        return FetchDemand(isAwaited: entry?.isAwaited == true, isForStore: isForStore, body: body)
    }

    var hasReaders: Bool { pending.map { $0.readerCount > 0 } ?? false }

    /// Whether another fetch brings the whole response.
    func isFetchedElsewhere(for driver: ExchangeDriver) -> Bool {
        driver.store.pendingResponses(of: driver.exchange.key).contains { $0 !== pending && $0.plan.part == nil }
    }

    // MARK: Beginning to store

    /// Begins to store the response, in the way that the exchange has planned.
    func begin(for driver: ExchangeDriver) {
        let plan = driver.exchange.storagePlan
        if driver.exchange.ranges.part == nil, entry == nil { driver.worker.fetches.noteShareable(driver.exchange.key) }
        guard case .gather(let length) = plan else { return _ = stream(by: plan, for: driver) }
        // The store is queried before the head is sent, because Cache-Status reports whether the response is stored.
        guard driver.store.admitNew() else { return reject(plan.rejectionByStore, for: driver) }
        driver.fetch.go(by: .gathering)
        if let length { gathered.reserveCapacity(length) }
    }

    /// - Returns: `false` if the store does not accept the body.
    private func stream(by plan: StoragePlan, for driver: ExchangeDriver) -> Bool {
        let isInvalidated = isOutdated(for: driver)
        let stored = isInvalidated ? nil : driver.exchange.makeStoredResponse(body: .bytes([]))
        let greatestLength = stored.map(driver.store.greatestBodyLength) ?? 0
        switch plan.admission(isInvalidated: isInvalidated, isStorable: stored != nil, greatestLength: greatestLength) {
        case .offer: break
        case .passOn: return false
        case .reject(let rejection):
            reject(rejection, for: driver)
            return false
        }
        guard let stored, let pending = driver.store.beginPending(pendingPlan(plan, of: stored, for: driver)) else {
            reject(plan.rejectionByStore, for: driver)
            return false
        }
        driver.fetch.go(by: .pending)
        self.pending = pending
        // The fetch continues as long as it has readers, so a client that has left must not be counted as a reader.
        if driver.client != nil, let reader = pending.attach() { driver.delivery.read(by: reader) }
        entry?.publish(.pending(stored, pending))
        return true
    }

    private func pendingPlan(_ plan: StoragePlan, of stored: StoredResponse, for driver: ExchangeDriver) -> PendingPlan {
        switch plan {
        case .streamPart(let part, let length):
            PendingPlan(response: stored, length: length, part: (start: part.start, whole: part.whole), since: moment)
        case .gather, .stream(length: nil):
            PendingPlan(response: stored, length: nil, keptLength: driver.exchange.keptBodyLength, since: moment)
        case .stream(let length):
            PendingPlan(
                response: stored, length: length, keptLength: driver.exchange.keptBodyLength,
                isInPlaceOfPart: driver.exchange.partToCut != nil, since: moment)
        }
    }

    /// Called when the origin sends the missing part of a response that is stored in part. The client gets that part at its position.
    func complete(for driver: ExchangeDriver) {
        guard let completion = driver.exchange.ranges.completion, let whole = driver.exchange.cache.selected,
            case .onDisk(let body) = whole.body
        else { return driver.handle(.completionRefused(at: driver.now)) }
        // Another request's fetch brings the missing part, and the client reads it too.
        if driver.exchange.ranges.joinedBody != nil { return driver.delivery.sendCompleted(completion, of: body, for: driver) }
        let missing = completion.missing
        let plan = PendingPlan(
            response: whole, length: missing.upperBound - missing.lowerBound,
            part: (start: missing.lowerBound, whole: completion.partial.wholeLength), since: moment)
        guard !isOutdated(for: driver), let pending = driver.store.beginPending(plan), let reader = pending.attach() else {
            return driver.handle(.completionRefused(at: driver.now))
        }
        driver.fetch.go(by: .pending)
        self.pending = pending
        // From here on, other requests find this body in flight.
        if driver.client == nil { return releaseJoined(.abandoned, for: driver) }
        driver.delivery.read(by: reader, from: missing.lowerBound)
        driver.delivery.sendCompleted(completion, of: body, for: driver)
    }

    // MARK: Content

    /// - Returns: whether the response is being streamed into the store.
    func append(_ bytes: Span<UInt8>, for driver: ExchangeDriver) -> Bool {
        guard let pending else { return false }
        append(bytes, to: pending, for: driver)
        return true
    }

    private func append(_ bytes: Span<UInt8>, to pending: PendingResponse, for driver: ExchangeDriver) {
        let flow = pending.append(bytes)
        // The store counts this response as not stored when the body ends.
        if pending.isTooLongToKeep, !driver.exchange.isStorageRefused { reject(.tooLargeForStore, for: driver) }
        guard flow == .pause else { return }
        driver.fetch.pause()
        let number = driver.fetch.number
        let reply = driver.loop.reply { (_: FlowControl) in
            guard driver.fetch.number == number else { return }
            driver.fetch.resume(for: driver)
        }
        pending.whenReady(reply)
    }

    func gather(_ bytes: Span<UInt8>, for driver: ExchangeDriver) {
        gathered.append(bytes)
        if driver.exchange.gathers(gathered.count) {
            driver.fetch.sendDirect(bytes, for: driver)
        } else {
            streamGathered(for: driver)
        }
    }

    /// The body is larger than the limit for gathering: from here on it is streamed through the store.
    private func streamGathered(for driver: ExchangeDriver) {
        let sent = driver.delivery.sentCount
        guard mayKeepGathered(for: driver), stream(by: .stream(length: nil), for: driver), let pending else {
            driver.fetch.go(by: .direct)
            // The requests that have joined fetch for themselves, so no client needs the rest.
            if driver.client == nil { return driver.fetch.abandon(for: driver) }
            let rest = Array(gathered[Int(sent)...])
            gathered = []
            return driver.fetch.sendDirect(rest.span, for: driver)
        }
        let bytes = gathered
        gathered = []
        append(bytes.span, to: pending, for: driver)
        if driver.client != nil { driver.delivery.pump(from: sent, for: driver) }
    }

    private func mayKeepGathered(for driver: ExchangeDriver) -> Bool {
        guard let rejection = driver.exchange.rejection(ofLength: gathered.count) else { return true }
        reject(rejection, for: driver)
        return false
    }

    // MARK: End of the body

    func storeGathered(_ trailers: Fields, for driver: ExchangeDriver) {
        guard mayKeepGathered(for: driver),
            let stored = driver.exchange.makeStoredResponse(body: .bytes(gathered), trailers: trailers)
        else { return }
        gathered = []
        keep(stored, isPromised: true, for: driver)
    }

    /// Stores a complete response. If its key was invalidated after the request was sent, only the requests that have joined the fetch get
    /// the response.
    /// - Parameter isPromised: Whether the head that was sent says that the response is stored.
    func keep(_ stored: StoredResponse, isPromised: Bool, for driver: ExchangeDriver) {
        // The check for a purge comes before `put`: later requests must not get the purged response, but the joined requests do.
        if isOutdated(for: driver) { return reject(.invalidated, sharing: stored, for: driver) }
        switch driver.store.put(stored, isPromised: isPromised, since: moment) {
        case .accepted(let kept):
            if driver.exchange.transform.source != nil { driver.transforming.keep(for: kept, driver) }
            offer(kept, for: driver)
            releaseJoined(.complete(kept), for: driver)
        case .busy: reject(.busy, for: driver)
        case .invalidated: reject(.invalidatedInStore, sharing: stored, for: driver)
        }
    }

    /// Ends the body. Requests find the pending response until the store has it under its key.
    func finish(_ trailers: Fields, for driver: ExchangeDriver) {
        guard let pending else { return }
        if pending.finish(trailers: trailers) {
            driver.tell(.bodyStored)
            removeOutdated(for: driver)
        }
        // A response that is not kept is only for its current readers.
        guard !pending.isTooLongToKeep, let entry else { return }
        self.entry = nil
        let (fetches, tier, lease) = (driver.worker.fetches, driver.worker.shared.tier, lease)
        self.lease = nil
        pending.whenStored(
            driver.loop.reply { (outcome: PendingOutcome) in
                fetches.remove(entry)
                if let lease, case .stored(let stored) = outcome { tier?.offer(stored, under: lease) }
            })
    }

    func abort() { pending?.abort() }

    /// Notes that a response gathered to be stored is incomplete.
    func noteIncomplete(for driver: ExchangeDriver) {
        if driver.fetch.mode == .gathering { driver.store.noteUnstored(.bodyIncomplete) }
    }

    /// Called when the response must not be stored any more: from now on it is only for this client and the other readers of its body.
    func stopKeeping(for driver: ExchangeDriver) {
        pending?.stopKeeping()
        removeOutdated(for: driver)
        releaseJoined(.notShareable, for: driver)
    }

    /// Called when the response will not be stored, although storing it was planned or had begun.
    /// - Parameter stored: The response, if it is complete.
    private func reject(_ rejection: StorageRejection, sharing stored: StoredResponse? = nil, for driver: ExchangeDriver) {
        if !rejection.isCounted { driver.store.noteUnstored(UnstoredReason(rejection)) }
        driver.tell(.storageRefused(rejection.reason))
        if rejection.removesReplaced { removeOutdated(for: driver) }
        switch rejection.joined {
        case .wait: break
        case .askAnew: releaseJoined(.abandoned, for: driver)
        case .fetchThemselves: releaseJoined(.notShareable, for: driver)
        case .useResponse: if let stored { releaseJoined(.complete(stored), for: driver) }
        }
    }

    // MARK: Stored responses

    /// Whether the key was invalidated or purged after the request was sent: the response may be older than the invalidation (RFC 9111
    /// §4.4).
    private func isOutdated(for driver: ExchangeDriver) -> Bool {
        driver.store.isInvalidated(driver.exchange.key, since: moment)
    }

    func freshen(for driver: ExchangeDriver) {
        if !isOutdated(for: driver) {
            for one in driver.exchange.changes.freshened { driver.store.freshen(one.old, as: one.new, since: moment) }
        }
        guard let selected = driver.exchange.cache.selected,
            driver.exchange.changes.freshened.contains(where: { $0.new === selected })
        else {
            return
        }
        offer(selected, for: driver)
        releaseJoined(.complete(selected), for: driver)
    }

    /// Removes stored responses that are outdated or must no longer be stored.
    func removeOutdated(for driver: ExchangeDriver) {
        for removed in driver.exchange.changes.removed { driver.store.remove(removed) }
    }
}
