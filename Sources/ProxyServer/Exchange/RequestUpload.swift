import EventLoop
import HTTPMessage
import HTTPWire
import ProxyCore
import Recordings
import UpstreamTransport

/// The request's content, decoded from the client's framing: gathered, sent to the origin as fast as the origin takes it, or thrown away.
final class RequestUpload {
    private(set) var framing: BodyFraming = .none
    private var decoder = BodyDecoder(framing: .none, limits: ParseLimits())
    /// All of the request has been read from the client.
    private(set) var isComplete = true
    /// The origin takes no more for now.
    private var isBlocked = false
    /// It stands in the key, or recordings are asked by it, and waits to be complete.
    private var isGathering = false
    /// What was gathered of it.
    @exclusivity(unchecked) private(set) var content: [UInt8] = []
    /// What that takes of the memory for all that are gathered.
    private var share: GatheredMemory.Share?
    /// The content where it is too long to be held, for recordings.
    private(set) var longContent: LongRequestContent?
    /// Content bytes read so far; of a tunnel, the bytes that its client has sent.
    private(set) var receivedCount: UInt64 = 0
    /// The exchange is over, and the rest of the request's body is thrown away up to `drainEnd`.
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

    /// Whether bytes from the client would be taken now.
    func wantsBytes(for driver: ExchangeDriver) -> Bool {
        if isDraining { return true }
        return !isComplete && !isBlocked && (driver.fetch.upstream != nil || isGathering)
    }

    func bytesArrived(for driver: ExchangeDriver) {
        if isDraining { return drain(for: driver) }
        guard let connection = driver.connection, driver.fetch.upstream != nil || isGathering else { return }
        let upstream = driver.fetch.upstream
        var fault: Fault?
        // Given once the input is ours no longer: what follows may read on.
        var event: ExchangeEvent?
        connection.withInput { input in
            var offset = 0
            do throws(BodyDecodeError) {
                while !isBlocked, event == nil {
                    switch try next(in: input, offset: &offset) {
                    case .content(let range):
                        let bytes = input.extracting(range)
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
        if let fault { return driver.fetch.fail(byRequest: fault, for: driver) }
        if let event { driver.handle(event) }
    }

    private enum Step {
        case content(Range<Int>)
        case needsMore
        case ended
    }

    /// The next piece of content in `input` at or after `offset`, which moves behind it.
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

    /// The client does not send the rest.
    func fail(_ fault: Fault, for driver: ExchangeDriver) {
        isDraining ? endDraining(keepsConnection: false, for: driver) : driver.fetch.fail(byRequest: fault, for: driver)
    }

    // MARK: Sending

    private func send(_ bytes: RawSpan, to upstream: OriginExchange) -> Bool {
        bytes.withUnsafeBytes { upstream.sendBody($0.bindMemory(to: UInt8.self).span) }
    }

    /// The request's head has been sent: what was gathered follows, and then what the client sends.
    func begin(to upstream: OriginExchange, for driver: ExchangeDriver) {
        if framing != .none {
            if !content.isEmpty { isBlocked = !upstream.sendBody(content.span) && !isComplete }
            // Content in chunks may have turned out empty: its end is sent all the same.
            if isComplete { upstream.endBody(trailers: driver.exchange.forwarded(decoder.trailers)) }
        }
    }

    func originTakesMore(for driver: ExchangeDriver) {
        isBlocked = false
        bytesArrived(for: driver)
        driver.connection?.flush()
    }

    // MARK: Gathering

    /// The content stands in the key, or recordings are asked by it: it is gathered before anything is looked for.
    func gather(for driver: ExchangeDriver) {
        isGathering = true
        if driver.exchange.awaitsContinue, let connection = driver.connection {
            driver.delivery.writeHead(on: connection) { driver.exchange.writeContinue(into: &$0) }
        }
        bytesArrived(for: driver)
    }

    /// What has become of bytes that were to be gathered.
    private enum Gathered {
        case taken
        /// It is too long: what was gathered is then sent on, and the rest as it comes.
        case tooLong
        /// Others' contents take all the memory that there is for them.
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

    // The rest of a request's body that nobody wants any more, after the answer: read and thrown away up to a limit, so that the
    // connection can be used again (RFC 9112 §9.3). Past the limit the connection ends (T13).

    /// Called before a head is written: where the request's body has not been read by then and will not be, the connection ends
    /// with the answer, and the head says so (RFC 9112 §9.6). The same where the server is about to stop.
    func noteUnread(for driver: ExchangeDriver) {
        let endsInBody = !isComplete && !mayDrain(for: driver)
        if endsInBody || driver.connection?.closesWhenDrained == true { driver.tell(.connectionEnds) }
    }

    /// A client that waits for 100 may never send its body: what comes next could be the body or a request.
    private func mayDrain(for driver: ExchangeDriver) -> Bool {
        mayEnd(within: driver.exchange.context.limits.drainedBodyLength) && !driver.exchange.mayWithholdContent
    }

    /// Whether what is left may turn out to be no more than so many bytes of content.
    private func mayEnd(within limit: UInt64) -> Bool {
        switch framing {
        case .none: true
        case .length(let length): length - receivedCount <= limit
        case .chunked: limit > 0
        case .untilClose: false
        }
    }

    /// The exchange is over but for the client's part of it.
    func beginDraining(for driver: ExchangeDriver) {
        isDraining = true
        drainEnd = receivedCount + driver.exchange.context.limits.drainedBodyLength
        drain(for: driver)
    }

    func stopDraining() { isDraining = false }

    private func drain(for driver: ExchangeDriver) {
        guard let connection = driver.connection else { return }
        var isSound = true
        connection.withInput { input in
            var offset = 0
            do throws(BodyDecodeError) {
                while receivedCount <= drainEnd {
                    switch try next(in: input, offset: &offset) {
                    case .content: continue
                    case .needsMore, .ended: return offset
                    }
                }
            } catch {
                // What follows cannot be told apart from a body: the connection ends below.
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
