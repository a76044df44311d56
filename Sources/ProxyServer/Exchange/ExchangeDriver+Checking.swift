import HTTPMessage
import HTTPSerialization
import HTTPWire
import ProxyCore
import ResponseStore

/// Bodies that a rule wants checked: gathered up to the rule's bound, checked off the loop, then sent or not.
extension ExchangeDriver {
    /// What cannot be read need not be gathered: that is known from the head.
    func beginCheck() {
        fetch.mode = .checking
        fetch.checkShare = CheckMemory.Share(worker.checks.memory)
        guard ContentCodings(of: exchange.response.fields) == .unsupported else { return }
        fetch.mode = .checked
        pauseUpstream()
        handle(.bodyChecked(.unsupportedCoding, length: nil, at: worker.now))
    }

    func gatherForCheck(_ bytes: Span<UInt8>) {
        guard let plan = exchange.validation else { return }
        fetch.gathered.append(bytes)
        guard fetch.checkShare?.grow(to: fetch.gathered.capacity, limit: exchange.context.limits.checkedBytes) != false else {
            fetch.upstream?.cancel()
            return refuseCheck()
        }
        if UInt64(fetch.gathered.count) > plan.maximumBodyLength { check() }
    }

    /// Everything is there, or more than the bound: the check's answer comes back as an event.
    func check() {
        guard let plan = exchange.validation else { return }
        fetch.mode = .checked
        pauseUpstream()
        let isWhole = fetch.hasEnded
        guard isWhole || plan.wellformed == .image else {
            return handle(.bodyChecked(.tooLarge, length: nil, at: worker.now))
        }
        let epoch = epoch
        let reply = worker.loop.reply { [self] (outcome: BodyCheckOutcome) in
            guard self.epoch == epoch else { return }
            handle(.bodyChecked(outcome, length: isWhole ? UInt64(fetch.gathered.count) : nil, at: worker.now))
            connection?.flush()
        }
        var limits = BodyCheckLimits()
        limits.bodyLength = plan.maximumBodyLength
        let check = BodyCheck(plan.wellformed, of: exchange.response, limits: limits)
        let body = fetch.gathered
        let isTaken = worker.checks.run(.body, limit: exchange.context.limits.waitingChecks, reply: reply) {
            isWhole ? check.outcome(of: body) : check.outcome(ofBeginning: body)
        }
        if isTaken { return }
        worker.loop.forget(reply)
        refuseCheck()
    }

    /// As many bodies as may be are under a check.
    private func refuseCheck() {
        fetch.reset()
        handle(.upstreamFailed(.checkQueueFull, at: worker.now))
    }

    /// The checked body leaves for the client; what the origin still has to send follows it.
    func sendChecked(store: Bool) {
        if exchange.isUnattended { return sendCheckedToNobody(fetch.gathered) }
        guard let connection else { return }
        let body = fetch.gathered
        // Before the head, which says whether it was stored.
        if fetch.hasEnded, store { keepChecked(body) }
        sendRelayedHead()
        if fetch.hasEnded {
            let part = exchange.delivery.range.map { Int($0.lowerBound)..<Int($0.upperBound) }
            let range = part ?? 0..<(exchange.delivery.sendsContent ? body.count : 0)
            if exchange.request.method != .head, !delivery.isChunked { return sendWholeChecked(body, range, on: connection) }
            if exchange.request.method != .head { appendContent(body.span.extracting(range), to: connection) }
            if delivery.isChunked { ChunkWriter.writeLastChunk(trailers: Fields(), into: &connection.output.buffer) }
            releaseJoined(.notShareable)
            fetch.reset()
            return handle(.deliveryEnded(isComplete: true, at: worker.now))
        }
        fetch.gathered = []
        fetch.mode = .direct
        delivery.source = .origin
        releaseJoined(.notShareable)
        appendContent(body.span, to: connection)
        resumeUpstream()
    }

    /// From where it lies, and counted among the bodies in memory for as long as the client takes it.
    private func sendWholeChecked(_ body: [UInt8], _ range: Range<Int>, on connection: ClientConnection) {
        delivery.sentCount += UInt64(range.count)
        delivery.checkShare = fetch.checkShare
        releaseJoined(.notShareable)
        fetch.reset()
        if range.isEmpty { return handle(.deliveryEnded(isComplete: true, at: worker.now)) }
        connection.output.setTail(.bytes(body), range)
        delivery.source = .memory
        connection.flushSoon()
    }

    func keepChecked(_ body: [UInt8]) {
        guard let stored = exchange.makeStoredResponse(body: .bytes(body)) else { return }
        keep(stored, isPromised: false)
    }
}
