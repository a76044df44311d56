import HTTPCaching
import HTTPMessage
import ProxyCore
import ResponseStore

/// Responses that are stored in part: what the origin sends of them goes into the store and to the client, between what the store
/// already has.
extension ExchangeDriver {
    /// Before the exchange is told what is stored as a whole.
    func tellParts() {
        guard store.hasPartials || exchange.isForPart else { return }
        let stored = store.partials(of: exchange.key)
        guard exchange.isForPart || !stored.isEmpty else { return }
        tell(.partsFound(stored, inFlight: worker.store.bodiesUnderWay(of: exchange.key)))
    }

    /// Who asks right behind a part finds it: the look-up comes once the store has written it, unless that is behind.
    func awaitsPart() -> Bool {
        guard store.hasPending else { return false }
        let epoch = epoch
        return worker.store.whenPartIsWritten(
            of: exchange.key,
            worker.loop.reply { [self] (_: PendingOutcome) in
                guard self.epoch == epoch else { return }
                lookUpInMemory()
                connection?.flush()
            })
    }

    /// Others' fetch brings what is asked for: it is read along, and goes on for this client where its own leaves.
    func joinBody() {
        guard let body = exchange.ranges.joinedBody,
            let pending = worker.store.pendingResponses(of: exchange.key).first(where: { $0.row == body.row }),
            let reader = pending.attach()
        else { return handle(.fetchNotShared(at: worker.now)) }
        delivery.reader = reader
        delivery.readerStart = body.range.lowerBound
        let response = exchange.ranges.completion?.partial.response ?? body.response
        handle(.fetchShared(response, length: .known(body.wholeLength), at: worker.now))
    }

    /// The origin sends what was missing: the client gets it in its place.
    func completePartial() {
        guard let completion = exchange.ranges.completion, let whole = exchange.cache.selected,
            case .onDisk(let body) = whole.body
        else {
            return handle(.completionRefused(at: worker.now))
        }
        // What is missing is read along where it comes for another.
        if exchange.ranges.joinedBody != nil { return sendCompleted(completion, of: body) }
        guard !isOutdated, let pending = worker.store.beginPending(plan(of: whole, completion)), let reader = pending.attach()
        else { return handle(.completionRefused(at: worker.now)) }
        fetch.mode = .pending
        fetch.pending = pending
        // Who comes for it from now on finds what is under way.
        if connection == nil { return releaseJoined(.abandoned) }
        delivery.reader = reader
        delivery.readerStart = completion.missing.lowerBound
        sendCompleted(completion, of: body)
    }

    /// What is stored, and between it what the reader brings.
    private func sendCompleted(_ completion: RangeCompletion, of body: BodyReference) {
        guard let connection else { return }
        delivery.body = body
        delivery.hold = worker.store.hold(body)
        delivery.segments = segments(of: completion)
        noteUnreadBody()
        let before = connection.output.buffer.count
        exchange.writeStoredHead(at: now, into: &connection.output.buffer)
        delivery.headCount &+= UInt64(truncatingIfNeeded: connection.output.buffer.count &- before)
        delivery.offset = completion.wanted.lowerBound
        delivery.end = delivery.offset
        delivery.source = .disk
        boundSending()
        pump()
    }

    private func plan(of whole: StoredResponse, _ completion: RangeCompletion) -> PendingPlan {
        let missing = completion.missing
        return PendingPlan(
            response: whole, length: missing.upperBound - missing.lowerBound,
            part: (start: missing.lowerBound, whole: completion.partial.wholeLength), since: fetch.moment)
    }

    private func segments(of completion: RangeCompletion) -> [BodyDelivery.Segment] {
        let (wanted, missing) = (completion.wanted, completion.missing)
        return [
            BodyDelivery.Segment(source: .disk, range: wanted.lowerBound..<missing.lowerBound),
            BodyDelivery.Segment(source: .pending, range: missing),
            BodyDelivery.Segment(source: .disk, range: missing.upperBound..<wanted.upperBound),
        ].filter { !$0.range.isEmpty }
    }

    /// - Returns: `false` where there is none, and the body is at its end.
    func beginSegment() -> Bool {
        guard !delivery.segments.isEmpty else { return false }
        let segment = delivery.segments.removeFirst()
        delivery.source = segment.source
        delivery.offset = segment.range.lowerBound
        delivery.end = segment.range.upperBound
        return true
    }

    /// The origin sends the whole in place of a part: the client reads its part from the pending response.
    func cutPart() {
        guard let part = exchange.partToCut else { return }
        tell(.wholeStored)
        delivery.offset = part.lowerBound
        delivery.end = part.upperBound
    }

    /// A client that asks for many parts has the whole fetched as often: one of these goes on.
    func completeUpstream() {
        fetch.isForStore = !worker.store.pendingResponses(of: exchange.key).contains {
            $0 !== fetch.pending && $0.plan.part == nil
        }
        cancelUpstream()
    }

    /// A part that the client asked for passes, and is kept.
    /// - Returns: `false` where the store takes none now.
    func beginStoringPart() -> Bool {
        guard let part = exchange.ranges.part, case .known(let length) = exchange.upstream.body, !isOutdated,
            let stored = exchange.makeStoredResponse(body: .bytes([]))
        else {
            tell(.storageRefused(.partialContent))
            return false
        }
        if part.whole > worker.store.greatestBodyLength(of: stored) {
            noteBodyTooLarge()
            return false
        }
        let plan = PendingPlan(
            response: stored, length: length, part: (start: part.start, whole: part.whole), since: fetch.moment)
        guard let pending = worker.store.beginPending(plan) else {
            tell(.storageRefused(.partialContent))
            return false
        }
        fetch.mode = .pending
        fetch.pending = pending
        if connection != nil { delivery.reader = pending.attach() }
        return true
    }
}

extension ResponseStore {
    func bodiesUnderWay(of key: [UInt8]) -> [BodyUnderWay] {
        hasPending ? pendingResponses(of: key).compactMap { $0.underWay } : []
    }
}

extension PendingResponse {
    /// `nil` where nobody knows how much is to come.
    fileprivate var underWay: BodyUnderWay? {
        guard let count = plan.length, let whole = plan.wholeLength else { return nil }
        let start = plan.part?.start ?? 0
        return BodyUnderWay(
            response: plan.response, row: row, range: start..<start + count, wholeLength: whole, reached: start + length,
            isInPlaceOfPart: plan.isInPlaceOfPart)
    }
}
