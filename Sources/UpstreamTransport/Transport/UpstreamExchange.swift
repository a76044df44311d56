import EventLoop
import HTTPMessage
import HTTPWire
import ServerTrust

/// Runs exchanges with origins, one after another: waits for a connection, sends the request, and keeps the timeouts. Its
/// connection reads the response. The transport keeps and reuses the object, so that an exchange allocates nothing of its own.
///
/// States and moves: `unused` → `refused` | `joining` (another exchange's attempt to connect) | `queued` | `connecting` | `active`;
/// `joining` → any of these; `queued` → `refused` (the gate has been closed) | `connecting` | `active`; `connecting` → `active`;
/// `active` → `refused` | `joining` | `queued` | `connecting` (the one retry); each → `unused` at its end.
final class UpstreamExchange: TimerHandler, BatchHandler, ConnectObserver {
    enum State { case unused, refused(TransportError), joining, queued(ticket: UInt64), connecting, active }

    private(set) var number: UInt64 = 0
    @exclusivity(unchecked) var request: UpstreamRequest
    @exclusivity(unchecked) var metrics = ExchangeMetrics()
    /// Whether the kernel has accepted the whole request.
    private(set) var isRequestSent = false
    /// The pipe that the body is moved into, instead of being delivered.
    var diversion: BodyDiversion?
    /// The index of this object in the transport's list of exchanges.
    var index = 0

    /// The reference is strong, so that work deferred to the end of the batch can use it; `Transport.close` breaks the cycle.
    let transport: Transport
    let loop: EventLoop
    private var timer: TimerID?
    var state = State.unused
    private var delegate: (any OriginExchangeDelegate)?
    var endpoint: Endpoint?
    /// The parent that gets the request, if the way leads through parents.
    var parent: ParentAttempt?
    private(set) var connection: (any RequestCarrier)?
    var attempt: (any ConnectAttempt)?
    private(set) var timeouts = UpstreamTimeouts()

    @exclusivity(unchecked) private var output = OutputBuffer()
    private var bodyRemaining: UInt64 = 0
    private var isBodyEnded = false
    private var isBodyBlocked = false
    private var hasTakenBody = false
    /// The part of the body that was written, in its framing, as long as the server may still refuse the request unprocessed. `nil` if it
    /// is too long to keep.
    @exclusivity(unchecked) private var writtenBody: [UInt8]?
    private var refusalCount = 0
    private var isSendingBroken = false
    private var isPaused = false
    /// Whether the head of the final response has arrived.
    private(set) var isAnswered = false

    var waitingSince = MonotonicTime(nanoseconds: 0)
    private var totalDeadline = MonotonicTime.never
    private var headDeadline = MonotonicTime.never
    private var phase = TimeoutPhase.connect

    init(_ transport: Transport) {
        self.transport = transport
        loop = transport.loop
        request = UpstreamRequest(origin: Origin(scheme: .http, host: "", port: 0), method: .get, head: [])
        timer = loop.makeTimer(self)
    }

    /// The server's certificate chain, if this exchange is the first on its connection (`UpstreamTLSChannel.judgedChain`).
    private(set) var judgedChain: [Certificate] = []

    var isActive: Bool {
        if case .unused = state { return false }
        return true
    }

    var method: Method { self.request.method }
    var requestFraming: BodyFraming { self.request.body }
    var acceptsTrailers: Bool { self.request.acceptsTrailers }

    /// Whether the server may switch protocols now.
    var mayBeSwitched: Bool { request.isForSwitch && isRequestSent }

    var handle: OriginExchange { OriginExchange(exchange: self, number: number) }

    /// Removes the timer, so that the loop no longer refers to this object.
    func discard() {
        if let timer { loop.removeTimer(timer) }
        timer = nil
    }

    // MARK: Beginning of an exchange

    func begin(_ request: UpstreamRequest, number: UInt64, delegate: any OriginExchangeDelegate) {
        self.number = number
        self.request = request
        self.delegate = delegate
        metrics = ExchangeMetrics()
        if !judgedChain.isEmpty { judgedChain = [] }
        timeouts = request.timeouts ?? transport.configuration.timeouts
        metrics.openedAt = loop.now
        totalDeadline = timeouts.total > 0 ? metrics.openedAt.advanced(milliseconds: timeouts.total) : .never
        isRequestSent = false
        isBodyBlocked = false
        hasTakenBody = false
        writtenBody = nil
        refusalCount = 0
        isSendingBroken = false
        isPaused = false
        isAnswered = false
        headDeadline = .never
        isBodyEnded = request.body == .none || request.body == .length(0)
        if case .length(let length) = request.body { bodyRemaining = length }
        let endpoint: Endpoint
        do throws(TransportError) {
            endpoint = try chooseEndpoint()
        } catch {
            return refuse(error)
        }
        self.endpoint = endpoint
        if !isBodyEnded {
            let head = self.request.head
            output.append(head.span)
            if endpoint.mayUseHTTP2 { writtenBody = [] }
        }
        obtainConnection(to: endpoint)
    }

    /// Fails at the end of the batch, since the delegate must not be called from within `open`.
    func refuse(_ error: TransportError) {
        state = .refused(error)
        loop.atEndOfBatch(self)
    }

    func batchEnded() {
        if case .refused(let error) = state { return fail(error) }
        if case .active = state, !output.isEmpty { flush() }
    }

    func start(on connection: some RequestCarrier, isReused: Bool) {
        state = .active
        self.connection = connection
        metrics.version = connection.version
        if connection.version != .http2 { writtenBody = nil }
        metrics.isConnectionReused = isReused
        metrics.remoteAddress = connection.remoteAddress
        if let endpoint { metrics.remotePort = endpoint.key.connectedPort }
        metrics.trustMark = trustMark(on: connection)
        if !connection.hasCarried, !isToProxy { judgedChain = connection.judgedChain }
        connection.begin(self)
        delegate?.exchangeHasConnection(handle)
        if output.isEmpty {
            sendHeadAlone(on: connection)
        } else if isReused, !isBodyEnded, !hasTakenBody {
            // The head waits for the first piece of the body, which usually arrives in this batch, so that both leave in one packet.
            arm(.sending, timeouts.idle)
            loop.atEndOfBatch(self)
        } else {
            flush()
        }
    }

    // MARK: Sending

    private func sendHeadAlone(on connection: some RequestCarrier) {
        let count: Int
        let head = request.head
        switch connection.send(head.span) {
        case .bytes(let sent): count = sent
        case .wouldBlock: count = 0
        case .failed: return sendingBroke()
        }
        metrics.bytesSent += UInt64(count)
        if count == head.count { return requestSent() }
        output.append(head.span.extracting(count..<head.count))
        connection.setWriting(true)
        armSending(.sending, timeouts.idle)
    }

    func flush() {
        guard let connection, !isSendingBroken else { return }
        while !output.isEmpty {
            switch output.send({ connection.send($0) }) {
            case .bytes(let count):
                metrics.bytesSent += UInt64(count)
                output.consume(count)
            case .wouldBlock:
                connection.setWriting(true)
                return armSending(.sending, timeouts.idle)
            case .failed:
                return sendingBroke()
            }
        }
        connection.setWriting(false)
        if isBodyEnded {
            if !isRequestSent { requestSent() }
            return
        }
        // From here on, the exchange waits for the client, whose timeout is not the transport's task.
        armSending(.sending, 0)
        guard isBodyBlocked else { return }
        isBodyBlocked = false
        delegate?.exchangeIsReadyForBody(handle)
    }

    private func requestSent() {
        isRequestSent = true
        awaitHead()
        armSending(.firstByte, timeouts.firstByte)
    }

    /// Called when the server accepts no more bytes. The server may have responded before it closed the connection, so the received bytes
    /// decide how the exchange continues (RFC 9112 §9.5).
    private func sendingBroke() {
        isSendingBroken = true
        output.removeAll()
        connection?.setWriting(false)
        awaitHead()
        armSending(.firstByte, timeouts.firstByte)
    }

    func sendBody(_ bytes: Span<UInt8>) -> Bool {
        precondition(!isBodyEnded || bytes.isEmpty, "a body ends once, with its announced length")
        hasTakenBody = true
        if isSendingBroken || bytes.isEmpty { return true }
        if request.body == .chunked {
            write {
                ChunkWriter.writeChunkHeader(count: bytes.count, into: &$0)
                $0.append(bytes)
                ChunkWriter.writeChunkEnd(into: &$0)
            }
        } else {
            precondition(UInt64(bytes.count) <= bodyRemaining, "a body is no longer than announced")
            bodyRemaining -= UInt64(bytes.count)
            if bodyRemaining == 0 { isBodyEnded = true }
            write { $0.append(bytes) }
        }
        flush()
        if output.count < transport.configuration.requestBufferLength { return true }
        isBodyBlocked = !isBodyEnded
        return isBodyEnded
    }

    private func write(_ body: (inout [UInt8]) -> Void) {
        output.append(body)
        guard writtenBody != nil else { return }
        body(&writtenBody!)
        if (writtenBody?.count ?? 0) > Self.writtenBodyLimit { writtenBody = nil }
    }

    /// The maximum length of a body that is kept to be sent again, in bytes: the usual window of a new stream (RFC 9113 §6.9.2). A server
    /// that accepts a longer body has begun to process the request.
    private static let writtenBodyLimit = 65_535
    /// The maximum number of times that a request is sent again after a server has refused it unprocessed.
    private static let refusalLimit = 20

    func endBody(trailers: Fields) {
        if isBodyEnded { return }
        if request.body == .chunked {
            isBodyEnded = true
            hasTakenBody = true
            if isSendingBroken { return }
            write { ChunkWriter.writeLastChunk(trailers: trailers, into: &$0) }
            flush()
        } else {
            stopConnecting()
            closeConnection()
            refuse(.requestBodyTooShort)
        }
    }

    // MARK: Receiving, called by the connection

    func didReceive(_ count: Int) {
        if metrics.bytesReceived == 0 { metrics.firstByteTime = loop.now.microseconds(since: metrics.openedAt) }
        metrics.bytesReceived += UInt64(count)
        if !isPaused { arm(.idle, timeouts.idle) }
    }

    func didReceiveInformational(_ head: borrowing ResponseHead) {
        if isRequestSent { awaitHead() }
        // `awaitHead` has set a new deadline for the head, which the timer must take into account.
        if !isPaused { arm(.idle, timeouts.idle) }
        delegate?.exchange(handle, didReceiveInformational: head)
    }

    func didReceiveHead(_ head: inout ResponseHead, framing: BodyFraming) {
        isAnswered = true
        if parent != nil { noteParentResponse() }
        // The proxy requests credentials from Larder, and clients cannot send them.
        let isOfProxy = head.status.code == 407 && isToProxy
        if isOfProxy, !request.takesProxyChallenges { return fail(.tunnelRefused(status: 407)) }
        headDeadline = .never
        if !isPaused { arm(.idle, timeouts.idle) }
        delegate?.exchange(handle, didReceiveHead: &head, framing: framing)
    }

    /// The connection now carries another protocol, and no longer belongs to the transport.
    func didSwitchProtocols(_ head: inout ResponseHead, on switched: SwitchedConnection) {
        connection = nil
        let handle = handle
        let delegate = settle()
        delegate?.exchange(handle, didSwitchProtocols: &head, on: switched)
        transport.recycle(self)
    }

    func didReceiveBody(_ bytes: Span<UInt8>) {
        delegate?.exchange(handle, didReceiveBody: bytes)
    }

    func didDivertBody(_ count: Int) {
        delegate?.exchange(handle, didDivertBody: count)
    }

    /// Called when the connection has finished with this exchange.
    func detach() { connection = nil }

    /// Called when the connection ended before the first byte of a response.
    func closedBeforeResponse() {
        guard canRetry else { return fail(connection?.refusal ?? .closedBeforeResponse) }
        retry()
    }

    /// Called when the server has not processed the request, so another connection may carry it, whatever its method (RFC 9113 §8.7).
    func wasRefused(_ error: TransportError) {
        refusalCount += 1
        guard refusalCount <= Self.refusalLimit, !hasTakenBody || writtenBody != nil else { return fail(error) }
        retry()
    }

    private func retry() {
        guard let endpoint else { return }
        metrics.isRetried = true
        forgetSending()
        if !isBodyEnded || hasTakenBody {
            let head = request.head
            output.append(head.span)
            if let writtenBody { output.append(writtenBody.span) }
        }
        obtainConnection(to: endpoint)
    }

    /// Closes the connection; the request will be sent from its beginning.
    func forgetSending() {
        closeConnection()
        isSendingBroken = false
        isRequestSent = false
        headDeadline = .never
        output.removeAll()
    }

    /// Whether the request may be sent again on the same way: once, on another connection than a reused one.
    private var canRetry: Bool { metrics.isConnectionReused && !metrics.isRetried && isRepeatable }

    // MARK: Pausing and timeouts

    func setPaused(_ paused: Bool) {
        if isPaused == paused { return }
        isPaused = paused
        connection?.setPaused(paused)
        if metrics.bytesReceived > 0 { arm(.idle, paused ? 0 : timeouts.idle) }
    }

    /// Sets the deadline of a phase. With zero milliseconds, only the deadlines of the head and of the whole exchange apply.
    func arm(_ phase: TimeoutPhase, _ milliseconds: Int) {
        self.phase = phase
        guard let timer else { return }
        let deadline = milliseconds > 0 ? loop.now.advanced(milliseconds: milliseconds) : .never
        loop.setTimer(timer, at: min(deadline, headDeadline, totalDeadline))
    }

    /// Sets the deadline of the head: the whole head must arrive within the first-byte timeout, even if it arrives slowly.
    private func awaitHead() {
        headDeadline = isAnswered || timeouts.firstByte <= 0 ? .never : loop.now.advanced(milliseconds: timeouts.firstByte)
    }

    /// Sets the timeout of a sending phase. If the origin responds before it has the whole request, the idle timeout applies from then on,
    /// however much of the rest it accepts. An interim response (such as 100) does not change the timeout: the origin may wait for the
    /// content.
    private func armSending(_ phase: TimeoutPhase, _ milliseconds: Int) {
        if isAnswered { arm(.idle, isPaused ? 0 : timeouts.idle) } else { arm(phase, milliseconds) }
    }

    func deadlinePassed(_ timer: TimerID) {
        guard isActive else { return }
        fail(.timedOut(loop.now >= totalDeadline ? .total : loop.now >= headDeadline ? .firstByte : phase))
    }

    // MARK: End of the exchange

    func end(_ trailers: borrowing Fields) {
        let handle = handle
        let delegate = settle()
        delegate?.exchange(handle, didEndWithTrailers: trailers)
        transport.recycle(self)
    }

    func fail(_ error: TransportError) {
        if parent != nil, movesToAnotherParent(after: error) { return }
        let handle = handle
        let delegate = settle()
        delegate?.exchange(handle, didFailWith: error)
        transport.recycle(self)
    }

    func cancel() {
        _ = settle()
        transport.recycle(self)
    }

    /// Releases everything that the exchange holds.
    private func settle() -> (any OriginExchangeDelegate)? {
        let last = delegate
        stopConnecting()
        state = .unused
        delegate = nil
        diversion = nil
        closeConnection()
        if let endpoint { leave(endpoint) }
        if parent != nil { leaveParent() }
        output.removeAll()
        writtenBody = nil
        request.head = []
        if let timer { loop.cancelTimer(timer) }
        return last
    }

    func leave(_ endpoint: Endpoint) {
        transport.pool.endUse(of: endpoint)
        self.endpoint = nil
    }

    /// Leaves the queue, or cancels the connection attempt.
    private func stopConnecting() {
        guard let endpoint else { return }
        if case .queued(let ticket) = state { transport.dequeue(ticket, key: endpoint.key) }
        if case .joining = state { endpoint.leave(self) }
        guard let attempt else { return }
        self.attempt = nil
        attempt.cancel()
        transport.budgets.release(endpoint.key)
        // The state is set before `openingEnded` is called, because an exchange that waited for this attempt may begin its own attempt
        // within that call.
        state = .unused
        endpoint.openingEnded()
    }

    private func closeConnection() {
        guard let connection else { return }
        self.connection = nil
        connection.close()
    }
}
