import HTTPMessage
import HTTPSerialization
import ProxyCore
import ResponseStore

/// The body of an origin's response that rules want checked, or something made of: gathered up to the rules' bounds, dealt with off the
/// loop, then sent or not.
final class BodyChecking {
    private var body: GatheredBody?
    /// What it takes of the memory for all of them.
    private var share: GatheredMemory.Share?

    func reset() {
        if body != nil { body = nil }
        if share != nil { share = nil }
    }

    /// What was checked has left for the client.
    func contentLeft() { if share != nil { share = nil } }

    /// What cannot be read need not be gathered: that is known from the head.
    func begin(for driver: ExchangeDriver) {
        driver.fetch.go(by: .checking)
        let body = GatheredBody(driver.worker.checks)
        self.body = body
        share = GatheredMemory.Share(driver.worker.checks.memory)
        guard BodyWork.isUndecodable(driver.exchange.response) else {
            if case .known(let length) = driver.exchange.upstream.body, length <= driver.exchange.gatheredLimit {
                body.reserve(Int(length))
            }
            return
        }
        driver.fetch.go(by: .checked)
        driver.fetch.pause()
        end(
            BodyWork.Outcome(
                check: driver.exchange.wantsBodyCheck ? .unsupportedCoding : .passed, transform: .failed(.unsupportedCoding)),
            isWhole: false, for: driver)
    }

    func gather(_ bytes: Span<UInt8>, for driver: ExchangeDriver) {
        guard let body else { return }
        body.append(bytes)
        guard share?.grow(to: body.memory, limit: driver.exchange.context.limits.checkedBytes) != false else {
            return refuse(for: driver)
        }
        if UInt64(body.count) > driver.exchange.gatheredLimit { check(for: driver) }
    }

    /// Everything is there, or more than the bound: the answer comes back as an event.
    func check(for driver: ExchangeDriver) {
        driver.fetch.go(by: .checked)
        driver.fetch.pause()
        let isWhole = driver.fetch.hasEnded
        let work = BodyWork(for: driver.exchange, isWhole: isWhole)
        guard isWhole || driver.exchange.checksBeginning else {
            return end(
                BodyWork.Outcome(check: work.check == nil ? .passed : .tooLarge, transform: .failed(.bodyTooLarge)),
                isWhole: false, for: driver)
        }
        let (number, epoch) = (driver.transforming.number, driver.epoch)
        let reply = driver.loop.reply { [self] (outcome: BodyWork.Outcome) in
            guard driver.epoch == epoch, driver.transforming.number == number else { return }
            driver.transforming.workEnded(for: driver)
            if case .made(let content)? = outcome.transform, !hasRoom(for: content, driver) { return refuse(for: driver) }
            body?.replace(by: outcome.body)
            end(outcome, isWhole: isWhole, for: driver)
            driver.connection?.flush()
        }
        let pieces = body?.pieces ?? []
        let isTaken = driver.worker.checks.run(.body, limit: driver.exchange.context.limits.waitingChecks, reply: reply) {
            work.outcome(of: pieces)
        }
        if isTaken {
            if let transform = work.transform { driver.transforming.workBegan(transform.patience, for: driver) }
            return
        }
        driver.loop.forget(reply)
        refuse(for: driver)
    }

    private func end(_ outcome: BodyWork.Outcome, isWhole: Bool, for driver: ExchangeDriver) {
        let length = isWhole ? UInt64(body?.count ?? 0) : nil
        driver.handle(.bodyChecked(outcome.check, transform: outcome.transform, length: length, at: driver.now))
    }

    /// Where nobody has asked for a check, a rule may have the body pass; what nobody has checked that was to be does not.
    func tookTooLong(for driver: ExchangeDriver) {
        if driver.exchange.wantsBodyCheck {
            driver.fetch.stop(for: driver)
            driver.handle(.upstreamFailed(.transformFailed(.timedOut), at: driver.now))
        } else {
            end(
                BodyWork.Outcome(check: .passed, transform: .failed(.timedOut)), isWhole: driver.fetch.hasEnded, for: driver)
        }
        driver.connection?.flush()
    }

    /// What was made stands beside what came for as long as the client takes it.
    private func hasRoom(for content: TransformedContent, _ driver: ExchangeDriver) -> Bool {
        share?.grow(
            to: (body?.memory ?? 0) + content.body.count, limit: driver.exchange.context.limits.checkedBytes) != false
    }

    /// As many bodies as may be are under a check.
    private func refuse(for driver: ExchangeDriver) {
        driver.fetch.stop(for: driver)
        driver.handle(.upstreamFailed(.checkQueueFull, at: driver.now))
    }

    // MARK: The checked body

    /// The checked body leaves for the client; what the origin still has to send follows it.
    func send(store: Bool, for driver: ExchangeDriver) {
        let received = body?.joined ?? []
        if driver.exchange.isBackground {
            keep(received, for: driver)
            return end(for: driver)
        }
        guard let connection = driver.connection else { return }
        let isWhole = driver.fetch.hasEnded
        // Before the head, which says whether it was stored.
        if isWhole, store { keep(received, for: driver) }
        let content = driver.exchange.transformedBody ?? received
        driver.delivery.sendRelayedHead(for: driver)
        if isWhole { return sendWhole(content, on: connection, for: driver) }
        body = nil
        driver.fetch.go(by: .direct)
        driver.storing.releaseJoined(.notShareable, for: driver)
        driver.delivery.sendCheckedBeginning(content, to: connection)
        driver.fetch.resume(for: driver)
    }

    private func sendWhole(_ content: [UInt8], on connection: ClientConnection, for driver: ExchangeDriver) {
        let part = driver.exchange.delivery.range.map { Int($0.lowerBound)..<Int($0.upperBound) }
        let range = part ?? 0..<(driver.exchange.delivery.sendsContent ? content.count : 0)
        if driver.delivery.isChunked {
            driver.delivery.append(content.span.extracting(range), to: connection)
            driver.delivery.endChunks(Fields(), for: driver)
            return end(for: driver)
        }
        driver.delivery.sendChecked(content, range, of: body, share, on: connection)
        if range.isEmpty { return end(for: driver) }
        driver.storing.releaseJoined(.notShareable, for: driver)
        driver.fetch.reset(for: driver)
    }

    private func end(for driver: ExchangeDriver) {
        driver.storing.releaseJoined(.notShareable, for: driver)
        driver.fetch.reset(for: driver)
        driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
    }

    private func keep(_ content: [UInt8], for driver: ExchangeDriver) {
        guard let stored = driver.exchange.makeStoredResponse(body: .bytes(content)) else { return }
        driver.storing.keep(stored, isPromised: false, for: driver)
    }
}
