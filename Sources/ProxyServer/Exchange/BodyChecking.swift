import BodyTransforms
import HTTPMessage
import HTTPSerialization
import ProxyCore
import ResponseStore

/// The body of an origin's response that rules require to be checked or transformed: gathered up to the rules' limits, processed off the
/// loop, then sent or refused.
final class BodyChecking {
    private var body: GatheredBody?
    /// The part of the memory limit for gathered bodies that this body uses.
    private var share: GatheredMemory.Share?

    func reset() {
        if body != nil { body = nil }
        if share != nil { share = nil }
    }

    /// Called when the checked body has been sent to the client.
    func contentLeft() { if share != nil { share = nil } }

    /// Begins to gather the body. Does not gather a body if the head already shows that its content coding cannot be decoded.
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

    /// Called when the body is complete or over the limit. Starts the check, whose result arrives as an event.
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
            driver.client?.flush()
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

    /// Handles a check or a transform that took too long. If only a transform was required, the rule may allow the original body. If a
    /// check was required, the body must not pass unchecked.
    func tookTooLong(for driver: ExchangeDriver) {
        if driver.exchange.wantsBodyCheck {
            driver.fetch.stop(for: driver)
            driver.handle(.upstreamFailed(.transformFailed(.timedOut), at: driver.now))
        } else {
            end(
                BodyWork.Outcome(check: .passed, transform: .failed(.timedOut)), isWhole: driver.fetch.hasEnded, for: driver)
        }
        driver.client?.flush()
    }

    /// Whether there is enough memory for the transformed content. Both the original and the transformed content stay in memory until the
    /// client has received the transformed content.
    private func hasRoom(for content: TransformedContent, _ driver: ExchangeDriver) -> Bool {
        share?.grow(
            to: (body?.memory ?? 0) + content.body.count, limit: driver.exchange.context.limits.checkedBytes) != false
    }

    /// Refuses the response, because too many bodies already wait for a check.
    private func refuse(for driver: ExchangeDriver) {
        driver.fetch.stop(for: driver)
        driver.handle(.upstreamFailed(.checkQueueFull, at: driver.now))
    }

    // MARK: The checked body

    /// Sends the checked body to the client; bytes that the origin has not sent yet will follow.
    func send(store: Bool, for driver: ExchangeDriver) {
        let received = body?.joined ?? []
        if driver.exchange.isBackground {
            keep(received, for: driver)
            return end(for: driver)
        }
        guard let client = driver.client else { return }
        let isWhole = driver.fetch.hasEnded
        // The response is stored before the head is sent, because the head says whether it was stored.
        if isWhole, store { keep(received, for: driver) }
        let content = driver.exchange.transformedBody ?? received
        driver.delivery.sendRelayedHead(for: driver)
        if isWhole { return sendWhole(content, on: client, for: driver) }
        body = nil
        driver.fetch.go(by: .direct)
        driver.storing.releaseJoined(.notShareable, for: driver)
        driver.delivery.sendCheckedBeginning(content, to: client)
        driver.fetch.resume(for: driver)
    }

    private func sendWhole(_ content: [UInt8], on client: ExchangeClient, for driver: ExchangeDriver) {
        let part = driver.exchange.delivery.range.map { Int($0.lowerBound)..<Int($0.upperBound) }
        let range = part ?? 0..<(driver.exchange.delivery.sendsContent ? content.count : 0)
        if driver.delivery.isChunked {
            driver.delivery.append(content.span.extracting(range), to: client)
            driver.delivery.endChunks(Fields(), for: driver)
            return end(for: driver)
        }
        driver.delivery.sendChecked(content, range, of: body, share, on: client)
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
