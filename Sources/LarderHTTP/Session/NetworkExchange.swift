import HTTPMessage
import HTTPWire
import UpstreamTransport

/// One exchange with an origin, on its loop. It passes data between the transport and the channel to the waiting task.
/// Confined to the loop.
final class NetworkExchange: OriginExchangeDelegate {
    let link: ResponseChannel
    private unowned let owner: SessionLoop
    private var exchange: OriginExchange?
    /// Content in memory; `sentCount` bytes of it were sent.
    private let content: [UInt8]
    private var sentCount = 0
    private var isSuspended = false
    private var isHeld = false
    private var isBlocked = false
    private var pendingRoom: Wakeup<Bool>?

    /// The transport copies the bytes that it cannot send at once.
    private static let pieceLength = 256 * 1024

    init(_ owner: SessionLoop, link: ResponseChannel, content: [UInt8]) {
        self.owner = owner
        self.link = link
        self.content = content
    }

    func begin(_ request: UpstreamRequest) {
        let exchange = owner.transport(for: request.origin).open(request, delegate: self)
        self.exchange = exchange
        if !content.isEmpty { sendContent() }
    }

    // MARK: From the task

    func cancel() {
        exchange?.cancel()
        settle(.cancelled, trailers: Fields())
    }

    /// The task has consumed the received bytes.
    func goOnReading() {
        isHeld = false
        updateReading()
    }

    func setSuspended(_ suspended: Bool) {
        isSuspended = suspended
        updateReading()
        guard !suspended, !isBlocked, exchange?.isActive == true else { return }
        if !content.isEmpty { sendContent() }
        pendingRoom?.send(true)
        pendingRoom = nil
    }

    private func updateReading() {
        if isHeld || isSuspended { exchange?.pauseReading() } else { exchange?.resumeReading() }
    }

    /// Sends a piece of content; `room` reports when the next piece can be sent.
    func send(_ octets: [UInt8], room: Wakeup<Bool>) {
        guard let exchange, exchange.isActive else {
            room.send(false)
            return
        }
        link.noteSent(octets.count)
        isBlocked = !exchange.sendBody(octets.span)
        if exchange.isActive, isBlocked || isSuspended { pendingRoom = room } else { room.send(exchange.isActive) }
    }

    func endContent() { exchange?.endBody() }

    private func sendContent() {
        guard let exchange else { return }
        let content = content
        while sentCount < content.count, !isSuspended, exchange.isActive {
            let end = min(sentCount + Self.pieceLength, content.count)
            let isWelcome = exchange.sendBody(content.span.extracting(sentCount..<end))
            link.noteSent(end - sentCount)
            sentCount = end
            if !isWelcome {
                isBlocked = true
                return
            }
        }
    }

    // MARK: From the origin

    func exchangeHasConnection(_ exchange: OriginExchange) {
        if let verdict = exchange.verdict { link.connected(by: verdict) }
    }

    func exchange(_ exchange: OriginExchange, didReceiveInformational head: borrowing ResponseHead) {}

    func exchange(_ exchange: OriginExchange, didReceiveHead head: inout ResponseHead, framing: BodyFraming) {
        owner.expectJobs()
        // The next head will probably be as long as this one, so its space is reserved at once instead of line by line.
        var fields = Fields()
        fields.reserve(byteCount: head.fields.bytes.count, lineCount: head.fields.count)
        swap(&fields, &head.fields)
        link.received(
            ResponseChannel.Head(
                status: head.status, fields: fields, framing: framing, metrics: exchange.metrics, chain: exchange.judgedChain,
                recordedChain: link.recordsChain ? exchange.recordedChain : nil,
                time: Timestamp(milliseconds: owner.loop.wallClockMilliseconds)))
    }

    func exchange(_ exchange: OriginExchange, didReceiveBody bytes: Span<UInt8>) {
        owner.expectJobs()
        switch link.received(bytes) {
        case .goOn: break
        case .hold:
            isHeld = true
            updateReading()
        case .tooLarge:
            exchange.cancel()
            settle(.bodyTooLarge, trailers: Fields())
        case .notWanted: cancel()
        }
    }

    func exchange(_ exchange: OriginExchange, didDivertBody count: Int) {}

    func exchange(_ exchange: OriginExchange, didEndWithTrailers trailers: borrowing Fields) {
        settle(nil, trailers: copy trailers, metrics: exchange.metrics)
    }

    func exchange(
        _ exchange: OriginExchange, didSwitchProtocols head: inout ResponseHead, on connection: SwitchedConnection
    ) {
        guard let opening = link.opening else {
            // Only the request for a WebSocket has the field Upgrade, so the origin must not switch protocols.
            connection.close()
            return settle(.transport(.malformedResponse(.unrequestedSwitchingProtocols)), trailers: Fields())
        }
        owner.expectJobs()
        opening.accept(head.fields, connection, on: owner, of: link)
        link.received(
            ResponseChannel.Head(
                status: head.status, fields: head.fields, framing: .none, metrics: exchange.metrics, chain: exchange.judgedChain,
                time: Timestamp(milliseconds: owner.loop.wallClockMilliseconds)))
        settle(nil, trailers: Fields(), metrics: exchange.metrics)
    }

    func exchange(_ exchange: OriginExchange, didFailWith error: TransportError) {
        settle(.transport(error), trailers: Fields(), metrics: exchange.metrics)
    }

    func exchangeIsReadyForBody(_ exchange: OriginExchange) {
        isBlocked = false
        if isSuspended { return }
        owner.expectJobs()
        if !content.isEmpty { sendContent() }
        pendingRoom?.send(true)
        pendingRoom = nil
    }

    private func settle(_ failure: ResponseChannel.Failure?, trailers: Fields, metrics: ExchangeMetrics? = nil) {
        owner.expectJobs()
        pendingRoom?.send(false)
        pendingRoom = nil
        exchange = nil
        link.ended(failure, trailers: trailers, metrics: metrics)
        owner.forget(self)
    }
}
