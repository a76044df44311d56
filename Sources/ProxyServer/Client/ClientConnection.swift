import CLarderLinux
import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import ProxyCore
import TLSChannel

/// A client's connection: reads requests one by one, gives each to a driver, and writes the driver's output.
///
/// Phases and transitions:
///
///     idle ──bytes──▶ readingHead ──head complete──▶ exchanging ──finished──▶ idle | lingering | closed
///     exchanging ──CONNECT succeeded──▶ handedOver (the tunnel owns the descriptor)
///     handshaking ──TLS of the listener is open──▶ idle | closed
///     exchanging ──CONNECT to an intercepted host──▶ intercepting ──▶ idle (the requests inside) | handedOver | lingering
///
/// Confined to its loop. An idle connection has no buffer: bytes are read into the loop's own buffer, and the connection keeps only bytes
/// that cannot be processed at once.
final class ClientConnection: ExchangeClient, EventHandler, TimerHandler, BatchHandler {
    enum Phase: UInt8 { case idle, readingHead, exchanging, handshaking, intercepting, lingering, handedOver, closed }

    @exclusivity(unchecked) var phase: Phase = .idle
    @exclusivity(unchecked) var registration: Registration?
    @exclusivity(unchecked) var timer: TimerID?
    private var isHeadTimed = false
    private var isInputPaused = false
    @exclusivity(unchecked) private var parser: RequestParser
    /// Received bytes. From `inputStart` on, they are not processed yet: the rest of a head or of a body, or pipelined requests.
    @exclusivity(unchecked) var input: [UInt8] = []
    var inputStart = 0
    /// The channel through which bytes are read from and written to the client, with or without TLS.
    @exclusivity(unchecked) var channel: ByteChannel
    @exclusivity(unchecked) var driver: ExchangeDriver?
    /// Whether the socket has bytes to read, but the connection waits until other clients have been served (`FairnessQueue`).
    @exclusivity(unchecked) var awaitsTurn = false
    /// Whether established clients have precedence over this client. Stays true after the first request, until `admit()`.
    @exclusivity(unchecked) private var isNewcomer: Bool
    private var hasAsked = false
    /// The number of further requests that may begin before other clients are served.
    @exclusivity(unchecked) private var requestsLeft = ClientConnection.requestsInTurn
    /// The reader of the client's first bytes: in a TLS handshake with a listener, and in a tunnel that may be intercepted. `nil` at all
    /// other times.
    var firstBytes: (any FirstBytesReader)?
    /// Whether the listener requires client certificates.
    var isCertified = false
    /// Whether received bytes are being processed further up the stack. If so, an exchange that ends does not flush: the caller reads the
    /// next request first, and then writes all responses at once (`readRequest`, `flush`).
    private var isProcessing = false
    /// Whether `flush` is running further up the stack: that call also writes the output of a nested call.
    private var isFlushing = false
    var peerHasEnded = false
    /// Whether the client has closed its sending side while waiting for its response: the client may have left, or may still read (RFC 9112
    /// §9.6).
    @exclusivity(unchecked) private var isHalfClosed = false
    /// The time limit for a client that reads nothing, and the number of bytes written when it began; `nil` while the timer is used for
    /// another purpose.
    @exclusivity(unchecked) private var taking: (milliseconds: Int, writtenCount: UInt64)?
    private var isFlushPlanned = false
    /// Whether the client has sent the preface of HTTP/2.
    private var becomesHTTP2 = false

    /// The maximum number of a client's pipelined requests that begin in one turn of the loop.
    private static let requestsInTurn = 32
    /// The maximum number of bytes written to one client before other clients are served.
    private static let octetsInTurn: UInt64 = 256 * 1024

    /// - Parameter tls: the TLS setup of the listener; `nil` for plain text.
    init(_ worker: LoopWorker, descriptor: Int32, peer: PeerAddress, tls: ListenerTLS? = nil) throws(SystemError) {
        channel = ByteChannel(descriptor: descriptor)
        parser = RequestParser(limits: worker.settings.parseLimits)
        // A client of a TLS listener does not wait behind established clients here, because handshakes have their own queue.
        isNewcomer = tls == nil
        super.init(worker, peer: peer)
        registration = try loop.register(descriptor, .read, handler: self, isNewcomer: isNewcomer)
        timer = loop.makeTimer(self)
        setDeadline(worker.settings.timeouts.clientHead)
        if let tls { handshake(tls) }
    }

    var descriptor: Int32 { channel.descriptor }

    override var socket: Int32? { channel.descriptor }

    override var takesSplicedBody: Bool { !channel.isSecured }

    func setDeadline(_ milliseconds: Int) {
        taking = nil
        if let timer { loop.setTimer(timer, afterMilliseconds: milliseconds) }
    }

    /// Sets a deadline that is counted from the last byte written.
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
            // The end of a TLS connection costs as much as ten responses, and no client waits for it. So such connections wait in a queue.
            if awaitsTurn { return }
            guard worker.departures.admits(self) else { return awaitTurn() }
        }
        if events.contains(.failed) || (events.contains(.hungUp) && phase != .lingering) {
            // A client that refuses our certificate sends an alert in its last bytes.
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

    /// Marks the client as established. Called when the client sends a second request, is being served, or has sent part of a head or a
    /// full read buffer. Never needed for a client with a single request.
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
        if becomesHTTP2 { return HTTP2Connection.start(replacing: self) }
        if isNewcomer, phase == .readingHead { admit() }
        feedBody()
        flush()
    }

    /// Passes on content that was received together with the request's head.
    func feedBody() {
        if phase == .exchanging, hasInput, let driver, driver.wantsRequestBody { driver.requestBodyArrived() }
    }

    /// Whether the next request may be read. The previous exchange must have ended, and the client must have requests left in
    /// this turn. The unsent output must be below the limit for pipelined requests.
    private var takesRequests: Bool {
        // Even while the connection drains, a head that has begun is read to its end, under the limits for heads.
        guard phase == .readingHead || (phase == .idle && !closesWhenDrained) else { return false }
        return requestsLeft > 0 && !output.hasTail && !becomesHTTP2
            && output.pendingCount < worker.settings.proxyLimits.pipelinedOutput
    }

    /// Processes the requests in `input`, as long as each is answered at once. A head's bytes are consumed before its driver starts, so
    /// the driver gets only the request's body.
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

    /// Processes the requests in `bytes`, as long as each is answered at once. Called only while `input` holds no bytes.
    /// - Returns: the number of bytes consumed.
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
        case .http2Preface:
            // Only the first bytes of a connection can be the preface of HTTP/2, and inside TLS the protocol is chosen by ALPN.
            guard !channel.isSecured, output.isEmpty, output.writtenCount == 0 else { return driver.reject(.unsupportedVersion) }
            phase = .idle
            self.driver = nil
            driver.abandon()
            becomesHTTP2 = true
        case .request(let framing, _):
            if isInside, let tunnel { start(framing, in: tunnel, with: driver) } else { driver.start(framing) }
        case .refused(let fault, _): driver.reject(fault)
        }
        if output.pendingCount >= worker.settings.proxyLimits.pipelinedOutput { flush() }
    }

    /// Sends an error before anything is read, and closes the connection.
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

    /// Called when a head has begun: its time limit starts here, however slowly the rest arrives. A head that arrives whole needs no timer.
    private func waitForHead() {
        if isHeadTimed { return }
        isHeadTimed = true
        setDeadline(worker.settings.timeouts.clientHead)
    }

    /// Reads request content for the driver, beginning with the bytes in `input`.
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

    /// Gives the driver the held bytes of the request's body; `body` returns the number of bytes consumed.
    override func withInput(_ body: (RawSpan) -> Int) {
        // If the exchange ends during the call, the rest of its body must not be read as the next request.
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
        // The call has closed the connection, or turned it into a tunnel that has taken the input.
        if input.isEmpty { return }
        inputStart += count
    }

    private func discardInput() {
        let buffer = worker.readBuffer
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { close() }
    }

    // MARK: Writing

    /// Writes waiting output. As long as all of it is accepted, also processes requests that were already received.
    override func flush() {
        // The outer call of `flush` continues, and also writes the output of this call.
        if isFlushing { return }
        isFlushing = true
        defer { isFlushing = false }
        let limit = output.writtenCount &+ Self.octetsInTurn
        while phase != .closed, phase != .handedOver {
            switch output.write(to: &channel, upTo: limit) {
            case .failed: return clientGone()
            case .blocked: return settle()
            case .yielded:
                // The deadline starts here: the client must read something before it.
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

    override func flushSoon() {
        if !isProcessing { planFlush() }
    }

    override func write(_ bytes: Span<UInt8>) { output.write(bytes, to: &channel) }

    private func planFlush() {
        if isFlushPlanned { return }
        isFlushPlanned = true
        loop.atEndOfBatch(self)
    }

    /// Whether received requests wait until other clients have been served.
    private var awaitsOthers: Bool { requestsLeft <= 0 && hasInput && phase == .idle && output.isEmpty }

    func batchEnded() {
        isFlushPlanned = false
        requestsLeft = Self.requestsInTurn
        flush()
    }

    // MARK: After an exchange

    /// Closes the connection with a reset.
    override func abort() {
        resetOnClose(descriptor)
        close()
    }

    override func exchangeEnded(keepsConnection: Bool) {
        driver = nil
        if !keepsConnection { closesWhenDrained = true }
        phase = .idle
        if !isProcessing { flush() }
    }

    /// Sets the events to wait for and the deadline, according to the connection's state.
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
            // The interest in reading is not removed before bytes arrive, because most clients send nothing until they have their response.
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

    private var hasEndedInTLS: Bool { channel.isSecured && channel.hasPeerEnded }

    /// With TLS, Larder must notice the end of the client's sending side even before it reads the bytes: a connection that ends
    /// waits in the queue `departures`.
    private var interestInRequests: Interest { channel.isSecured ? [.read, .peerClose] : .read }

    /// After the whole request was read, the loop watches only for the end of the client's sending side. The client may have left
    /// then. The end is reported once.
    private var interestInEnd: Interest {
        isHalfClosed || driver?.isReadingRequestBody == true ? Interest() : .peerClose
    }

    private func releaseInput() {
        if input.capacity > 0 { input = [] }
        inputStart = 0
    }
}
