import CLinux
import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import ProxyCore
import TLSChannel

/// One client's connection: reads requests one after the other, hands each to a driver, and writes what the driver makes.
///
/// Phases and the moves between them:
///
///     idle ──bytes──▶ readingHead ──head complete──▶ exchanging ──finished──▶ idle | lingering | closed
///     exchanging ──CONNECT succeeded──▶ handed over (the tunnel owns the descriptor)
///     handshaking ──TLS of the listener is open──▶ idle | closed
///     exchanging ──CONNECT to an intercepted host──▶ intercepting ──▶ idle (the requests inside) | handed over | lingering
///
/// Confined to its loop. While it is idle it holds no buffer: bytes are read into the loop's own buffer, and only what cannot
/// be used at once is kept here.
final class ClientConnection: EventHandler, TimerHandler, BatchHandler {
    enum Phase: UInt8 { case idle, readingHead, exchanging, handshaking, intercepting, lingering, handedOver, closed }

    // A constant that holds what it names is used without being counted. The worker lets go of the connection when it closes.
    let worker: LoopWorker
    let loop: EventLoop
    let peer: PeerAddress
    @exclusivity(unchecked) var phase: Phase = .idle
    @exclusivity(unchecked) var registration: Registration?
    @exclusivity(unchecked) var timer: TimerID?
    private var isHeadTimed = false
    private var isInputPaused = false
    @exclusivity(unchecked) private var parser: RequestParser
    /// Bytes received: from `inputStart` on they are the rest of a head, of a body, or pipelined requests.
    @exclusivity(unchecked) var input: [UInt8] = []
    var inputStart = 0
    /// The client's bytes, both ways.
    @exclusivity(unchecked) var channel: ByteChannel
    @exclusivity(unchecked) var output = OutputQueue()
    @exclusivity(unchecked) var driver: ExchangeDriver?
    /// It is ready to be read on, and others are before it (`FairnessQueue`).
    @exclusivity(unchecked) var awaitsTurn = false
    /// It has not shown yet that it asks for something: others are heard first.
    @exclusivity(unchecked) private var isNewcomer: Bool
    private var hasAsked = false
    /// How many requests may still be begun before others have their turn.
    @exclusivity(unchecked) private var requestsLeft = ClientConnection.requestsInTurn
    /// While the client's first bytes decide: in a handshake with a listener, and while it is open what becomes of a tunnel.
    var firstBytes: (any FirstBytesReader)?
    /// The listener asks for certificates: a client without one gets no further than the handshake.
    var isCertified = false
    /// The name of who has it, where that was proved for all of its requests.
    @exclusivity(unchecked) var user: [UInt8] = []
    /// Whom the requests are for that are read inside a tunnel.
    @exclusivity(unchecked) var tunnel: TunnelAuthority? {
        didSet { isInside = tunnel != nil }
    }
    /// There is one.
    @exclusivity(unchecked) private var isInside = false
    private var isProcessing = false
    private var isFlushing = false
    var peerHasEnded = false
    /// The client has ended its side while it waited for its answer: gone, or reading on (RFC 9112 §9.6).
    @exclusivity(unchecked) private var isHalfClosed = false
    /// How long the client may take nothing, and what had been written when that time began; `nil` while the timer runs for something else.
    @exclusivity(unchecked) private var taking: (milliseconds: Int, writtenCount: UInt64)?
    /// What is under way is the last: the connection ends when its answer is written.
    var closesWhenDrained = false
    private var isFlushPlanned = false

    /// So many of the requests that one client has sent at once are begun in one turn of the loop.
    private static let requestsInTurn = 32
    /// So much is written to one client before others have their turn.
    private static let octetsInTurn: UInt64 = 256 * 1024

    /// - Parameter tls: of a listener that speaks it.
    init(_ worker: LoopWorker, descriptor: Int32, peer: PeerAddress, tls: ListenerTLS? = nil) throws(SystemError) {
        self.worker = worker
        loop = worker.loop
        channel = ByteChannel(descriptor: descriptor)
        self.peer = peer
        parser = RequestParser(limits: worker.settings.parseLimits)
        // A handshake has a queue of its own.
        isNewcomer = tls == nil
        registration = try loop.register(descriptor, .read, handler: self, isNewcomer: isNewcomer)
        timer = loop.makeTimer(self)
        setDeadline(worker.settings.timeouts.clientHead)
        if let tls { handshake(tls) }
    }

    var descriptor: Int32 { channel.descriptor }

    func setDeadline(_ milliseconds: Int) {
        taking = nil
        if let timer { loop.setTimer(timer, afterMilliseconds: milliseconds) }
    }

    /// The same, counted from the last byte that was written.
    private func setDeadline(forTaking milliseconds: Int) {
        if let taking, taking == (milliseconds, output.writtenCount) { return }
        setDeadline(milliseconds)
        taking = (milliseconds, output.writtenCount)
    }

    // MARK: Events

    func ready(_ events: ReadyEvents) {
        requestsLeft = Self.requestsInTurn
        if isNewcomer, phase == .exchanging || phase == .lingering { admit() }
        if channel.isSecured, phase == .idle, events.tellsOfEnd {
            // What is left of TLS costs as much as ten answers, and its client waits for none of it.
            if awaitsTurn { return }
            guard worker.departures.admits(self) else { return awaitTurn() }
        }
        if events.contains(.failed) || (events.contains(.hungUp) && phase != .lingering) {
            // A client that refuses our certificate says so in its last bytes.
            if isReadingFirstBytes { readFirstBytes() }
            return clientGone()
        }
        if events.contains(.writable) { flush() }
        if events.contains(.readable) {
            switch phase {
            case .idle, .readingHead: if !awaitsOthers { readRequest() }
            case .exchanging: readBody()
            case .handshaking, .intercepting: if worker.interceptions.admits(self) { readFirstBytes() } else { awaitTurn() }
            case .lingering: discardInput()
            case .handedOver, .closed: break
            }
        }
        if events.contains(.peerClosed), phase == .exchanging {
            isHalfClosed = true
            settle()
        }
    }

    /// Who comes back behind a request, is being answered, has sent a part of a head alone or much at once is no newcomer any more. Whoever
    /// asks once and goes never costs this.
    func admit() {
        if let registration { loop.admit(registration) }
        isNewcomer = false
    }

    func deadlinePassed(_ timer: TimerID) {
        switch phase {
        case .idle: if output.isEmpty { closeIdle() } else { clientGone() }
        case .lingering: close()
        case .handshaking, .intercepting: firstBytes?.deadlinePassed(isLast: closesWhenDrained)
        case .readingHead:
            takeDriver().reject(.requestTimeout)
            flush()
        case .exchanging:
            if output.isEmpty, driver?.isReadingRequestBody == true {
                driver?.requestBodyStalled()
                flush()
            } else if !output.isEmpty || isHalfClosed {
                clientGone()
            }
        case .handedOver, .closed: break
        }
    }

    // MARK: Reading

    func readRequest() {
        let buffer = worker.readBuffer
        let count = receive()
        if count == 0 { return phase == .idle ? closeIdle() : clientGone() }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { clientGone() }
            return
        }
        if isNewcomer {
            if hasAsked || count == buffer.count { admit() }
            hasAsked = true
        }
        if hasInput {
            keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            processInput()
        } else {
            let bytes = UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
            let used = process(bytes.bytes)
            if used < count, phase != .closed { keep(UnsafeRawBufferPointer(rebasing: bytes[used...])) }
        }
        if isNewcomer, phase == .readingHead { admit() }
        feedBody()
        flush()
    }

    /// Content that came together with its head.
    func feedBody() {
        if phase == .exchanging, hasInput, let driver, driver.wantsRequestBody { driver.requestBodyArrived() }
    }

    /// Another request may be read: the one before has been answered, and what is left of its answer lies in the buffer, which
    /// a client that does not read cannot make large.
    private var takesRequests: Bool {
        // A head that has begun is still read, and so held to the limits for heads.
        guard phase == .readingHead || (phase == .idle && !closesWhenDrained) else { return false }
        return requestsLeft > 0 && !output.hasTail
            && output.pendingCount < worker.settings.proxyLimits.pipelinedOutput
    }

    /// Serves what is held, request after request for as long as each is answered at once. Each head is used up before its
    /// driver starts: what the driver is then given is the request's body.
    func processInput() {
        if isProcessing { return }
        isProcessing = true
        while hasInput, takesRequests {
            let driver = takeDriver()
            let held = input
            let read = HeadRead(
                held.span.bytes.extracting(inputStart..<held.count), with: &parser, &worker.headMemory,
                into: &driver.exchange.request)
            guard let length = read.length else {
                waitForHead()
                break
            }
            use(length)
            start(read, with: driver)
        }
        isProcessing = false
    }

    /// Reads request after request from `bytes`, of which nothing is held yet, for as long as each is answered at once.
    /// - Returns: how many bytes were used.
    private func process(_ bytes: RawSpan) -> Int {
        isProcessing = true
        defer { isProcessing = false }
        var used = 0
        while used < bytes.byteCount, takesRequests {
            let driver = takeDriver()
            let read = HeadRead(
                bytes.extracting(used..<bytes.byteCount), with: &parser, &worker.headMemory, into: &driver.exchange.request)
            guard let length = read.length else {
                waitForHead()
                break
            }
            used += length
            start(read, with: driver)
        }
        return used
    }

    private func start(_ read: HeadRead, with driver: ExchangeDriver) {
        phase = .exchanging
        requestsLeft &-= 1
        switch read {
        case .incomplete: break
        case .request(let framing, _):
            if isInside, let tunnel { start(framing, in: tunnel, with: driver) } else { driver.start(framing) }
        case .refused(let fault, _): driver.reject(fault)
        }
        if output.pendingCount >= worker.settings.proxyLimits.pipelinedOutput { flush() }
    }

    /// Answers before anything is read, and ends.
    func refuse(_ fault: Fault) {
        start(.refused(fault, length: 0), with: takeDriver())
        flush()
    }

    private func takeDriver() -> ExchangeDriver {
        if let driver { return driver }
        let taken = worker.takeDriver(for: self)
        driver = taken
        phase = .readingHead
        isHeadTimed = false
        if output.buffer.capacity == 0 { worker.lend(to: &output.buffer) }
        if channel.isSecured { lendRecords() }
        return taken
    }

    /// A head has begun: its deadline counts from here, however slowly the rest comes. One that comes whole needs none.
    private func waitForHead() {
        if isHeadTimed { return }
        isHeadTimed = true
        setDeadline(worker.settings.timeouts.clientHead)
    }

    /// Reads request content for the driver, from what is held first.
    private func readBody() {
        guard let driver, driver.wantsRequestBody else {
            isInputPaused = true
            return settle()
        }
        let buffer = worker.readBuffer
        let count = receive()
        if count == 0 {
            peerHasEnded = true
            driver.requestBodyCut()
            return flush()
        }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { clientGone() }
            return
        }
        keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        setDeadline(worker.settings.timeouts.clientBody)
        driver.requestBodyArrived()
        flush()
    }

    /// Lets the driver use what is held of the request's body; it says how much it took.
    func withInput(_ body: (RawSpan) -> Int) {
        // An exchange that ends meanwhile must not have what is left of its body read as the next request.
        let wasProcessing = isProcessing
        isProcessing = true
        let held = input
        let used = body(held.span.bytes.extracting(inputStart..<held.count))
        if used > 0 { use(used) }
        isProcessing = wasProcessing
    }

    var hasInput: Bool { inputStart < input.count }

    func keep(_ bytes: UnsafeRawBufferPointer) {
        if inputStart > 0 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
        input.append(contentsOf: bytes)
    }

    private func use(_ count: Int) {
        // Taken over by a tunnel, or closed, meanwhile.
        if input.isEmpty { return }
        inputStart += count
    }

    private func discardInput() {
        let buffer = worker.readBuffer
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { close() }
    }

    // MARK: Writing

    /// Writes what waits, lets the driver make more, and serves what is held, for as long as all of it is taken.
    func flush() {
        // The call that is under way goes on with whatever this one is for.
        if isFlushing { return }
        isFlushing = true
        defer { isFlushing = false }
        let limit = output.writtenCount &+ Self.octetsInTurn
        while phase != .closed, phase != .handedOver {
            switch output.write(to: &channel, upTo: limit) {
            case .failed: return clientGone()
            case .blocked: return settle()
            case .yielded:
                // Whatever ran before: it is the client's taking that counts from here on.
                setDeadline(forTaking: worker.settings.timeouts.clientBody)
                return planFlush()
            case .drained: break
            }
            let hasMore = driver?.outputDrained() == true
            if hasMore || !output.isEmpty { continue }
            guard hasInput, takesRequests, !isProcessing else { break }
            let before = inputStart
            processInput()
            feedBody()
            if output.isEmpty, inputStart == before { break }
        }
        if phase == .intercepting { feedInterceptor() }
        if phase != .closed, phase != .handedOver { settle() }
        if awaitsOthers { flushSoon() }
    }

    /// Writes at the end of the batch what its events have put together.
    func flushSoon() {
        if !isProcessing { planFlush() }
    }

    private func planFlush() {
        if isFlushPlanned { return }
        isFlushPlanned = true
        loop.atEndOfBatch(self)
    }

    /// There are requests to serve, and it is others' turn.
    private var awaitsOthers: Bool { requestsLeft <= 0 && hasInput && phase == .idle && output.isEmpty }

    func batchEnded() {
        isFlushPlanned = false
        requestsLeft = Self.requestsInTurn
        flush()
    }

    // MARK: What comes next

    /// The driver's exchange is over. The answer may still be on its way out.
    func exchangeEnded(keepsConnection: Bool) {
        driver = nil
        if !keepsConnection { closesWhenDrained = true }
        phase = .idle
        if !isProcessing { flush() }
    }

    /// Sets interest and deadline to what the connection now waits for.
    private func settle() {
        guard let registration, phase != .closed else { return }
        let timeouts = worker.settings.timeouts
        if !output.isEmpty {
            loop.modify(registration, .write)
            if phase != .handshaking { setDeadline(forTaking: timeouts.clientBody) }
            return
        }
        if phase == .idle, closesWhenDrained || (hasEndedInTLS && !isProcessing && !awaitsOthers) { return endGracefully() }
        switch phase {
        case .idle:
            if !hasInput { releaseInput() }
            if output.buffer.capacity > 0 { worker.takeBack(&output.buffer) }
            if channel.isSecured { releaseRecords() }
            isInputPaused = false
            loop.modify(registration, awaitsTurn ? .edgeTriggered : awaitsOthers ? Interest() : interestInRequests)
            setDeadline(timeouts.clientIdle)
        case .readingHead:
            if hasEndedInTLS, !isProcessing { return clientGone() }
            loop.modify(registration, interestInRequests)
        case .exchanging:
            let reads = driver?.wantsRequestBody == true && !peerHasEnded
            if reads, !hasInput, hasEndedInTLS {
                peerHasEnded = true
                driver?.requestBodyCut()
                return planFlush()
            }
            // Interest in reading stays until bytes really come: most clients wait for their answer.
            loop.modify(registration, reads ? .read : isInputPaused ? interestInEnd : interestInRequests)
            if reads {
                isInputPaused = false
                setDeadline(timeouts.clientBody)
            } else if isHalfClosed {
                setDeadline(forTaking: timeouts.halfClosed)
            } else if let timer {
                taking = nil
                loop.cancelTimer(timer)
            }
        case .handshaking, .intercepting:
            loop.modify(registration, awaitsTurn ? .edgeTriggered : firstBytes?.takesInput == true ? .read : Interest())
        case .lingering: loop.modify(registration, .read)
        case .handedOver, .closed: break
        }
    }

    private var hasEndedInTLS: Bool { channel.isSecured && channel.hasClientEnded }

    /// Whoever leaves a connection in TLS is known by it before anything is read.
    private var interestInRequests: Interest { channel.isSecured ? [.read, .peerClose] : .read }

    /// Once all of the request has been read, the end of the client's side tells that it may have left; it is told once.
    private var interestInEnd: Interest {
        isHalfClosed || driver?.isReadingRequestBody == true ? Interest() : .peerClose
    }

    private func releaseInput() {
        if input.capacity > 0 { input = [] }
        inputStart = 0
    }
}
