import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ResponseStore

/// A response on its way into the store, and the requests that have joined its fetch.
final class ResponseStoring {
    /// The fetch that others can join.
    private var entry: FetchEntry?
    private var gathered: [UInt8] = []
    private(set) var pending: PendingResponse?
    /// When the request went out.
    private var moment = StoreEpoch.beginning

    func reset() {
        pending = nil
        if gathered.capacity > Self.keptCapacity { gathered = [] } else { gathered.removeAll(keepingCapacity: true) }
    }

    /// In bytes.
    private static let keptCapacity = 64 * 1024

    func fetchBegins(for driver: ExchangeDriver) { moment = driver.store.moment(of: driver.exchange.key) }

    // MARK: Those that have joined

    func lead(_ entry: FetchEntry) { self.entry = entry }

    /// Ends what others have joined: they are told, and whoever comes later starts anew.
    func releaseJoined(_ result: SharedFetch, isUnshareable: Bool = false, for driver: ExchangeDriver) {
        guard let entry else { return }
        self.entry = nil
        driver.worker.fetches.remove(entry, isUnshareable: isUnshareable)
        entry.publish(result)
    }

    /// Who wants the fetch, besides so many readers.
    func demand(isForStore: Bool, receivedCount: UInt64, besides readers: Int) -> FetchDemand {
        let body = pending.map { pending in
            FetchDemand.Body(
                length: pending.plan.length, receivedCount: receivedCount, isKept: pending.isToBeKept,
                isOverlapped: pending.isOverlapped, readerCount: pending.readerCount - readers)
        }
        return FetchDemand(isAwaited: entry?.isAwaited == true, isForStore: isForStore, body: body)
    }

    var hasReaders: Bool { pending.map { $0.readerCount > 0 } ?? false }

    /// Another fetch brings the whole of the same.
    func isFetchedElsewhere(for driver: ExchangeDriver) -> Bool {
        driver.store.pendingResponses(of: driver.exchange.key).contains { $0 !== pending && $0.plan.part == nil }
    }

    // MARK: Beginning

    /// The response is to be stored, in the way that the exchange has planned.
    func begin(for driver: ExchangeDriver) {
        let plan = driver.exchange.storagePlan
        if driver.exchange.ranges.part == nil, entry == nil { driver.worker.fetches.noteShareable(driver.exchange.key) }
        guard case .gather(let length) = plan else { return _ = stream(by: plan, for: driver) }
        // Asked now, since Cache-Status goes with the head.
        guard driver.store.admitNew() else { return reject(plan.rejectionByStore, for: driver) }
        driver.fetch.go(by: .gathering)
        if let length { gathered.reserveCapacity(length) }
    }

    /// - Returns: `false` where the store does not take the body.
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
        // Each reader is one for whom the fetch goes on: a client that has left is none.
        if driver.connection != nil, let reader = pending.attach() { driver.delivery.read(by: reader) }
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

    /// The origin sends what was missing of a response that is stored in part: the client gets it in its place.
    func complete(for driver: ExchangeDriver) {
        guard let completion = driver.exchange.ranges.completion, let whole = driver.exchange.cache.selected,
            case .onDisk(let body) = whole.body
        else { return driver.handle(.completionRefused(at: driver.now)) }
        // What is missing is read along where it comes for another.
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
        // Who comes for it from now on finds what is under way.
        if driver.connection == nil { return releaseJoined(.abandoned, for: driver) }
        driver.delivery.read(by: reader, from: missing.lowerBound)
        driver.delivery.sendCompleted(completion, of: body, for: driver)
    }

    // MARK: Content

    /// - Returns: whether it is being streamed.
    func append(_ bytes: Span<UInt8>, for driver: ExchangeDriver) -> Bool {
        guard let pending else { return false }
        append(bytes, to: pending, for: driver)
        return true
    }

    private func append(_ bytes: Span<UInt8>, to pending: PendingResponse, for driver: ExchangeDriver) {
        let flow = pending.append(bytes)
        // The pending response itself is counted where it ends.
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

    /// The body has turned out larger than what is gathered: from here on it goes through the store.
    private func streamGathered(for driver: ExchangeDriver) {
        let sent = driver.delivery.sentCount
        guard mayKeepGathered(for: driver), stream(by: .stream(length: nil), for: driver), let pending else {
            driver.fetch.go(by: .direct)
            // The others have been told to ask for themselves: there is nobody to whom the rest could go.
            if driver.connection == nil { return driver.fetch.abandon(for: driver) }
            let rest = Array(gathered[Int(sent)...])
            gathered = []
            return driver.fetch.sendDirect(rest.span, for: driver)
        }
        let bytes = gathered
        gathered = []
        append(bytes.span, to: pending, for: driver)
        if driver.connection != nil { driver.delivery.pump(from: sent, for: driver) }
    }

    private func mayKeepGathered(for driver: ExchangeDriver) -> Bool {
        guard let rejection = driver.exchange.rejection(ofLength: gathered.count) else { return true }
        reject(rejection, for: driver)
        return false
    }

    // MARK: Ends

    func storeGathered(_ trailers: Fields, for driver: ExchangeDriver) {
        guard mayKeepGathered(for: driver),
            let stored = driver.exchange.makeStoredResponse(body: .bytes(gathered), trailers: trailers)
        else { return }
        gathered = []
        keep(stored, isPromised: true, for: driver)
    }

    /// Stores a response that is complete, unless its key was invalidated meanwhile: it is then for those who have joined alone.
    /// - Parameter isPromised: The head has said that it is stored.
    func keep(_ stored: StoredResponse, isPromised: Bool, for driver: ExchangeDriver) {
        // Asked first because of what a purge makes stale: it is kept from those who come, not from those who have joined.
        if isOutdated(for: driver) { return reject(.invalidated, sharing: stored, for: driver) }
        switch driver.store.put(stored, isPromised: isPromised, since: moment) {
        case .accepted(let kept):
            if driver.exchange.transform.source != nil { driver.transforming.keep(for: kept, driver) }
            releaseJoined(.complete(kept), for: driver)
        case .busy: reject(.busy, for: driver)
        case .invalidated: reject(.invalidatedInStore, sharing: stored, for: driver)
        }
    }

    /// Until the store has it under its key, whoever asks for it finds the pending response.
    func finish(_ trailers: Fields, for driver: ExchangeDriver) {
        guard let pending else { return }
        if pending.finish(trailers: trailers) {
            driver.tell(.bodyStored)
            removeOutdated(for: driver)
        }
        // What is not kept is for those who read it already.
        guard !pending.isTooLongToKeep, let entry else { return }
        self.entry = nil
        let fetches = driver.worker.fetches
        pending.whenStored(driver.loop.reply { (_: PendingOutcome) in fetches.remove(entry) })
    }

    func abort() { pending?.abort() }

    /// The body of a response that was gathered to be stored does not come whole.
    func noteIncomplete(for driver: ExchangeDriver) {
        if driver.fetch.mode == .gathering { driver.store.noteUnstored(.bodyIncomplete) }
    }

    /// What is being stored is for this client and its readers alone.
    func stopKeeping(for driver: ExchangeDriver) {
        pending?.stopKeeping()
        removeOutdated(for: driver)
        releaseJoined(.notShareable, for: driver)
    }

    /// The response is not stored after all.
    /// - Parameter stored: The response, where it is complete.
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

    // MARK: What is stored

    /// The key was invalidated or purged after the request had gone out: the response may tell what was before (RFC 9111 §4.4).
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
        releaseJoined(.complete(selected), for: driver)
    }

    /// What no longer holds, or may not be stored any more, leaves the store.
    func removeOutdated(for driver: ExchangeDriver) {
        for removed in driver.exchange.changes.removed { driver.store.remove(removed) }
    }
}
