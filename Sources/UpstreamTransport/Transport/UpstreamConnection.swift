import CLarderLinux
import EventLoop
import Glibc
internal import HTTPCaching
import HTTPMessage
import HTTPWire
import ServerTrust

/// A connection to a server that speaks HTTP/1.1, which also reads the responses. Confined to its loop.
///
/// States and moves: `idle` (in the pool) ⇄ `head` → `body` → `idle`, and from each to `closed`. A connection that was handed
/// to a tunnel (`SwitchedConnection`) is also `closed`. In `idle` anything that the server does ends the connection: bytes sent
/// without a request must not be treated as the response to a later one.
///
/// For a plain socket it uses `recv`, `splice` and `send`; for a TLS connection the channel's counterparts.
final class UpstreamConnection: PooledConnection, RequestCarrier, EventHandler, BatchHandler {
    private enum State { case idle, head, body, closed }

    /// The parsing state; its storage is reused for each response.
    private struct Reading {
        var parser: ResponseParser
        var head = ResponseHead()
        var decoder: BodyDecoder
        /// The beginning of a head that has not arrived completely.
        var partialHead: [UInt8] = []

        init(limits: ParseLimits) {
            parser = ResponseParser(limits: limits)
            decoder = BodyDecoder(framing: .none, limits: limits)
        }
    }

    let version = HTTPVersion.http11
    let remoteAddress: IPAddress?
    /// The mark of the server's trust policy; 0 without TLS.
    let trustMark: UInt64
    /// The server's certificate chain with its other evidence, as it is recorded; `nil` without TLS.
    var recordedChain: RecordedChain? { channel?.recordedChain }
    private(set) var exchange: UpstreamExchange?
    /// Whether an exchange has used the connection, or is using it.
    private(set) var hasCarried = false

    private let transport: Transport
    private let descriptor: Int32
    /// The TLS channel; `nil` for a plain socket.
    private let channel: UpstreamTLSChannel?
    private var registration: Registration?
    private var state = State.idle
    @exclusivity(unchecked) private var reading: Reading
    private var allowsReuse = false
    private var isChunked = false
    private var informationalCount = 0
    private var isPaused = false
    private var wantsToWrite = false
    private var isReadPlanned = false

    /// Takes ownership of the connection in `peer`. The caller has counted the connection in the budgets.
    init(_ transport: Transport, endpoint: Endpoint, peer: ConnectedPeer) throws(SystemError) {
        self.transport = transport
        descriptor = peer.descriptor
        channel = peer.channel
        remoteAddress = peer.address
        trustMark = peer.channel?.trustMark ?? 0
        reading = Reading(limits: transport.configuration.limits)
        super.init(endpoint)
        do {
            registration = try transport.loop.register(descriptor, [.read, .peerClose], handler: self)
        } catch {
            peer.close()
            state = .closed
            throw error
        }
        transport.didOpen(self)
    }

    deinit { assert(state == .closed, "a connection must be closed by its owner") }

    /// Starts waiting for the response to the exchange's request.
    func begin(_ exchange: UpstreamExchange) {
        precondition(state == .idle, "a connection carries one exchange at a time")
        self.exchange = exchange
        hasCarried = true
        state = .head
        informationalCount = 0
        if channel?.holdsInput == true { planRead() }
    }

    override func start(_ exchange: UpstreamExchange) { exchange.granted(self) }

    override func isWorthKeeping(among limit: Int) -> Bool { endpoint.idleCount < limit }

    override func join(_ pool: ConnectionPool) { pool.insert(self) }

    override func leaveEndpoint() {
        if let index = endpoint.idle.lastIndex(where: { $0 === self }) { endpoint.idle.remove(at: index) }
    }

    /// The verdict on the server; `nil` without TLS.
    var verdict: TrustVerdict? { channel?.verdict }

    /// The verified chain, as in `UpstreamTLSChannel.judgedChain`; empty without TLS.
    var judgedChain: [Certificate] { channel?.judgedChain ?? [] }

    /// Closes the socket. Its exchange, if any, is not notified.
    override func close() {
        guard state != .closed else { return }
        state = .closed
        exchange = nil
        if let registration {
            if let channel {
                transport.loop.deregister(registration)
                channel.close()
            } else {
                transport.loop.close(registration)
            }
        }
        registration = nil
        transport.didClose(self)
    }

    /// Whether the server has neither sent bytes since the last response nor closed the connection. Bytes without a request are reported
    /// only with the next batch of events, and must not be treated as the next response.
    override var isReusable: Bool {
        if let channel { return channel.isReusable(at: Timestamp(milliseconds: transport.loop.wallClockMilliseconds)) }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, larder_msg_peek | larder_msg_dontwait) < 0 && errno == EAGAIN
    }

    /// Why the server closed the connection, if it sent an alert.
    var refusal: TransportError? { channel?.refusal }

    // MARK: Sending

    func send(_ bytes: Span<UInt8>) -> SendOutcome {
        if let channel { return channel.send(bytes) }
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, larder_msg_nosignal | larder_msg_dontwait)
        }
        if count >= 0 { return .bytes(count) }
        return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed
    }

    func setWriting(_ isWriting: Bool) {
        if wantsToWrite == isWriting { return }
        wantsToWrite = isWriting
        updateInterest()
    }

    // MARK: Receiving

    func setPaused(_ paused: Bool) {
        if isPaused == paused { return }
        isPaused = paused
        updateInterest()
        if !paused, channel?.holdsInput == true { planRead() }
    }

    func ready(_ events: ReadyEvents) {
        guard let exchange else {
            // Called when the server closed an idle connection, or sent bytes without a request. TLS records without application data do
            // not end the connection.
            if channel == nil || !isReusable { transport.idleConnectionStirred(self) }
            return
        }
        if events.isWritable {
            exchange.flush()
            guard self.exchange === exchange else { return }
        }
        // The kernel reports hang-ups and failures for any interest, so they are handled even while reading is paused.
        if (events.isReadable && !isPaused) || events.isBroken { receive(for: exchange) }
    }

    private func updateInterest() {
        guard let registration else { return }
        var interest = Interest()
        if !isPaused {
            interest.insert(.read)
            interest.insert(.peerClose)
        }
        if wantsToWrite { interest.insert(.write) }
        transport.loop.modify(registration, interest)
    }

    private func receive(for exchange: UpstreamExchange) {
        if let channel { return read(from: channel, for: exchange) }
        if let diversion = exchange.diversion, state == .body, reading.decoder.plainCount > 0 {
            divert(diversion, for: exchange)
        } else {
            read(for: exchange)
        }
    }

    /// Moves content into the exchange's pipe, which is empty when this is called unless the connection broke.
    private func divert(_ diversion: BodyDiversion, for exchange: UpstreamExchange) {
        // The connection broke while reading was paused; the unread bytes are lost.
        if isPaused { return inputFailed(for: exchange) }
        let wanted = Int(clamping: min(reading.decoder.plainCount, UInt64(diversion.limit)))
        let count = CLarderLinux.splice(
            descriptor, nil, diversion.pipe, nil, wanted, larder_splice_move | larder_splice_nonblock)
        if count > 0 {
            exchange.didReceive(count)
            reading.decoder.skip(count)
            exchange.didDivertBody(count)
            guard self.exchange === exchange else { return }
            if reading.decoder.hasEnded { finish(exchange, isAllConsumed: !hasInput) }
        } else if count == 0 {
            inputEnded(for: exchange)
        } else if errno != EAGAIN && errno != EINTR {
            inputFailed(for: exchange)
        }
    }

    /// Whether more bytes follow those that were read.
    private var hasInput: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, larder_msg_peek | larder_msg_dontwait) > 0
    }

    /// Copies the kept part of a head to the beginning of the loop's buffer.
    private func takeUpPartialHead() -> Int {
        let kept = reading.partialHead.count
        if kept > 0 {
            let buffer = transport.readBuffer
            reading.partialHead.withUnsafeBytes { buffer.baseAddress?.copyMemory(from: $0.baseAddress!, byteCount: kept) }
        }
        return kept
    }

    /// Reads once for each readiness event, into the loop's buffer, so that no connection delays the others.
    private func read(for exchange: UpstreamExchange) {
        let kept = takeUpPartialHead()
        let buffer = transport.readBuffer
        let count = recv(descriptor, buffer.baseAddress! + kept, Transport.readLength, larder_msg_dontwait)
        if count > 0 {
            exchange.didReceive(count)
            process(UnsafeRawBufferPointer(rebasing: buffer[0..<kept + count]).bytes, for: exchange)
        } else if count == 0 {
            inputEnded(for: exchange)
        } else if errno != EAGAIN && errno != EINTR {
            inputFailed(for: exchange)
        }
    }

    /// Reads once for each readiness event, as from a plain socket.
    private func read(from channel: UpstreamTLSChannel, for exchange: UpstreamExchange) {
        let kept = takeUpPartialHead()
        let buffer = transport.readBuffer
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[kept..<kept + Transport.readLength])
        switch channel.receive(into: part) {
        case .bytes(let count):
            exchange.didReceive(count)
            process(UnsafeRawBufferPointer(rebasing: buffer[..<(kept + count)]).bytes, for: exchange)
            // Reads again if the connection ended with these bytes, because no event will signal that end.
            if self.exchange === exchange, channel.holdsInput, !isPaused { planRead() }
        case .wouldBlock, .needsMore: break
        case .ended: inputEnded(for: exchange)
        case .failed: inputFailed(for: exchange)
        }
    }

    private func planRead() {
        if isReadPlanned { return }
        isReadPlanned = true
        transport.loop.atEndOfBatch(self)
    }

    func batchEnded() {
        isReadPlanned = false
        if let exchange, let channel, channel.holdsInput, !isPaused { read(from: channel, for: exchange) }
    }

    private func process(_ input: RawSpan, for exchange: UpstreamExchange) {
        var offset = 0
        while true {
            switch state {
            case .head:
                let rest = input.extracting(offset..<input.byteCount)
                let length: Int?
                do throws(ResponseParseError) { length = try reading.parser.parse(rest, into: &reading.head) } catch {
                    return exchange.fail(.malformedResponse(error))
                }
                guard let length else { return keep(rest) }
                offset += length
                dropPartialHead()
                if reading.head.status == .switchingProtocols, exchange.mayBeSwitched {
                    return switchProtocols(behind: input.extracting(offset...), for: exchange)
                }
                guard receivedHead(for: exchange) else { return }
            case .body:
                let step: BodyStep
                do throws(BodyDecodeError) { step = try reading.decoder.next(input, from: offset) } catch {
                    return exchange.fail(.malformedBody(error))
                }
                switch step {
                case .data(let range):
                    offset = range.upperBound
                    exchange.didReceiveBody(Span<UInt8>(_bytes: input.extracting(range)))
                    guard self.exchange === exchange else { return }
                case .needMore:
                    return
                case .end(let consumed):
                    return finish(exchange, isAllConsumed: consumed == input.byteCount)
                }
            case .idle, .closed:
                return
            }
        }
    }

    /// Hands the socket to a tunnel, with the bytes that were read after the 101.
    private func switchProtocols(behind rest: RawSpan, for exchange: UpstreamExchange) {
        guard let registration else { return }
        var head = ResponseHead()
        swap(&head, &reading.head)
        self.exchange = nil
        state = .closed
        transport.loop.deregister(registration)
        self.registration = nil
        let switched = SwitchedConnection(
            transport, descriptor: descriptor, channel: channel, received: rest.withUnsafeBytes { Array($0) })
        transport.didClose(self)
        exchange.didSwitchProtocols(&head, on: switched)
    }

    /// - Returns: whether to continue with the bytes after the head.
    private func receivedHead(for exchange: UpstreamExchange) -> Bool {
        // The head is moved out of the object while it is used, because a head that is stored in an object is copied for each call.
        var head = ResponseHead()
        swap(&head, &reading.head)
        defer { swap(&head, &reading.head) }
        let framing: BodyFraming
        do throws(ResponseParseError) {
            framing = try BodyFraming.ofResponse(head, to: exchange.method)
            if head.status.isInformational { try countInformational() }
        } catch {
            exchange.fail(.malformedResponse(error))
            return false
        }
        if head.status.isInformational {
            exchange.didReceiveInformational(head)
            return self.exchange === exchange
        }
        allowsReuse = framing != .untilClose && ConnectionOptions(of: head.fields).permitsReuse(afterResponse: head.version)
        isChunked = framing == .chunked
        reading.decoder.reset(to: framing)
        state = .body
        exchange.didReceiveHead(&head, framing: framing)
        return self.exchange === exchange
    }

    private func countInformational() throws(ResponseParseError) {
        informationalCount += 1
        if informationalCount > transport.configuration.limits.informationalResponseCount { throw .tooManyInformationalResponses }
    }

    private func dropPartialHead() {
        if reading.partialHead.isEmpty { return }
        // The buffer is kept for the next head, unless the head in it was larger than usual.
        let keepsStorage = reading.partialHead.capacity <= 4096
        reading.partialHead.removeAll(keepingCapacity: keepsStorage)
    }

    private func keep(_ rest: RawSpan) {
        reading.partialHead.removeAll(keepingCapacity: true)
        reading.partialHead.append(Span<UInt8>(_bytes: rest))
    }

    /// Called when the response is complete. Bytes after it, or an incompletely sent request, prevent the connection's reuse.
    private func finish(_ exchange: UpstreamExchange, isAllConsumed: Bool) {
        let trailers = isChunked ? reading.decoder.trailers : Fields()
        self.exchange = nil
        let isReusable = allowsReuse && isAllConsumed && exchange.isRequestSent && channel?.holdsInput != true
        if isPaused || wantsToWrite {
            isPaused = false
            wantsToWrite = false
            updateInterest()
        }
        state = .idle
        exchange.detach()
        if isReusable { transport.becameIdle(self) } else { close() }
        exchange.end(trailers)
    }

    private func inputEnded(for exchange: UpstreamExchange) {
        guard state == .body else { return inputFailed(for: exchange) }
        do throws(BodyDecodeError) {
            try reading.decoder.inputEnded()
            allowsReuse = false
            finish(exchange, isAllConsumed: true)
        } catch {
            exchange.fail(error == .incomplete ? .incompleteBody : .malformedBody(error))
        }
    }

    private func inputFailed(for exchange: UpstreamExchange) {
        if state == .body { return exchange.fail(.incompleteBody) }
        if reading.partialHead.isEmpty, informationalCount == 0 { return exchange.closedBeforeResponse() }
        exchange.fail(.closedInHead)
    }
}
