import BodyTransforms
import EventLoop
import HTTPMessage
import HTTPWire
import ProxyCore
import ProxyPolicy
import Recordings
import UpstreamTransport

/// The request's content, decoded from the client's framing: gathered, sent to the origin as fast as the origin accepts it, or discarded.
final class RequestUpload {
    private(set) var framing: BodyFraming = .none
    private var decoder = BodyDecoder(framing: .none, limits: ParseLimits())
    /// Whether the whole request has been read from the client.
    private(set) var isComplete = true
    /// Whether the origin accepts no more content for now.
    private var isBlocked = false
    /// Whether the content is being gathered, for the key or for recordings.
    private var isGathering = false
    /// The gathered content.
    @exclusivity(unchecked) private(set) var content: [UInt8] = []
    /// The part of the memory limit for gathered contents that this content uses.
    private var share: GatheredMemory.Share?
    /// Content that is too long to be held, for recordings.
    private(set) var longContent: LongRequestContent?
    /// The number of content bytes read so far; for a tunnel, the number of bytes sent by its client.
    private(set) var receivedCount: UInt64 = 0
    /// Whether the exchange has ended, and the rest of the request's body is discarded up to `drainEnd`.
    private var isDraining = false
    private var drainEnd: UInt64 = 0

    @inline(__always)
    func begin(_ framing: BodyFraming, limits: ParseLimits) {
        self.framing = framing
        receivedCount = 0
        isBlocked = false
        isGathering = false
        if !content.isEmpty { content = [] }
        switch framing {
        case .none, .length(0): isComplete = true
        case .length, .chunked, .untilClose: isComplete = false
        }
        if !isComplete { decoder = BodyDecoder(framing: framing, limits: limits) }
    }

    func exchangeEnded() { if share != nil { letGoOfGathered() } }

    func forgetLongContent() { longContent = nil }

    func note(tunnelled count: UInt64) { receivedCount = count }

    // MARK: Reading

    /// Whether bytes from the client can be accepted now.
    func wantsBytes(for driver: ExchangeDriver) -> Bool {
        if isDraining { return true }
        return !isComplete && !isBlocked && (driver.fetch.upstream != nil || isGathering)
    }

    func bytesArrived(for driver: ExchangeDriver) {
        if isDraining { return drain(for: driver) }
        guard let client = driver.client, driver.fetch.upstream != nil || isGathering else { return }
        let upstream = driver.fetch.upstream
        var fault: Fault?
        var refusal: LimitRefusal?
        // The event is handled only after the access to the input has ended, because the handling may read more input.
        var event: ExchangeEvent?
        client.withInput { input in
            var offset = 0
            do throws(BodyDecodeError) {
                while !isBlocked, event == nil {
                    switch try next(in: input, offset: &offset) {
                    case .content(let range):
                        let bytes = input.extracting(range)
                        if driver.limiting.watchesRequest {
                            refusal = driver.limiting.refusal(ofRequest: range.count, of: receivedCount, for: driver)
                            fault = refusal.map { .limitReached($0.word) }
                        }
                        if fault != nil { return input.byteCount }
                        if let limit = driver.exchange.context.limits.requestBodyLength, receivedCount > limit {
                            fault = .requestBodyTooLarge
                        } else if isGathering {
                            switch gather(bytes, for: driver) {
                            case .taken: break
                            case .tooLong: event = .requestBodyTooLong(at: driver.now)
                            case .noRoom: fault = .requestBodiesFull
                            }
                        } else if let upstream {
                            longContent?.append(bytes)
                            isBlocked = !send(bytes, to: upstream)
                        }
                        if fault != nil { return input.byteCount }
                    case .needsMore: return offset
                    case .ended:
                        if !isGathering { upstream?.endBody(trailers: driver.exchange.forwarded(decoder.trailers)) }
                        event = .requestBodyEnded(content: isGathering ? content : [], at: driver.now)
                    }
                }
            } catch {
                fault = FaultMapping.fault(error)
                return input.byteCount
            }
            return offset
        }
        if fault != nil || event != nil { isGathering = false }
        if let refusal { driver.tell(.limitReached(refusal)) }
        if let fault { return driver.fetch.fail(byRequest: fault, for: driver) }
        if let event { driver.handle(event) }
    }

    private enum Step {
        case content(Range<Int>)
        case needsMore
        case ended
    }

    /// The next piece of content in `input` at or after `offset`; moves `offset` past it.
    private func next(in input: RawSpan, offset: inout Int) throws(BodyDecodeError) -> Step {
        switch try decoder.next(input, from: offset) {
        case .data(let range):
            offset = range.upperBound
            receivedCount += UInt64(range.count)
            return .content(range)
        case .needMore(let consumed):
            offset = consumed
            return .needsMore
        case .end(let consumed):
            offset = consumed
            isComplete = true
            return .ended
        }
    }

    /// Fails the upload, because the client does not send the rest.
    func fail(_ fault: Fault, for driver: ExchangeDriver) {
        isDraining ? endDraining(keepsConnection: false, for: driver) : driver.fetch.fail(byRequest: fault, for: driver)
    }

    // MARK: Sending

    private func send(_ bytes: RawSpan, to upstream: OriginExchange) -> Bool {
        bytes.withUnsafeBytes { upstream.sendBody($0.bindMemory(to: UInt8.self).span) }
    }

    /// Called when the request's head has been sent: sends the gathered content; further content follows as the client sends it.
    func begin(to upstream: OriginExchange, for driver: ExchangeDriver) {
        if framing != .none {
            if !content.isEmpty { isBlocked = !upstream.sendBody(content.span) && !isComplete }
            // The end of chunked content is sent even if the content was empty.
            if isComplete { upstream.endBody(trailers: driver.exchange.forwarded(decoder.trailers)) }
        }
    }

    func originTakesMore(for driver: ExchangeDriver) {
        isBlocked = false
        bytesArrived(for: driver)
        driver.client?.flush()
    }

    // MARK: Gathering

    /// Gathers the content, which is needed for the key or for recordings, before any look-up.
    func gather(for driver: ExchangeDriver) {
        isGathering = true
        if driver.exchange.awaitsContinue, let client = driver.client {
            driver.delivery.writeHead(on: client) { driver.exchange.writeContinue(into: &$0) }
        }
        bytesArrived(for: driver)
    }

    /// The result of gathering bytes.
    private enum Gathered {
        case taken
        /// The content is too long: the gathered bytes are forwarded at once, and the rest as it arrives.
        case tooLong
        /// Other requests' contents take all the memory allowed.
        case noRoom
    }

    private func gather(_ bytes: RawSpan, for driver: ExchangeDriver) -> Gathered {
        if let longContent {
            longContent.append(bytes)
            return .taken
        }
        bytes.withUnsafeBytes { content.append(contentsOf: $0) }
        let share = share ?? GatheredMemory.Share(driver.worker.shared.requestMemory)
        self.share = share
        guard share.grow(to: content.capacity, limit: driver.exchange.context.limits.gatheredRequestBytes) else { return .noRoom }
        if content.count <= driver.exchange.gatheredRequestLimit { return .taken }
        guard driver.exchange.usesRecordings else { return .tooLong }
        longContent = LongRequestContent(content)
        guard driver.exchange.isLongContentDigested else { return .tooLong }
        letGoOfGathered()
        return .taken
    }

    private func letGoOfGathered() {
        share = nil
        content = []
    }

    // MARK: Draining

    // After the response, the unneeded rest of a request's body is read and discarded up to a limit, so that the connection can be reused
    // (RFC 9112 §9.3). Beyond the limit, the connection is closed (T13).

    /// Called before a head is written. If the request's body has not been read and will not be, the connection closes after the response,
    /// and the head says so (RFC 9112 §9.6). The same applies while the server is stopping.
    func noteUnread(for driver: ExchangeDriver) {
        let endsInBody = !isComplete && !mayDrain(for: driver)
        if endsInBody || driver.client?.closesWhenDrained == true { driver.tell(.connectionEnds) }
    }

    /// Whether the rest of the request's body may be read and discarded. A client that waits for 100 may never send its body: the next
    /// bytes could be the body or a request.
    private func mayDrain(for driver: ExchangeDriver) -> Bool {
        mayEnd(within: driver.exchange.context.limits.drainedBodyLength) && !driver.exchange.mayWithholdContent
    }

    /// Whether it is certain that the remaining content is no longer than `limit`.
    private func mayEnd(within limit: UInt64) -> Bool {
        switch framing {
        case .none: true
        case .length(let length): length - receivedCount <= limit
        case .chunked: limit > 0
        case .untilClose: false
        }
    }

    /// Called when the exchange has ended, except for the rest of the request's body.
    func beginDraining(for driver: ExchangeDriver) {
        isDraining = true
        drainEnd = receivedCount + driver.exchange.context.limits.drainedBodyLength
        drain(for: driver)
    }

    func stopDraining() { isDraining = false }

    private func drain(for driver: ExchangeDriver) {
        guard let client = driver.client else { return }
        var isSound = true
        client.withInput { input in
            var offset = 0
            do throws(BodyDecodeError) {
                while receivedCount <= drainEnd {
                    switch try next(in: input, offset: &offset) {
                    case .content: continue
                    case .needsMore, .ended: return offset
                    }
                }
            } catch {
                // The framing of the next bytes is invalid, so the connection is closed below.
            }
            isSound = false
            return input.byteCount
        }
        if !isSound || isComplete { endDraining(keepsConnection: isSound, for: driver) }
    }

    private func endDraining(keepsConnection: Bool, for driver: ExchangeDriver) {
        isDraining = false
        driver.giveConnectionBack(keepsConnection: keepsConnection)
        driver.giveBackIfDone()
    }
}
