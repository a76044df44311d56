import EventLoop
import HTTP2Wire
import HTTPMessage
import HTTPWire
import ProxyCore

/// A stream of a client's HTTP/2 connection that carries one exchange (RFC 9113 §8.1). The driver gets the request's content in the framing
/// of HTTP/1.1, and the stream sends the response that the driver writes in frames.
///
/// Confined to its loop. Its connection keeps it alive until the stream is closed.
final class HTTP2Stream: ExchangeClient, HTTP2StreamHandler {
    let id: HTTP2StreamID
    private unowned let connection: HTTP2Connection
    private let session: HTTP2Session
    @exclusivity(unchecked) private var driver: ExchangeDriver?
    @exclusivity(unchecked) private var response = WrittenResponse()
    /// How many of the next bytes of the output are content.
    private var contentCount = 0
    /// Content of the request that the driver has not taken, from `inputStart` on.
    @exclusivity(unchecked) private var input: [UInt8] = []
    private var inputStart = 0
    /// The number of received bytes for which the client's flow-control window was not opened again yet.
    private var unreleasedCount = 0
    /// Whether the driver gets the content in chunks.
    private var isChunked = false
    private var hasRequestEnded = false
    /// The content length that the client has declared, and the number of bytes of content that have arrived.
    private var declaredLength: UInt64?
    private var receivedCount: UInt64 = 0
    /// Whether the end of the response, or a reset, was passed to the session.
    private var isFinished = false
    private var isFlushing = false
    /// The code of the reset that ends a response that breaks off.
    private var cutCode = HTTP2ErrorCode.internalError
    /// The time since which the stream waits for its client: for content, or for a window that allows more content.
    private(set) var waitsSince: MonotonicTime?

    init(_ id: HTTP2StreamID, on connection: HTTP2Connection) {
        self.id = id
        self.connection = connection
        session = connection.session
        super.init(connection.worker, peer: connection.peer)
        user = connection.user
        certificateNames = connection.certificateNames
        tunnel = connection.tunnel
        closesWhenDrained = connection.isClosing
    }

    override var drainsContent: Bool { false }

    // MARK: The request

    /// - Parameter endStream: whether neither content nor trailers follow.
    func begin(_ head: consuming RequestHead, endStream: Bool) {
        let driver = takeDriver(endStream: endStream)
        swap(&driver.exchange.request, &head)
        session.recycle(head.fields)
        response.method = driver.exchange.request.method
        driver.exchange.request.addMissingHostField()
        if tunnel == nil { worker.context.readOwnTarget(of: &driver.exchange.request) }
        do throws(RequestParseError) {
            start(framing(of: try BodyFraming.ofRequest(driver.exchange.request)), with: driver)
        } catch {
            driver.reject(FaultMapping.fault(error))
        }
        flush()
    }

    /// Refuses a request whose head cannot be used.
    func refuse(_ fault: Fault, endStream: Bool) {
        takeDriver(endStream: endStream).reject(fault)
        flush()
    }

    private func takeDriver(endStream: Bool) -> ExchangeDriver {
        let taken = worker.takeDriver(for: self)
        driver = taken
        hasRequestEnded = endStream
        worker.lend(to: &output.buffer)
        return taken
    }

    /// Content without a declared length is given to the driver in chunks, which trailers can follow.
    private func framing(of declared: BodyFraming) -> BodyFraming {
        if hasRequestEnded { return declared == .length(0) ? declared : .none }
        if case .length(let length) = declared {
            declaredLength = length
            return declared
        }
        isChunked = true
        return .chunked
    }

    private func start(_ framing: BodyFraming, with driver: ExchangeDriver) {
        guard let tunnel else { return driver.start(framing) }
        do throws(MisdirectedRequest) {
            try driver.exchange.request.resolve(in: tunnel)
            driver.start(framing)
        } catch {
            driver.refuse(.misdirectedRequest(detail: StaticToken(error.reason)), framing)
        }
    }

    func receive(_ data: UnsafeRawBufferPointer) {
        unreleasedCount += data.count
        receivedCount += UInt64(data.count)
        // Content that is not needed does not open the client's flow-control window again, so that the client stops sending.
        guard driver != nil, !isFinished else { return connection.flushSoon() }
        if inputStart > 0 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
        if isChunked {
            if data.isEmpty { return }
            ChunkWriter.writeChunkHeader(count: data.count, into: &input)
            input.append(contentsOf: data)
            input.append("\r\n")
        } else {
            input.append(contentsOf: data)
        }
        contentArrived()
    }

    func receive(trailers: consuming Fields) {
        if isChunked, !hasRequestEnded { ChunkWriter.writeLastChunk(trailers: trailers, into: &input) }
        hasRequestEnded = true
    }

    func receiveEnd() {
        if isChunked, !hasRequestEnded { ChunkWriter.writeLastChunk(trailers: Fields(), into: &input) }
        hasRequestEnded = true
        if isFinished { waitsSince = nil }
        contentArrived()
    }

    private func contentArrived() {
        waitsSince = nil
        if let driver, driver.wantsRequestBody { driver.requestBodyArrived() }
        flush()
    }

    override func withInput(_ body: (RawSpan) -> Int) {
        let held = input
        let used = body(held.span.bytes.extracting(inputStart..<held.count))
        // The call of `body` may have ended the exchange.
        if input.isEmpty { return }
        inputStart += used
        release()
    }

    /// Opens the client's flow-control window by the number of bytes that the driver has taken.
    private func release() {
        let held = input.count - inputStart
        if held == 0, !input.isEmpty {
            input.removeAll(keepingCapacity: true)
            inputStart = 0
        }
        let count = unreleasedCount - min(unreleasedCount, held)
        guard count > 0 else { return }
        unreleasedCount -= count
        session.consumed(id, count)
        connection.flushSoon()
    }

    // MARK: The response

    override func flush() {
        if isFlushing { return }
        isFlushing = true
        repeat {
            if !isFinished { send() }
            // `outputDrained` is also called after the last byte, because that call ends the driver's exchange.
        } while output.isEmpty && (driver?.outputDrained() == true || !output.isEmpty)
        isFlushing = false
        settle()
        connection.flushSoon()
    }

    override func flushSoon() { connection.flushSoon(self) }

    /// Moves output into the session, while the session accepts it.
    private func send() {
        var isFaulty = false
        output.take { bytes in
            var offset = 0
            while !isFaulty {
                if contentCount > 0 {
                    if offset == bytes.count { return offset }
                    let piece = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(offset + contentCount, bytes.count)])
                    let isLast = response.hasEnded && piece.count == contentCount
                    guard let count = try? session.submitData(id, piece, end: isLast) else {
                        isFaulty = true
                        break
                    }
                    offset += count
                    contentCount -= count
                    if count < piece.count { return offset }
                    if isLast { ended() }
                    continue
                }
                switch response.next(RawSpan(_unsafeBytes: bytes), from: &offset) {
                case .head(let isAlone): isFaulty = !submitHead(isAlone: isAlone)
                case .content(let range):
                    offset = range.lowerBound
                    contentCount = range.count
                case .needsMore, .ended: return offset
                case nil: isFaulty = true
                }
            }
            return bytes.count
        }
        if isFaulty {
            if !isFinished { reset(.internalError) }
        } else if response.hasEnded, contentCount == 0, !isFinished {
            try? session.submitTrailers(id, response.trailers)
            ended()
        }
    }

    private func submitHead(isAlone: Bool) -> Bool {
        do throws(HTTP2SubmitError) {
            if response.head.status.isInformational {
                try session.submitInformational(id, response.head)
            } else {
                try session.submitResponse(id, response.head, endStream: isAlone)
                if isAlone { ended() }
            }
            return true
        } catch {
            return false
        }
    }

    /// Called when the end of the response was passed to the session.
    private func ended() {
        isFinished = true
        connection.streamFinished(self, resetsRest: false)
    }

    /// Whether the unneeded rest of the request must be refused (RFC 9113 §8.1), because the client's window is too small to send it. Some
    /// clients treat a reset as a failure, so a client whose window suffices for the rest may send it.
    var refusesRest: Bool {
        if hasRequestEnded || !isFinished { return false }
        let space = session.limits.streamWindow - unreleasedCount
        guard let declaredLength else { return space <= 0 }
        return declaredLength > receivedCount + UInt64(max(0, space))
    }

    /// Called when the rest of the response will not come. Sends the content that has arrived, as in HTTP/1.1, and resets the stream.
    private func cutOff() {
        connection.makeFrames()
        reset(cutCode)
    }

    private func reset(_ code: HTTP2ErrorCode) {
        isFinished = true
        session.reset(id, code)
        connection.streamFinished(self, resetsRest: false)
        closed()
    }

    /// Called when the session accepts more content.
    func windowOpened() {
        waitsSince = nil
        flush()
    }

    override func exchangeEnded(keepsConnection: Bool) {
        driver = nil
        input = []
        inputStart = 0
        if !isFlushing { flush() }
    }

    override func noteCut(by fault: Fault) {
        if case .responseReset(let code, _) = fault { cutCode = HTTP2ErrorCode(ofOrigin: HTTP2ErrorCode(rawValue: code)) }
    }

    override func abort() {
        driver = nil
        if !isFinished { send() }
        if !isFinished { cutOff() }
        connection.flushSoon()
    }

    private func settle() {
        if driver == nil, output.isEmpty {
            worker.takeBack(&output.buffer)
            if !isFinished { cutOff() }
        }
        let waits = !output.isEmpty || (driver?.wantsRequestBody == true && input.isEmpty)
        waitsSince = (isFinished ? !hasRequestEnded : waits) ? waitsSince ?? loop.now : nil
    }

    // MARK: End of the stream

    /// Called when the client has let too much time pass.
    func deadlinePassed() {
        if output.isEmpty, let driver, driver.isReadingRequestBody {
            waitsSince = nil
            driver.requestBodyStalled()
            return flush()
        }
        if isFinished {
            session.reset(id, .noError)
            connection.streamFinished(self, resetsRest: false)
            return closed()
        }
        reset(.cancel)
    }

    /// Called when the stream is closed: by a reset, or with its connection.
    func closed() {
        isFinished = true
        waitsSince = nil
        input = []
        inputStart = 0
        let leaving = driver
        driver = nil
        leaving?.clientGone()
        output = OutputQueue()
    }
}

extension HTTP2ErrorCode {
    /// The code for the client of a response whose stream the origin has reset with `code`.
    ///
    /// CANCEL, ENHANCE_YOUR_CALM and INTERNAL_ERROR concern the request, and gRPC has a status for each. All other codes concern
    /// the connection to the origin, or would mislead the client. After REFUSED_STREAM, the client could send the request again,
    /// although the origin has begun to process it. NO_ERROR would not report that the response is incomplete.
    fileprivate init(ofOrigin code: HTTP2ErrorCode) {
        switch code {
        case .cancel, .enhanceYourCalm: self = code
        default: self = .internalError
        }
    }
}
