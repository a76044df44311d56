import EventLoop
internal import HTTP2Wire
internal import HTTPCaching
import HTTPMessage
import HTTPWire
import ServerTrust

/// A stream of a connection to a server that speaks HTTP/2; it carries one exchange (RFC 9113 §8.1). Confined to its loop.
///
/// The request is sent in frames as the exchange writes it. The parts of the response go to the exchange as they arrive. While the exchange
/// reads nothing, the stream keeps the received content, which is at most one flow-control window.
///
/// A request that asks for WebSocket is sent as an extended CONNECT (RFC 8441). If the server accepts it, a relay takes the exchange's place.
///
/// States and moves: `waiting` (until the exchange writes its head) → `open` → `closed`. A stream that the session does not accept stays
/// `waiting` until the end of the batch, when the exchange tries again or fails.
final class HTTP2OriginStream: RequestCarrier {
    private enum State { case waiting, open(HTTP2StreamID), closed }

    let version = HTTPVersion.http2
    let hasCarried: Bool
    private let connection: HTTP2OriginConnection
    private var exchange: UpstreamExchange?
    private var state = State.waiting
    @exclusivity(unchecked) private var request: WrittenRequest?
    /// How many of the next bytes that the exchange writes are content.
    private var contentCount = 0
    private var hasRequestEnded = false
    private var informationalCount = 0
    private var hasHead = false

    /// Whether the session did not accept the request's head.
    private var isRefused = false
    private var isPaused = false
    /// Content that the exchange has not taken.
    @exclusivity(unchecked) private var held: [UInt8] = []
    /// The trailers of a response that has ended while `held` was not empty.
    private var heldEnd: Fields?
    private var trailers = Fields()
    /// The value of `Sec-WebSocket-Accept` for the client's key. In HTTP/2 the server does not send it (RFC 8441 §5).
    private var acceptValue: [UInt8] = []
    /// Relays the bytes after a switch of protocols.
    private var relay: HTTP2SwitchedStream?

    init(on connection: HTTP2OriginConnection) {
        self.connection = connection
        hasCarried = connection.hasCarried
    }

    /// The stream's identifier; `nil` before the request's head is written, and after the stream has ended.
    var number: HTTP2StreamID? { if case .open(let id) = state { id } else { nil } }
    var remoteAddress: IPAddress? { connection.remoteAddress }
    var trustMark: UInt64 { connection.channel?.trustMark ?? 0 }
    var recordedChain: RecordedChain? { connection.channel?.recordedChain }
    var verdict: TrustVerdict? { connection.channel?.verdict }
    var judgedChain: [Certificate] { connection.channel?.judgedChain ?? [] }
    var refusal: TransportError? { connection.channel?.refusal }

    // MARK: The request

    func begin(_ exchange: UpstreamExchange) {
        self.exchange = exchange
        request = WrittenRequest(framing: exchange.requestFraming)
    }

    func setWriting(_ isWriting: Bool) {}

    func send(_ bytes: Span<UInt8>) -> SendOutcome {
        let input = bytes.bytes
        var offset = 0
        if case .waiting = state {
            guard let length = submitHead(in: input) else { return refuse() }
            offset = length
        }
        guard case .open(let id) = state else { return .wouldBlock }
        while offset < input.byteCount {
            if contentCount == 0 {
                guard let step = request?.next(input, from: offset) else { return refuse() }
                switch step {
                case .content(let range):
                    offset = range.lowerBound
                    contentCount = range.count
                case .needsMore: return accepted(input.byteCount)
                case .ended:
                    endRequest(id)
                    return accepted(input.byteCount)
                }
            }
            let piece = input.extracting(offset..<min(offset + contentCount, input.byteCount))
            let isLast = request?.hasEnded == true && piece.byteCount == contentCount
            // If the session does not accept the content, the stream was reset, which an event will report.
            guard let count = piece.withUnsafeBytes({ try? connection.session.submitData(id, $0, end: isLast) }) else {
                return accepted(offset)
            }
            offset += count
            contentCount -= count
            if count < piece.byteCount { return accepted(offset) }
            if isLast { hasRequestEnded = true }
        }
        return accepted(offset)
    }

    /// Reports the refusal at the end of the batch, because an exchange must not be called back while it calls its stream.
    private func refuse() -> SendOutcome {
        isRefused = true
        connection.deliverSoon(self)
        return .wouldBlock
    }

    private func accepted(_ count: Int) -> SendOutcome {
        connection.flushSoon()
        return count == 0 ? .wouldBlock : .bytes(count)
    }

    private func submitHead(in input: RawSpan) -> Int? {
        guard !isRefused, let exchange,
            let length = request?.readHead(input, to: connection.server, into: &connection.requestHead)
        else {
            return nil
        }
        if exchange.request.isForSwitch { return submitSwitch() ? length : nil }
        let endStream = request?.hasEnded == true
        if exchange.acceptsTrailers { connection.requestHead.fields.append(name: "te", value: "trailers") }
        guard let id = try? connection.session.submitRequest(connection.requestHead, endStream: endStream) else { return nil }
        hasRequestEnded = endStream
        state = .open(id)
        connection.began(self, id)
        return length
    }

    /// Sends the request for WebSocket in the form of HTTP/2 (RFC 8441 §5).
    private func submitSwitch() -> Bool {
        let fields = connection.requestHead.fields
        if let key = fields.value(ofAllLinesNamed: Array("sec-websocket-key".utf8)) {
            acceptValue = WebSocketHandshake.accept(key.span)
        }
        connection.requestHead.fields.remove { fields, line in fields.name(of: line).equalsIgnoringCase("sec-websocket-key") }
        connection.requestHead.method = .connect
        connection.requestHead.methodName = Extent(offset: 0, count: 0)
        let name = Array("websocket".utf8)
        guard
            let id = try? connection.session.submitRequest(
                connection.requestHead, extendedConnect: name.span, endStream: false)
        else { return false }
        state = .open(id)
        connection.began(self, id)
        return true
    }

    private func endRequest(_ id: HTTP2StreamID) {
        if hasRequestEnded { return }
        hasRequestEnded = true
        // If the session does not accept the trailers, the stream was reset, which an event will report.
        try? connection.session.submitTrailers(id, request?.trailers ?? Fields())
    }

    /// Called when the session accepts more content.
    func windowOpened() {
        if let relay { return relay.windowOpened() }
        exchange?.flush()
    }

    // MARK: The response

    func receive(informational head: ResponseHead) {
        guard let exchange else { return }
        informationalCount += 1
        guard informationalCount <= connection.parseLimits.informationalResponseCount else {
            return exchange.fail(.malformedResponse(.tooManyInformationalResponses))
        }
        exchange.didReceive(head.fields.bytes.count + 1)
        exchange.didReceiveInformational(head)
    }

    func receive(_ head: consuming ResponseHead, endStream: Bool) {
        guard let exchange else { return }
        if exchange.request.isForSwitch, head.status.isSuccessful, !endStream { return switchProtocols(head, for: exchange) }
        let framing: BodyFraming
        do throws(ResponseParseError) { framing = try Self.framing(of: head, to: exchange.method, endStream: endStream) } catch {
            return exchange.fail(.malformedResponse(error))
        }
        hasHead = true
        exchange.didReceive(head.fields.bytes.count + 1)
        exchange.didReceiveHead(&head, framing: framing)
        connection.session.recycle(head.fields)
        if endStream { receiveEnd() }
    }

    /// Hands one of a pair of sockets to a tunnel. The relay passes bytes between the other socket and the stream.
    private func switchProtocols(_ received: borrowing ResponseHead, for exchange: UpstreamExchange) {
        guard case .open(let id) = state else { return }
        let relay: HTTP2SwitchedStream
        let descriptor: Int32
        do throws(SystemError) {
            (relay, descriptor) = try HTTP2SwitchedStream.start(id, of: self, on: connection)
        } catch {
            return exchange.fail(.outOfResources(code: error.code))
        }
        self.relay = relay
        self.exchange = nil
        let fields = received.fields
        let accept = acceptValue
        var head = ResponseHead()
        head.version = .http11
        head.status = .switchingProtocols
        for line in fields.lines where !fields.name(of: line).equalsIgnoringCase("sec-websocket-accept") {
            head.fields.append(name: fields.name(of: line), value: fields.value(of: line))
        }
        head.fields.append("connection", "upgrade")
        head.fields.append("upgrade", "websocket")
        head.fields.append("sec-websocket-accept", accept.span)
        exchange.didReceive(fields.bytes.count + 1)
        exchange.didSwitchProtocols(&head, on: SwitchedConnection(descriptor: descriptor, relayedBy: relay))
    }

    /// Called when the relay has ended.
    func relayEnded(_ code: HTTP2ErrorCode?) {
        relay = nil
        leave(code)
    }

    /// The framing of the response for the exchange. A response without a length is handled like a chunked one, because it may have
    /// trailers.
    private static func framing(
        of head: borrowing ResponseHead, to method: Method, endStream: Bool
    ) throws(ResponseParseError) -> BodyFraming {
        let framing = try BodyFraming.ofResponse(copy head, to: method)
        guard framing == .untilClose else { return framing }
        return endStream ? .length(0) : .chunked
    }

    /// The bytes are in a buffer that the next read overwrites.
    func receive(_ content: UnsafeRawBufferPointer) {
        if let relay { return relay.receive(content) }
        guard let exchange else { return consumed(content.count) }
        exchange.didReceive(content.count)
        // The content in `held` must be delivered first, even if the exchange reads again by now.
        if isPaused || !held.isEmpty {
            held.append(contentsOf: content)
        } else {
            consumed(content.count)
            if !content.isEmpty { exchange.didReceiveBody(Span<UInt8>(_bytes: content.bytes)) }
        }
    }

    func consumed(_ count: Int) {
        if case .open(let id) = state { connection.session.consumed(id, count) }
        connection.flushSoon()
    }

    func receive(trailers: consuming Fields) { self.trailers = trailers }

    func receiveEnd() {
        if let relay { return relay.receiveEnd() }
        guard exchange != nil else { return }
        if held.isEmpty { finish(trailers) } else { heldEnd = trailers }
    }

    func setPaused(_ paused: Bool) {
        isPaused = paused
        // The content is delivered at the end of the batch, because an exchange must not be called back while it calls its stream.
        if !paused, !held.isEmpty { connection.deliverSoon(self) }
    }

    /// Delivers the content in `held` to the exchange, in pieces of the size of a read.
    func deliverHeld() {
        if isRefused { return wasRefused() }
        guard let exchange, !held.isEmpty else { return }
        var content: [UInt8] = []
        swap(&content, &held)
        var offset = 0
        while offset < content.count, !isPaused, self.exchange === exchange {
            let end = min(offset + Transport.readLength, content.count)
            consumed(end - offset)
            exchange.didReceiveBody(content.span.extracting(offset..<end))
            offset = end
        }
        guard self.exchange === exchange else { return }
        if offset < content.count {
            held = Array(content[offset...])
        } else if let heldEnd {
            self.heldEnd = nil
            finish(heldEnd)
        }
    }

    /// Delivers the rest of a complete response even if the exchange has paused reading, because the connection ends.
    private func deliverEnd(_ trailers: Fields) {
        guard let exchange else { return }
        var content: [UInt8] = []
        swap(&content, &held)
        heldEnd = nil
        exchange.didReceiveBody(content.span)
        if self.exchange === exchange { finish(trailers) }
    }

    /// Called when the response is complete.
    private func finish(_ trailers: Fields) {
        guard let exchange else { return }
        let isReset = !hasRequestEnded || !exchange.isRequestSent
        self.exchange = nil
        exchange.detach()
        leave(isReset ? .cancel : nil)
        exchange.end(trailers)
    }

    // MARK: End of the stream

    func close() {
        exchange = nil
        leave(.cancel)
    }

    /// - Parameter code: the reason to reset the stream; `nil` if both sides have ended.
    private func leave(_ code: HTTP2ErrorCode?) {
        let id: HTTP2StreamID? = if case .open(let id) = state { id } else { nil }
        if case .closed = state { return }
        state = .closed
        held = []
        heldEnd = nil
        if let id, let code { connection.session.reset(id, code) }
        connection.ended(self, id)
    }

    /// Called when the stream was reset.
    func wasReset(_ code: HTTP2ErrorCode) {
        if let relay { return relay.cut() }
        guard let exchange else { return leave(nil) }
        // The response is complete. RFC 9113 §8.1: the rest of the request is not needed.
        if heldEnd != nil { return }
        leaveWithoutReset()
        switch code {
        case _ where hasHead: exchange.fail(.responseReset(code))
        case .refusedStream: exchange.wasRefused(.streamReset(code))
        case .http11Required:
            if exchange.request.isForSwitch {
                connection.endpoint.requiresHTTP1ForSwitch = true
            } else {
                connection.endpoint.requiresHTTP1 = true
            }
            exchange.wasRefused(.streamReset(code))
        default: exchange.fail(.streamReset(code))
        }
    }

    /// Called when the session has not accepted the request. Another connection may carry it.
    private func wasRefused() {
        guard let exchange else { return }
        leaveWithoutReset()
        exchange.wasRefused(.streamReset(.refusedStream))
    }

    func receivedTooLargeHead() { exchange?.fail(.malformedResponse(.headTooLarge)) }

    /// Called when the connection has ended.
    func lost() {
        if case .waiting = state { return wasRefused() }
        if let relay { return relay.cut() }
        guard let exchange else { return leave(nil) }
        if let heldEnd { return deliverEnd(heldEnd) }
        leaveWithoutReset()
        if hasHead { return exchange.fail(.incompleteBody) }
        if informationalCount > 0 { return exchange.fail(.closedInHead) }
        exchange.closedBeforeResponse()
    }

    /// Leaves the connection without a reset. The exchange still refers to this stream, but later calls have no effect.
    private func leaveWithoutReset() {
        exchange = nil
        leave(nil)
    }
}
