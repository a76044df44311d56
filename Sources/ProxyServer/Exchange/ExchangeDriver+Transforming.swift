import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPSerialization
import ProxyCore
import ProxyPolicy
import ResponseStore

/// What rules want made of stored responses: found in the cache, or made there once for all who want the same, off the loop.
extension ExchangeDriver {
    func transform() {
        guard let selected = exchange.cache.selected, let plan = exchange.transformPlan, let source = exchange.transform.source
        else {
            return
        }
        // What is in no store has no row of its own.
        guard selected.row > 0 else { return gatherStored(selected) }
        let key = TransformCache.Key(row: selected.row, fingerprint: plan.fingerprint, source: source)
        let number = transforming.number
        let join = worker.shared.variants.join(key, for: selected, within: TransformCache.Bounds(plan)) {
            worker.loop.reply { [self] (made: TransformCache.Made) in
                guard transforming.number == number else { return }
                receive(made)
                connection?.flush()
            }
        }
        switch join {
        case .ready(let variant): endTransforming(.variant(variant))
        case .made(let content): endTransforming(cached(content, of: selected, key))
        case .waits(let reply):
            transforming.waiting = reply
            boundTransforming()
        case .failed(let fault): endTransforming(.failed(fault))
        case .leads(let lead):
            transforming.leads = lead
            gatherStored(selected)
        }
    }

    private func receive(_ made: TransformCache.Made) {
        transforming.waiting = nil
        switch made {
        case .content(let content): endTransforming(.made(content))
        case .failed(let fault): endTransforming(.failed(fault))
        case .abandoned: transform()
        }
    }

    private func cached(_ content: TransformedContent, of stored: StoredResponse, _ key: TransformCache.Key) -> TransformEnd {
        guard let variant = exchange.variant(of: stored, content) else { return .made(content) }
        worker.shared.variants.note(variant, of: stored, key)
        return .variant(variant)
    }

    /// What was made of the origin's body, for those who come once it is stored.
    func shelve(for kept: StoredResponse) {
        guard case .made(let content)? = exchange.transform.end, let plan = exchange.transformPlan,
            let source = exchange.transform.source, kept.row > 0
        else { return }
        let key = TransformCache.Key(row: kept.row, fingerprint: plan.fingerprint, source: source)
        let gone = worker.shared.variants.put(
            .content(content), key, of: kept, within: TransformCache.Bounds(plan), limit: exchange.context.limits.transformedBytes
        )
        worker.checks.letGo(of: gone)
    }

    // MARK: The body

    private func gatherStored(_ stored: StoredResponse) {
        if delivery.reader != nil { return readPending() }
        switch stored.body {
        case .bytes(let bytes): work(on: [bytes], of: stored)
        case .onDisk(let body):
            transforming.hold = worker.store.hold(body)
            beginReading().reserve(Int(clamping: body.length))
            readStored(body)
        }
    }

    private func beginReading() -> GatheredBody {
        let gathered = GatheredBody(worker.checks)
        transforming.gathered = gathered
        transforming.share = GatheredMemory.Share(worker.checks.memory)
        return gathered
    }

    private func readStored(_ body: BodyReference) {
        let place = UInt64(transforming.gathered?.count ?? 0)
        guard place < body.length else { return workOnGathered() }
        let number = transforming.number
        let reply = worker.loop.reply { [self] (result: BodyReadResult) in
            guard transforming.number == number else { return }
            switch result {
            case .bytes(let bytes, let range):
                if take(bytes.span.extracting(range)) { readStored(body) }
            case .failed: endTransforming(.broken(.internalError))
            }
            connection?.flush()
        }
        worker.store.readBody(body, at: place, reply: reply)
    }

    /// A body that is on its way: what has come of it, and then what comes.
    private func readPending() {
        guard let reader = delivery.reader else { return }
        let gathered = transforming.gathered ?? beginReading()
        if case .known(let length)? = exchange.cache.selectedLength { gathered.reserve(Int(clamping: length)) }
        while true {
            let place = UInt64(gathered.count)
            switch reader.read(at: place) {
            case .bytes(let chunk, let range):
                let isTaken = chunk.withBytes(range) { take($0.bindMemory(to: UInt8.self).span) }
                if !isTaken { return }
            case .wait:
                let number = transforming.number
                let reply = worker.loop.reply { [self] (_: Void) in
                    guard transforming.number == number else { return }
                    readPending()
                    connection?.flush()
                }
                return reader.whenReadable(at: place, reply)
            case .end: return workOnGathered()
            case .failed: return endTransforming(.broken(.responseIncomplete))
            case .onDisk(let body): return readLagging(body, at: place)
            }
        }
    }

    private func readLagging(_ body: BodyReference, at place: UInt64) {
        let number = transforming.number
        let reply = worker.loop.reply { [self] (result: BodyReadResult) in
            guard transforming.number == number else { return }
            switch result {
            case .bytes(let bytes, let range): if take(bytes.span.extracting(range)) { readPending() }
            case .failed: endTransforming(.broken(.internalError))
            }
            connection?.flush()
        }
        worker.store.readBody(body, at: place, reply: reply)
    }

    /// - Returns: `false` where there is too much of it: it has ended then.
    private func take(_ bytes: Span<UInt8>) -> Bool {
        guard let gathered = transforming.gathered else { return false }
        gathered.append(bytes)
        if let plan = exchange.transformPlan, UInt64(gathered.count) > plan.maximumBodyLength {
            endTransforming(.failed(.bodyTooLarge))
            return false
        }
        if transforming.share?.grow(to: gathered.memory, limit: exchange.context.limits.checkedBytes) != false { return true }
        endTransforming(.refused)
        return false
    }

    private func workOnGathered() {
        guard let selected = exchange.cache.selected, let gathered = transforming.gathered else { return }
        // If it is delivered as it came, it is from here: a pending response is read but once.
        if delivery.reader != nil {
            delivery.reader = nil
            delivery.whole = gathered
            delivery.checkShare = transforming.share
            transforming.readLength = UInt64(gathered.count)
        }
        work(on: gathered.pieces, of: selected)
    }

    // MARK: The work

    private func work(on body: [[UInt8]], of stored: StoredResponse) {
        guard let plan = exchange.transformPlan, let source = exchange.transform.source else { return }
        let work = TransformWork(plan, from: source, of: stored.head)
        let (cache, limit, lead) = (worker.shared.variants, exchange.context.limits.transformedBytes, transforming.leads)
        let bounds = TransformCache.Bounds(plan)
        let number = transforming.number
        let reply = worker.loop.reply { [self] (end: TransformEnd) in
            guard transforming.number == number else { return }
            if case .made(let content) = end, let lead {
                endTransforming(cached(content, of: stored, lead.key))
            } else {
                endTransforming(end)
            }
            connection?.flush()
        }
        let isTaken = worker.checks.run(.body, limit: exchange.context.limits.waitingChecks, reply: reply) {
            let end = work.end(of: GatheredBody.join(body))
            // Whoever waits is told, also where the one who began has left.
            if let lead { cache.settle(lead, end.forOthers, of: stored, within: bounds, limit: limit) }
            return end
        }
        guard isTaken else {
            worker.loop.forget(reply)
            return endTransforming(.refused)
        }
        transforming.leads = nil
        transforming.work = (work.patience, lead)
        boundTransforming()
    }

    /// The client waits no longer than the rule says; what is under way comes to its end for others.
    func boundTransforming() {
        guard let plan = exchange.transformPlan else { return }
        let timer = loop.makeTimer(self)
        transforming.timer = timer
        loop.setTimer(timer, afterMilliseconds: Int(plan.timeout))
    }

    func transformingTookTooLong() {
        if exchange.state == .checking { return bodyWorkTookTooLong() }
        endTransforming(.failed(.timedOut))
        connection?.flush()
    }

    private func endTransforming(_ end: TransformEnd) {
        let length = transforming.readLength
        leaveTransforming()
        if case .failed = end {} else { delivery.whole = nil }
        handle(.transformed(end, length: length, at: worker.now))
    }

    /// Nothing is waited for any more.
    func leaveTransforming() {
        if let lead = transforming.leads { worker.shared.variants.abandon(lead) }
        if let waiting = transforming.waiting { loop.forget(waiting) }
        endTransformTimer()
        transforming.reset()
    }

    /// The client has left: what is under way is ended, unless others wait for it.
    func giveUpTransforming() {
        guard let work = transforming.work else { return }
        if let lead = work.lead, !worker.shared.variants.leave(lead) { return }
        work.patience.giveUp()
    }

    /// The exchange is over.
    func letGoOfTransformed() {
        guard let body = exchange.takeTransformed() else { return }
        worker.checks.letGo(of: [consume body])
    }

    func endTransformTimer() {
        if let timer = transforming.timer { loop.removeTimer(timer) }
        transforming.timer = nil
    }
}

extension TransformEnd {
    /// What those are told who wait for the same.
    fileprivate var forOthers: TransformCache.Made {
        switch self {
        case .made(let content): .content(content)
        // By its own deadline: theirs may be later.
        case .failed(.timedOut), .variant, .refused, .broken: .abandoned
        case .failed(let fault): .failed(fault)
        }
    }
}
