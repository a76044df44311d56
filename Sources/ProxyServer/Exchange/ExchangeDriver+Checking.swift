import HTTPMessage
import HTTPSerialization
import HTTPWire
import ProxyCore
import ResponseStore

/// Bodies that rules want checked, or something made of: gathered up to the rules' bounds, dealt with off the loop, then sent or not.
extension ExchangeDriver {
    /// What cannot be read need not be gathered: that is known from the head.
    func beginCheck() {
        fetch.mode = .checking
        let body = GatheredBody(worker.checks)
        fetch.checked = body
        fetch.checkShare = GatheredMemory.Share(worker.checks.memory)
        guard ContentCodings(of: exchange.response.fields) == .unsupported else {
            if case .known(let length) = exchange.upstream.body, length <= exchange.gatheredLimit { body.reserve(Int(length)) }
            return
        }
        fetch.mode = .checked
        pauseUpstream()
        endBodyWork(
            BodyWork.Outcome(
                check: exchange.wantsBodyCheck ? .unsupportedCoding : .passed, transform: .failed(.unsupportedCoding)),
            isWhole: false)
    }

    func gatherForCheck(_ bytes: Span<UInt8>) {
        guard let body = fetch.checked else { return }
        body.append(bytes)
        guard fetch.checkShare?.grow(to: body.memory, limit: exchange.context.limits.checkedBytes) != false else {
            fetch.upstream?.cancel()
            return refuseCheck()
        }
        if UInt64(body.count) > exchange.gatheredLimit { check() }
    }

    /// Everything is there, or more than the bound: the answer comes back as an event.
    func check() {
        fetch.mode = .checked
        pauseUpstream()
        let isWhole = fetch.hasEnded
        let work = bodyWork(isWhole: isWhole)
        guard isWhole || exchange.validation?.wellformed == .image else {
            return endBodyWork(
                BodyWork.Outcome(check: work.check == nil ? .passed : .tooLarge, transform: .failed(.bodyTooLarge)),
                isWhole: false)
        }
        let (number, epoch) = (transforming.number, epoch)
        let reply = worker.loop.reply { [self] (outcome: BodyWork.Outcome) in
            guard self.epoch == epoch, transforming.number == number else { return }
            transforming.work = nil
            endTransformTimer()
            if case .made(let content)? = outcome.transform, !hasRoom(for: content) { return refuseCheck() }
            fetch.checked?.replace(by: outcome.body)
            endBodyWork(outcome, isWhole: isWhole)
            connection?.flush()
        }
        let body = fetch.checked?.pieces ?? []
        let isTaken = worker.checks.run(.body, limit: exchange.context.limits.waitingChecks, reply: reply) {
            work.outcome(of: body)
        }
        if isTaken {
            if let transform = work.transform {
                transforming.work = (transform.patience, nil)
                boundTransforming()
            }
            return
        }
        worker.loop.forget(reply)
        refuseCheck()
    }

    private func bodyWork(isWhole: Bool) -> BodyWork {
        var check: BodyCheck?
        if exchange.wantsBodyCheck, let plan = exchange.validation {
            var limits = BodyCheckLimits()
            limits.bodyLength = plan.maximumBodyLength
            check = BodyCheck(plan.wellformed, of: exchange.response, limits: limits)
        }
        var transform: TransformWork?
        if let plan = exchange.transformPlan, let source = exchange.transform.source {
            transform = TransformWork(plan, from: source, of: exchange.response)
        }
        return BodyWork(check: check, transform: transform, isWhole: isWhole)
    }

    private func endBodyWork(_ outcome: BodyWork.Outcome, isWhole: Bool) {
        let length = isWhole ? UInt64(fetch.checked?.count ?? 0) : nil
        handle(.bodyChecked(outcome.check, transform: outcome.transform, length: length, at: worker.now))
    }

    /// Where nobody has asked for a check, a rule may have the body pass; what nobody has checked that was to be does not.
    func bodyWorkTookTooLong() {
        transforming.reset()
        endTransformTimer()
        if exchange.wantsBodyCheck {
            fetch.upstream?.cancel()
            fetch.reset()
            handle(.upstreamFailed(.transformFailed(.timedOut), at: worker.now))
        } else {
            endBodyWork(BodyWork.Outcome(check: .passed, transform: .failed(.timedOut)), isWhole: fetch.hasEnded)
        }
        connection?.flush()
    }

    /// What was made stands beside what came for as long as the client takes it.
    private func hasRoom(for content: TransformedContent) -> Bool {
        fetch.checkShare?.grow(
            to: (fetch.checked?.memory ?? 0) + content.body.count, limit: exchange.context.limits.checkedBytes) != false
    }

    /// As many bodies as may be are under a check.
    private func refuseCheck() {
        fetch.reset()
        handle(.upstreamFailed(.checkQueueFull, at: worker.now))
    }

    /// The checked body leaves for the client; what the origin still has to send follows it.
    func sendChecked(store: Bool) {
        let received = fetch.checked?.joined ?? []
        if exchange.isBackground { return sendCheckedToNobody(received) }
        guard let connection else { return }
        // Before the head, which says whether it was stored.
        if fetch.hasEnded, store { keepChecked(received) }
        let body = exchange.transformedBody ?? received
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
        fetch.checked = nil
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
        delivery.whole = fetch.checked
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
