import BodyTransforms
import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPSerialization
import ProxyCore
import ProxyPolicy
import ResponseStore

/// Transforms of stored responses that rules require: the result is found in the cache, or is made once for all requests, on another
/// thread.
final class Transforming {
    /// The transform that this exchange makes for all waiting requests; `nil` after the work has been started.
    private var leads: TransformCache.Lead?
    /// The work that was started: its time limit and cancellation (`WorkPatience`), and the cache's entry for it if other requests may wait
    /// for the result.
    private var task: (patience: WorkPatience, lead: TransformCache.Lead?)?
    private var waiting: Reply<TransformCache.Made>?
    /// The bytes of the stored body that were read so far.
    private var gathered: GatheredBody?
    /// The length of the stored body, if it was read to its end from a source that can be read only once; otherwise `nil`.
    private var readLength: UInt64?
    /// The part of the memory limit for gathered bodies that the copied bytes use.
    private var share: GatheredMemory.Share?
    private var hold: BodyHold?
    /// The rule's time limit, which begins when the whole body is there.
    private var timer: TimerID?
    /// Counts the transforms, to recognize replies that arrive too late.
    private(set) var number: UInt64 = 0

    private func reset() {
        number &+= 1
        leads = nil
        task = nil
        waiting = nil
        gathered = nil
        readLength = nil
        share = nil
        hold = nil
    }

    func begin(for driver: ExchangeDriver) {
        guard let selected = driver.exchange.cache.selected, let plan = driver.exchange.transformPlan,
            let source = driver.exchange.transform.source
        else { return }
        // A response that is not in the store has no row, so it has no key in the cache of transforms.
        guard selected.row > 0 else { return gatherStored(selected, for: driver) }
        let key = TransformCache.Key(row: selected.row, fingerprint: plan.fingerprint, source: source)
        let number = number
        let join = cache(of: driver).join(key, for: selected, within: TransformCache.Bounds(plan)) {
            driver.loop.reply { [self] (made: TransformCache.Made) in
                guard self.number == number else { return }
                receive(made, for: driver)
                driver.client?.flush()
            }
        }
        switch join {
        case .ready(let variant): end(.variant(variant), for: driver)
        case .made(let content): end(cached(content, of: selected, key, for: driver), for: driver)
        case .waits(let reply):
            waiting = reply
            beginTimer(for: driver)
        case .failed(let fault): end(.failed(fault), for: driver)
        case .leads(let lead):
            leads = lead
            gatherStored(selected, for: driver)
        }
    }

    private func cache(of driver: ExchangeDriver) -> TransformCache { driver.worker.shared.variants }

    private func receive(_ made: TransformCache.Made, for driver: ExchangeDriver) {
        waiting = nil
        switch made {
        case .content(let content): end(.made(content), for: driver)
        case .failed(let fault): end(.failed(fault), for: driver)
        case .abandoned: begin(for: driver)
        }
    }

    private func cached(
        _ content: TransformedContent, of stored: StoredResponse, _ key: TransformCache.Key, for driver: ExchangeDriver
    ) -> TransformEnd {
        guard let variant = driver.exchange.variant(of: stored, content) else { return .made(content) }
        cache(of: driver).note(variant, of: stored, key)
        return .variant(variant)
    }

    /// Caches the transformed body of an origin's response, for requests that come after the response was stored.
    func keep(for kept: StoredResponse, _ driver: ExchangeDriver) {
        guard case .made(let content)? = driver.exchange.transform.end, let plan = driver.exchange.transformPlan,
            let source = driver.exchange.transform.source, kept.row > 0
        else { return }
        let key = TransformCache.Key(row: kept.row, fingerprint: plan.fingerprint, source: source)
        let gone = cache(of: driver).put(
            .content(content), key, of: kept, within: TransformCache.Bounds(plan),
            limit: driver.exchange.context.limits.transformedBytes)
        driver.worker.checks.letGo(of: gone)
    }

    // MARK: Body

    private func gatherStored(_ stored: StoredResponse, for driver: ExchangeDriver) {
        if driver.delivery.reader != nil { return readPending(for: driver) }
        switch stored.body {
        case .bytes(let bytes): work(on: [bytes], of: stored, for: driver)
        case .onDisk(let body):
            hold = driver.store.hold(body)
            beginReading(for: driver).reserve(Int(clamping: body.length))
            readStored(body, for: driver)
        }
    }

    private func beginReading(for driver: ExchangeDriver) -> GatheredBody {
        let gathered = GatheredBody(driver.worker.checks)
        self.gathered = gathered
        share = GatheredMemory.Share(driver.worker.checks.memory)
        return gathered
    }

    private func readStored(_ body: BodyReference, for driver: ExchangeDriver) {
        let place = UInt64(gathered?.count ?? 0)
        guard place < body.length else { return workOnGathered(for: driver) }
        read(body, at: place, for: driver) { [self] in readStored(body, for: driver) }
    }

    /// Reads a body in flight: the bytes received so far, then the rest as it arrives.
    private func readPending(for driver: ExchangeDriver) {
        guard let reader = driver.delivery.reader else { return }
        let gathered = gathered ?? beginReading(for: driver)
        if case .known(let length)? = driver.exchange.cache.selectedLength { gathered.reserve(Int(clamping: length)) }
        while true {
            let place = UInt64(gathered.count)
            switch reader.read(at: place) {
            case .bytes(let chunk, let range):
                let isTaken = chunk.withBytes(range) { take($0.bindMemory(to: UInt8.self).span, for: driver) }
                if !isTaken { return }
            case .wait:
                let number = number
                let reply = driver.loop.reply { [self] (_: Void) in
                    guard self.number == number else { return }
                    readPending(for: driver)
                    driver.client?.flush()
                }
                return reader.whenReadable(at: place, reply)
            case .end: return workOnGathered(for: driver)
            case .failed: return end(.broken(.responseIncomplete), for: driver)
            // The next bytes for this reader are no longer in memory, so they are read from disk.
            case .onDisk(let body): return read(body, at: place, for: driver) { [self] in readPending(for: driver) }
            }
        }
    }

    private func read(_ body: BodyReference, at place: UInt64, for driver: ExchangeDriver, then goOn: @escaping () -> Void) {
        let number = number
        let reply = driver.loop.reply { [self] (result: BodyReadResult) in
            guard self.number == number else { return }
            switch result {
            case .bytes(let bytes, let range): if take(bytes.span.extracting(range), for: driver) { goOn() }
            case .failed: end(.broken(.internalError), for: driver)
            }
            driver.client?.flush()
        }
        driver.store.readBody(body, at: place, reply: reply)
    }

    /// - Returns: `false` if the body is too long: the transform has then ended.
    private func take(_ bytes: Span<UInt8>, for driver: ExchangeDriver) -> Bool {
        guard let gathered else { return false }
        gathered.append(bytes)
        if let plan = driver.exchange.transformPlan, UInt64(gathered.count) > plan.maximumBodyLength {
            end(.failed(.bodyTooLarge), for: driver)
            return false
        }
        if share?.grow(to: gathered.memory, limit: driver.exchange.context.limits.checkedBytes) != false { return true }
        end(.refused, for: driver)
        return false
    }

    private func workOnGathered(for driver: ExchangeDriver) {
        guard let selected = driver.exchange.cache.selected, let gathered else { return }
        // If the original must be delivered after all, its bytes come from `gathered`, because a pending response can be read only once.
        if driver.delivery.reader != nil {
            driver.delivery.deliver(gathered: gathered, share)
            readLength = UInt64(gathered.count)
        }
        work(on: gathered.pieces, of: selected, for: driver)
    }

    // MARK: Work on the checks thread

    private func work(on body: [[UInt8]], of stored: StoredResponse, for driver: ExchangeDriver) {
        guard let plan = driver.exchange.transformPlan, let source = driver.exchange.transform.source else { return }
        let transform = TransformWork(plan, from: source, of: stored.head)
        let (cache, limit, lead) = (cache(of: driver), driver.exchange.context.limits.transformedBytes, leads)
        let bounds = TransformCache.Bounds(plan)
        let number = number
        let reply = driver.loop.reply { [self] (made: TransformEnd) in
            guard self.number == number else { return }
            if case .made(let content) = made, let lead {
                end(cached(content, of: stored, lead.key, for: driver), for: driver)
            } else {
                end(made, for: driver)
            }
            driver.client?.flush()
        }
        let isTaken = driver.worker.checks.run(.body, limit: driver.exchange.context.limits.waitingChecks, reply: reply) {
            let end = transform.end(of: GatheredBody.join(body))
            // Waiting requests get the result even if the leading request's client has left.
            if let lead { cache.settle(lead, end.forOthers, of: stored, within: bounds, limit: limit) }
            return end
        }
        guard isTaken else {
            driver.loop.forget(reply)
            return end(.refused, for: driver)
        }
        leads = nil
        task = (transform.patience, lead)
        beginTimer(for: driver)
    }

    /// The transform of an origin's body begins after its check.
    func workBegan(_ patience: WorkPatience, for driver: ExchangeDriver) {
        task = (patience, nil)
        beginTimer(for: driver)
    }

    func workEnded(for driver: ExchangeDriver) {
        task = nil
        endTimer(for: driver)
    }

    /// Starts the time limit: the client waits no longer than the rule says; the work in progress continues for other requests.
    private func beginTimer(for driver: ExchangeDriver) {
        guard let plan = driver.exchange.transformPlan else { return }
        let timer = driver.loop.makeTimer(driver)
        self.timer = timer
        driver.loop.setTimer(timer, afterMilliseconds: Int(plan.timeout))
    }

    func isTimed(by timer: TimerID) -> Bool { timer == self.timer }

    func tookTooLong(for driver: ExchangeDriver) {
        guard driver.exchange.state == .checking else {
            end(.failed(.timedOut), for: driver)
            driver.client?.flush()
            return
        }
        reset()
        endTimer(for: driver)
        driver.checking.tookTooLong(for: driver)
    }

    // MARK: End of the transform

    private func end(_ end: TransformEnd, for driver: ExchangeDriver) {
        let length = readLength
        leave(for: driver)
        if case .failed = end {} else { driver.delivery.forgetGathered() }
        driver.handle(.transformed(end, length: length, at: driver.now))
    }

    /// Stops waiting for a transform.
    private func leave(for driver: ExchangeDriver) {
        if let leads { cache(of: driver).abandon(leads) }
        if let waiting { driver.loop.forget(waiting) }
        endTimer(for: driver)
        reset()
    }

    /// Called when the exchange has ended, possibly because its client left: cancels the work, unless other requests wait for it.
    func exchangeEnded(for driver: ExchangeDriver) {
        if let task, task.lead.map(cache(of: driver).leave) ?? true { task.patience.giveUp() }
        leave(for: driver)
    }

    /// Releases the transformed content, which is no longer needed.
    func letGo(for driver: ExchangeDriver) {
        guard let body = driver.exchange.takeTransformed() else { return }
        driver.worker.checks.letGo(of: [consume body])
    }

    private func endTimer(for driver: ExchangeDriver) {
        if let timer { driver.loop.removeTimer(timer) }
        timer = nil
    }
}

extension TransformEnd {
    /// The result for other waiting requests.
    fileprivate var forOthers: TransformCache.Made {
        switch self {
        case .made(let content): .content(content)
        // A timeout is this request's own deadline; the deadlines of the waiting requests may be later.
        case .failed(.timedOut), .variant, .refused, .broken: .abandoned
        case .failed(let fault): .failed(fault)
        }
    }
}
