import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import ProxyPolicy
import ResponseStore
import UpstreamTransport

/// The driver's part that talks to the origin: it sends the request, receives the response, and passes the response on as the exchange
/// decides.
final class OriginFetch {
    /// Where the origin's content goes.
    enum Mode: UInt8 {
        /// No content is expected.
        case none
        /// The content goes only to the client.
        case direct
        /// The content goes to the client, and is also buffered, to be stored in one piece when it is complete.
        case gathering
        /// The content goes into a recording, and the requested part to the client.
        case recording
        /// The content goes into the store; the client reads from there.
        case pending
        /// The content is gathered, to be checked before anything is sent.
        case checking
        /// The gathered content is being checked.
        case checked
    }

    private(set) var mode: Mode = .none
    @exclusivity(unchecked) private(set) var upstream: OriginExchange?
    /// The connection after a 101, until the exchange has decided whether it becomes a tunnel.
    private var switched: SwitchedConnection?
    /// The origin's latest head, to be passed to the exchange.
    private let receivedHead = ReceivedHead()
    private(set) var metrics = ExchangeMetrics()
    /// Counts the fetches, to recognize wake-ups that arrive too late.
    private(set) var number: UInt64 = 0
    private var isPaused = false
    /// Whether the current request is for the rest of a truncated body, and has no response yet.
    private var isContinuing = false
    /// Whether to request the rest of a truncated body as soon as the pipe is empty.
    private(set) var isContinuationDue = false
    /// Whether the origin's content is complete while its check is in progress.
    private(set) var hasEnded = false
    private(set) var receivedCount: UInt64 = 0
    /// Whether the client has received its part, and the rest is only for the store.
    private(set) var isForStore = false

    /// Whether the origin's response is in flight.
    var isActive: Bool { upstream != nil || isContinuationDue }

    func resetMetrics() { metrics = ExchangeMetrics() }

    /// Resets the fetch to the state in which nothing is expected from the origin.
    func reset(for driver: ExchangeDriver) {
        mode = .none
        upstream = nil
        if let switched {
            switched.close()
            self.switched = nil
        }
        number &+= 1
        isPaused = false
        isContinuing = false
        isContinuationDue = false
        hasEnded = false
        receivedCount = 0
        isForStore = false
        driver.storing.reset()
        driver.checking.reset()
        driver.recording.fetchEnded()
        if driver.limiting.isUsed { driver.limiting.responseEnded() }
    }

    func go(by mode: Mode) { self.mode = mode }

    // MARK: The request

    func start(for driver: ExchangeDriver) {
        let isForSwitch = driver.exchange.incoming.isForSwitch
        // If this request had joined another request's response, it could not use that response, and now stops reading it.
        driver.delivery.readNothing()
        reset(for: driver)
        if driver.exchange.obligations.limits, let refusal = driver.limiting.refusalOfFetch(for: driver) {
            driver.tell(.limitReached(refusal))
            return fail(byRequest: .limitReached(refusal.word), for: driver)
        }
        driver.storing.fetchBegins(for: driver)
        if isForSwitch { driver.recording.noteUnrecordedSwitch(for: driver) }
        open(body: driver.upload.framing, isForSwitch: isForSwitch, for: driver) { driver.exchange.writeForwardedHead(into: &$0) }
        if let upstream { driver.upload.begin(to: upstream, for: driver) }
        if !driver.upload.isComplete { driver.requestBodyArrived() }
    }

    private func open(
        body: BodyFraming, isForSwitch: Bool = false, for driver: ExchangeDriver, _ writeHead: (inout [UInt8]) -> Void
    ) {
        var head: [UInt8] = []
        head.reserveCapacity(1024)
        writeHead(&head)
        guard let transport = driver.transportOfWay else { return fail(byRequest: .upstreamProxyRefused, for: driver) }
        let asksForTunnel = transport.asksForTunnel(to: Origin.Scheme(of: driver.exchange))
        var request = UpstreamRequest(
            of: driver.exchange, head: head, body: body, asksForTunnel: asksForTunnel, isForSwitch: isForSwitch)
        // A client that sends HTTP/2 in a tunnel without TLS has prior knowledge (RFC 9113 §3.3) that the server accepts HTTP/2.
        if let client = driver.client, client.tunnel?.scheme == .http, driver.exchange.request.version == .http2, !isForSwitch {
            request.isForKnownHTTP2 = true
        }
        driver.route(&request, on: transport)
        driver.noteWay(of: transport)
        upstream = transport.open(request, delegate: driver)
    }

    // MARK: The response

    func receive(informational head: borrowing ResponseHead, for driver: ExchangeDriver) {
        if isContinuing { return }
        driver.recording.record(informational: head)
        driver.delivery.sendInformational(for: driver) { driver.exchange.writeInformational(head, into: &$0) }
        driver.client?.flush()
    }

    func receive(_ head: inout ResponseHead, _ framing: BodyFraming, from upstream: OriginExchange, for driver: ExchangeDriver) {
        if isContinuing { return receive(continued: head, framing, from: upstream, for: driver) }
        swap(&receivedHead.head, &head)
        if driver.worker.settings.removesAltSvc, driver.exchange.request.target.scheme == .https {
            receivedHead.head.fields.removeAltSvc()
        }
        noteMetrics(of: upstream, for: driver)
        if driver.exchange.obligations.limits, let refusal = driver.limiting.refusal(ofResponse: framing.bodyLength, for: driver)
        {
            driver.tell(.limitReached(refusal))
            return fail(byRequest: .limitReached(refusal.word), for: driver)
        }
        let chain = metrics.trustMark > 0 ? upstream.recordedChain.flatMap(driver.store.shared) : nil
        driver.handle(
            .upstreamHead(
                receivedHead, body: framing.bodyLength, trust: metrics.trustMark, chain: chain, at: driver.now))
        driver.client?.flushSoon()
    }

    /// Called when the origin has sent 101 (Switching Protocols).
    func receive(
        switching head: inout ResponseHead, from upstream: OriginExchange, on connection: SwitchedConnection,
        for driver: ExchangeDriver
    ) {
        self.upstream = nil
        switched = connection
        swap(&receivedHead.head, &head)
        noteMetrics(of: upstream, for: driver)
        driver.handle(.protocolSwitched(receivedHead, at: driver.now))
        driver.client?.flushSoon()
    }

    func takeSwitched() -> SwitchedConnection? { switched.take() }

    private func noteMetrics(of upstream: OriginExchange, for driver: ExchangeDriver) {
        metrics = upstream.metrics
        // An empty chain does not replace the chain noted before, because a retry may use a pooled connection, which reports no chain.
        driver.logged.note(upstream.judgedChain)
    }

    func receive(_ bytes: Span<UInt8>, for driver: ExchangeDriver) {
        receivedCount += UInt64(bytes.count)
        if driver.limiting.watchesResponse,
            let refusal = driver.limiting.refusal(ofContent: bytes.count, of: receivedCount, for: driver)
        {
            return cut(by: refusal, for: driver)
        }
        switch mode {
        case .none, .checked: break
        case .direct: sendDirect(bytes, for: driver)
        case .recording: driver.recording.record(bytes, for: driver)
        case .gathering:
            driver.storing.gather(bytes, for: driver)
            abandonUnlessWanted(for: driver)
        case .pending:
            if driver.storing.append(bytes, for: driver) {
                driver.delivery.pump(for: driver)
                abandonUnlessWanted(for: driver)
            }
        case .checking: driver.checking.gather(bytes, for: driver)
        }
        driver.client?.flushSoon()
    }

    func sendDirect(_ bytes: Span<UInt8>, for driver: ExchangeDriver) {
        guard let client = driver.client, driver.exchange.delivery.sendsContent else { return }
        driver.delivery.append(bytes, to: client)
        let window = driver.worker.settings.proxyLimits.relayWindow
        if client.output.pendingCount >= window {
            client.flush()
            if let client = driver.client, client.output.pendingCount >= window { pauseIfPassedOn() }
        }
    }

    private func pauseIfPassedOn() {
        switch mode {
        case .direct, .gathering, .recording: pause()
        case .none, .pending, .checking, .checked: break
        }
    }

    /// Called when this many bytes of the content were moved into the pipe.
    func divert(_ count: Int, for driver: ExchangeDriver) {
        receivedCount += UInt64(count)
        driver.delivery.divert(count, for: driver)
    }

    func end(_ trailers: Fields, for driver: ExchangeDriver) {
        upstream = nil
        if continuesShortPiece(for: driver) { return }
        let trailers = driver.exchange.relayed(trailers)
        switch mode {
        case .none: finish(for: driver)
        case .checked: hasEnded = true
        case .direct:
            finish(for: driver)
            endDirect(trailers, for: driver)
        case .recording:
            driver.recording.end(trailers, for: driver)
            finish(for: driver)
            endDirect(trailers, for: driver)
        case .gathering:
            driver.storing.storeGathered(trailers, for: driver)
            finish(for: driver)
            endDirect(trailers, for: driver)
        case .pending:
            driver.storing.finish(trailers, for: driver)
            finish(for: driver)
            endPending(isComplete: true, for: driver)
        case .checking:
            hasEnded = true
            driver.checking.check(for: driver)
        }
        driver.client?.flushSoon()
        driver.giveBackIfDone()
    }

    func fail(_ error: TransportError, from upstream: OriginExchange, for driver: ExchangeDriver) {
        noteMetrics(of: upstream, for: driver)
        self.upstream = nil
        let fault = driver.tellFault(error)
        if continues(brokenBy: fault, for: driver) { return }
        broke(fault, for: driver)
    }

    /// Called when the rest of the request's content will not arrive.
    func fail(byRequest fault: Fault, for driver: ExchangeDriver) {
        upstream?.cancel()
        finish(for: driver)
        if driver.exchange.state == .delivering {
            driver.handle(.deliveryEnded(isComplete: false, at: driver.now))
        } else {
            driver.handle(.upstreamFailed(fault, at: driver.now))
        }
    }

    /// Called when the rest of the origin's message will not arrive.
    private func broke(_ fault: Fault, for driver: ExchangeDriver) {
        driver.client?.noteCut(by: fault)
        driver.recording.end(failedBy: fault, for: driver)
        switch mode {
        case .none, .checking:
            mode = .none
            driver.handle(.upstreamFailed(fault, at: driver.now))
            finish(for: driver)
        case .checked: break
        case .direct, .gathering, .recording:
            driver.storing.noteIncomplete(for: driver)
            finish(for: driver)
            driver.handle(.deliveryEnded(isComplete: false, at: driver.now))
        case .pending:
            driver.storing.abort()
            finish(for: driver)
            endPending(isComplete: false, for: driver)
        }
        driver.client?.flushSoon()
        driver.giveBackIfDone()
    }

    /// Called when the content has reached the limit of a rule. The client's message stays incomplete, and the content is not stored as a
    /// complete response.
    private func cut(by refusal: LimitRefusal, for driver: ExchangeDriver) {
        upstream?.cancel()
        upstream = nil
        driver.tell(.limitReached(refusal))
        broke(.limitReached(refusal.word), for: driver)
    }

    private func endDirect(_ trailers: Fields, for driver: ExchangeDriver) {
        driver.delivery.endChunks(trailers, for: driver)
        driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
    }

    /// Ends the delivery of a pending response. Its readers read the rest from the store, or see the failure. An exchange without a client
    /// ends here.
    private func endPending(isComplete: Bool, for driver: ExchangeDriver) {
        guard driver.exchange.isBackground else { return driver.delivery.pump(for: driver) }
        driver.handle(.deliveryEnded(isComplete: isComplete, at: driver.now))
    }

    /// Called when the exchange with the origin has ended. Requests that still wait for its response send their own requests.
    private func finish(for driver: ExchangeDriver) {
        driver.recording.drop(for: driver)
        driver.storing.releaseJoined(.notShareable, for: driver)
        reset(for: driver)
    }

    // MARK: Destination of the content

    /// Called when the exchange has decided: sends the head and content to the client, and stores the content if required.
    func relay(store: Bool, for driver: ExchangeDriver) {
        mode = .direct
        if store { driver.storing.begin(for: driver) }
        if driver.exchange.isBackground { return relayToNobody(for: driver) }
        driver.delivery.sendRelayed(mode, for: driver)
    }

    /// Sends the content only to the store, or discards it.
    private func relayToNobody(for driver: ExchangeDriver) {
        guard mode == .direct else { return }
        discard(for: driver)
        driver.storing.releaseJoined(.notShareable, for: driver)
        driver.handle(.deliveryEnded(isComplete: false, at: driver.now))
    }

    // MARK: Back-pressure

    func pause() {
        guard let upstream, !isPaused else { return }
        isPaused = true
        upstream.pauseReading()
    }

    func resume(for driver: ExchangeDriver) {
        guard let upstream, isPaused, !driver.recording.isBehind else { return }
        isPaused = false
        upstream.resumeReading()
    }

    // MARK: Truncated bodies
    //
    // The body is resumed by another exchange with the origin; the bytes received so far stay where they are.

    /// - Returns: whether the fetch continues.
    private func continues(brokenBy fault: Fault, for driver: ExchangeDriver) -> Bool {
        guard mayContinue(for: driver), driver.exchange.continues(after: receivedCount, brokenBy: fault) else { return false }
        continueWhenDrained(for: driver)
        return true
    }

    /// - Returns: whether the part that ended was shorter than requested, and the fetch continues.
    private func continuesShortPiece(for driver: ExchangeDriver) -> Bool {
        guard mayContinue(for: driver), driver.exchange.continuesShortPiece(after: receivedCount) else { return false }
        continueWhenDrained(for: driver)
        return true
    }

    private func mayContinue(for driver: ExchangeDriver) -> Bool {
        switch mode {
        case .none, .checked, .recording: false
        case .direct, .gathering, .pending, .checking: driver.client != nil || isWanted(for: driver)
        }
    }

    /// Requests the rest of a truncated body, at once or when the pipe is empty. The first bytes of the rest arrive in the buffer together
    /// with the head, and the buffer is sent before the pipe.
    private func continueWhenDrained(for driver: ExchangeDriver) {
        isPaused = false
        isContinuationDue = true
        if driver.delivery.pipe == nil || driver.client?.output.hasTail != true { continueNow(for: driver) }
    }

    func continueNow(for driver: ExchangeDriver) {
        isContinuationDue = false
        isContinuing = true
        open(body: .none, for: driver) { driver.exchange.writeContinuedHead(into: &$0) }
    }

    private func receive(
        continued head: borrowing ResponseHead, _ framing: BodyFraming, from upstream: OriginExchange, for driver: ExchangeDriver
    ) {
        isContinuing = false
        // If another trust policy or certificate chain applies, the received part does not belong to the same response.
        guard driver.exchange.isOfSameServer(trust: upstream.metrics.trustMark, chain: upstream.recordedChain),
            driver.exchange.acceptsContinuation(copy head, body: framing.bodyLength)
        else {
            upstream.cancel()
            self.upstream = nil
            return broke(.responseIncomplete, for: driver)
        }
        if !driver.exchange.keepsContinued(by: copy head, at: driver.now) {
            driver.storing.stopKeeping(for: driver)
            // The fetch is useless: the response has no readers, and must not be stored.
            if driver.exchange.isBackground, !driver.storing.hasReaders { return abandon(for: driver) }
        }
        if let pipe = driver.delivery.pipe { upstream.divertBody(into: pipe.writeEnd, atMost: KernelPipe.capacity) }
    }

    // MARK: End of the fetch

    /// Discards the response. A response without content is not cancelled, so its connection is reused.
    func discard(for driver: ExchangeDriver) {
        if driver.exchange.upstream.body != .none { upstream?.cancel() }
        reset(for: driver)
    }

    func stop(for driver: ExchangeDriver) {
        upstream?.cancel()
        reset(for: driver)
    }

    /// Called when the client has left. The fetch continues if other requests wait for the same response or read it.
    func cancel(for driver: ExchangeDriver) {
        let ownReaders = driver.delivery.reader == nil ? 0 : 1
        switch mode {
        case .gathering where isWanted(for: driver), .pending where isWanted(besides: ownReaders, for: driver):
            driver.worker.keepRunning(driver)
        case .recording where driver.recording.goesOn(for: driver):
            driver.worker.keepRunning(driver)
            // The fetch may have been paused for the client that has left.
            resume(for: driver)
        case .none, .direct, .gathering, .pending, .checking, .checked, .recording: abandon(for: driver)
        }
    }

    /// A client that requests many parts causes many fetches of the whole response: only one of them continues.
    func completeForStore(for driver: ExchangeDriver) {
        isForStore = !driver.storing.isFetchedElsewhere(for: driver)
        cancel(for: driver)
    }

    private func isWanted(besides readers: Int = 0, for driver: ExchangeDriver) -> Bool {
        driver.exchange.isWanted(
            by: driver.storing.demand(isForStore: isForStore, receivedCount: receivedCount, besides: readers))
    }

    /// Abandons the fetch if its own client and all clients of joined requests have left.
    private func abandonUnlessWanted(for driver: ExchangeDriver) {
        if driver.client == nil, isActive, !isWanted(for: driver) { abandon(for: driver) }
    }

    func abandon(for driver: ExchangeDriver) {
        driver.recording.drop(for: driver)
        driver.storing.noteIncomplete(for: driver)
        upstream?.cancel()
        driver.storing.abort()
        driver.storing.releaseJoined(.abandoned, for: driver)
        reset(for: driver)
        if driver.exchange.isBackground { driver.handle(.deliveryEnded(isComplete: false, at: driver.now)) }
        driver.giveBackIfDone()
    }
}
