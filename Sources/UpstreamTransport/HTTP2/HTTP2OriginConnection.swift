import CLarderLinux
import EventLoop
import Glibc
internal import HTTP2Wire
import HTTPMessage
import HTTPWire
import TLSChannel

/// A connection to a server that speaks HTTP/2, shared by the exchanges of its endpoint (RFC 9113). Confined to its loop.
///
/// States and moves: open ──GOAWAY──▶ closing, when no stream may begin ──last stream ended──▶ closed.
///
/// In the budgets, the connection takes one place for each of its streams, and one place while it has no stream.
final class HTTP2OriginConnection: PooledConnection, EventHandler, TimerHandler, BatchHandler {
    private enum State { case open, closing, closed }

    let session: HTTP2Session
    let channel: UpstreamTLSChannel?
    let remoteAddress: IPAddress?
    /// The server to which every request on this connection is sent.
    let server: TunnelAuthority
    /// Whether an exchange has used the connection, or is using it.
    private(set) var hasCarried = false
    /// Storage for the head that is being sent.
    @exclusivity(unchecked) var requestHead = RequestHead()

    private let transport: Transport
    private let loop: EventLoop
    private let descriptor: Int32
    private var registration: Registration?
    private var timer: TimerID?
    private var isTimerSet = false
    private var state = State.open
    @exclusivity(unchecked) private var streams: [HTTP2StreamID: HTTP2OriginStream] = [:]
    /// Streams whose exchange has not written the request's head yet.
    private var waiting: [HTTP2OriginStream] = []
    private var streamCount: Int { streams.count + waiting.count }
    /// Streams with content that their exchanges can read now.
    private var deliverable: [HTTP2OriginStream] = []
    @exclusivity(unchecked) private var output = OutputBuffer()
    private var isBatchPlanned = false
    private var isReadDue = false
    private var isFlushing = false
    private var isBlocked = false
    /// Whether the server's first SETTINGS have arrived, which say how many requests it accepts at once.
    private var hasSettings = false
    /// When the last bytes from the server were received.
    private var receivedAt: MonotonicTime
    /// When the PING that has no reply yet was sent; `nil` if there is none.
    private var pingedAt: MonotonicTime?

    /// If requests are open and the server has sent nothing for this time, in milliseconds, Larder sends it a PING.
    static let quietMilliseconds = 10_000
    /// If the server sends nothing for this time after the PING, in milliseconds, the connection is lost.
    static let pingMilliseconds = 10_000
    /// The maximum number of bytes of frames that are made before they are sent.
    private static let outputLimit = 64 * 1024

    /// Takes ownership of the connection in `peer`. The caller has counted the connection in the budgets.
    init(_ transport: Transport, endpoint: Endpoint, peer: ConnectedPeer) throws(SystemError) {
        self.transport = transport
        loop = transport.loop
        descriptor = peer.descriptor
        channel = peer.channel
        remoteAddress = peer.address
        receivedAt = transport.loop.now
        server = TunnelAuthority(endpoint.key.origin)
        guard let session = HTTP2Session(role: .client, limits: transport.configuration.http2Limits) else {
            peer.close()
            throw SystemError("nghttp2_session_client_new2", code: ENOMEM)
        }
        self.session = session
        super.init(endpoint)
        do {
            registration = try transport.loop.register(descriptor, [.read, .peerClose], handler: self)
        } catch {
            peer.close()
            state = .closed
            throw error
        }
        timer = loop.makeTimer(self)
        endpoint.share(self)
        transport.budgets.share(endpoint.key)
        endpoint.openingBegan()
        transport.didOpen(self)
        if channel?.holdsInput == true { readSoon() }
        flushSoon()
    }

    deinit { assert(state == .closed, "a connection must be closed by its owner") }

    /// The server's address and port, for connections that have switched protocols.
    var peer: (address: IPAddress, port: UInt16)? {
        remoteAddress.map { ($0, endpoint.key.connectedPort) }
    }
    var eventLoop: EventLoop { loop }

    var parseLimits: ParseLimits { transport.configuration.limits }

    // MARK: Streams

    /// Whether one more request can begin now. If the server is no longer trusted, the connection leaves its endpoint.
    var hasSpace: Bool {
        guard case .open = state else { return false }
        let limit = hasSettings ? min(session.limits.concurrentStreams, session.peerConcurrentStreams) : 1
        if streamCount >= limit { return false }
        let now = Timestamp(milliseconds: loop.wallClockMilliseconds)
        if let end = channel?.reliableUntil, now.seconds > end.seconds {
            stopSharing()
            return false
        }
        return true
    }

    /// Whether the server has announced extended CONNECT (RFC 8441 §3).
    var permitsSwitch: Bool { session.peerPermitsExtendedConnect }

    /// Whether the connection has no streams. If it has none, its next stream uses the place in the budgets that the idle connection
    /// already has.
    var isIdle: Bool { streamCount == 0 }

    override var isReusable: Bool { hasSpace }

    override func start(_ exchange: UpstreamExchange) { exchange.granted(self) }

    /// The pool keeps an idle connection only if no other connection of the endpoint has space for a request: one connection is enough for
    /// an idle server.
    override func isWorthKeeping(among limit: Int) -> Bool { limit > 0 && !endpoint.hasSpace(besides: self) }

    override func join(_ pool: ConnectionPool) { pool.insert(self) }

    override func leaveEndpoint() { endpoint.unshare(self) }

    /// Makes a stream for an exchange. The exchange begins it by writing its head.
    func makeStream() -> HTTP2OriginStream {
        transport.pool.unlist(self)
        if isIdle, loop.now.milliseconds(since: receivedAt) >= Int64(Self.quietMilliseconds) { ping() }
        let stream = HTTP2OriginStream(on: self)
        waiting.append(stream)
        hasCarried = true
        return stream
    }

    func began(_ stream: HTTP2OriginStream, _ id: HTTP2StreamID) {
        waiting.removeAll { $0 === stream }
        streams[id] = stream
        setTimer()
    }

    /// - Parameter id: `nil` if the stream's head was not written.
    func ended(_ stream: HTTP2OriginStream, _ id: HTTP2StreamID?) {
        if let id { streams[id] = nil } else { waiting.removeAll { $0 === stream } }
        flushSoon()
        if streamCount > 0 {
            transport.budgets.release(endpoint.key)
        } else if case .open = state {
            session.trim()
            transport.becameIdle(self)
        } else {
            close()
        }
    }

    /// Lets the exchanges that wait for this connection continue: each uses this connection, or opens another.
    private func endOpening() {
        if hasSettings { return }
        hasSettings = true
        endpoint.openingEnded()
    }

    /// Begins no further request on this connection.
    private func stopSharing() {
        guard case .open = state else { return }
        state = .closing
        endpoint.unshare(self)
        endOpening()
        if isIdle {
            transport.pool.unlist(self)
            close()
        }
    }

    /// Closes the socket. Called when no exchange has a stream of this connection.
    override func close() {
        if case .closed = state { return }
        state = .closed
        endpoint.unshare(self)
        endOpening()
        transport.pool.unlist(self)
        deliverable = []
        if let timer { loop.removeTimer(timer) }
        timer = nil
        session.goAway()
        sendAll()
        if let registration {
            if let channel {
                loop.deregister(registration)
                channel.close()
            } else {
                loop.close(registration)
            }
        }
        registration = nil
        transport.didClose(self)
    }

    /// Called when the connection has failed, or when the server has ended it.
    private func lose() {
        if case .closed = state { return }
        state = .closing
        endpoint.unshare(self)
        endOpening()
        // When the last stream has ended, the connection is closed.
        for stream in streams.values.sorted(by: { ($0.number ?? 0) < ($1.number ?? 0) }) + waiting { stream.lost() }
        if isIdle { close() }
    }

    // MARK: Events

    func ready(_ events: ReadyEvents) {
        if events.isReadable || events.isBroken { read() }
        if case .closed = state { return }
        if events.isWritable { flush() }
    }

    func batchEnded() {
        isBatchPlanned = false
        if isReadDue {
            isReadDue = false
            read()
        }
        if !deliverable.isEmpty {
            let streams = deliverable
            deliverable = []
            for stream in streams { stream.deliverHeld() }
        }
        flush()
    }

    private func planBatch() {
        if isBatchPlanned { return }
        if case .closed = state { return }
        isBatchPlanned = true
        loop.atEndOfBatch(self)
    }

    /// Plans to send the waiting frames at the end of the batch.
    func flushSoon() { planBatch() }

    private func readSoon() {
        isReadDue = true
        planBatch()
    }

    func deliverSoon(_ stream: HTTP2OriginStream) {
        deliverable.append(stream)
        planBatch()
    }

    // MARK: Receiving

    /// Reads once for each readiness event, so that no connection delays the others.
    private func read() {
        if case .closed = state { return }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: transport.readBuffer[..<Transport.readLength])
        guard let channel else {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, larder_msg_dontwait)
            if count > 0 { return receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            if count == 0 || errno != EAGAIN && errno != EINTR { lose() }
            return
        }
        switch channel.receive(into: buffer) {
        case .bytes(let count):
            receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            if channel.holdsInput { readSoon() }
        case .wouldBlock, .needsMore: break
        case .ended, .failed: lose()
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        receivedAt = loop.now
        pingedAt = nil
        session.receive(bytes, at: .nanoseconds(Int64(loop.now.nanoseconds)))
        handleEvents(of: bytes)
        flushSoon()
    }

    /// - Parameter bytes: the bytes given to the last call of `receive`.
    private func handleEvents(of bytes: UnsafeRawBufferPointer) {
        while let event = session.nextEvent() {
            if case .closed = state { continue }
            switch event {
            case .informationalHead(let id, let head): streams[id]?.receive(informational: head)
            case .responseHead(let id, let head, let endStream): streams[id]?.receive(head, endStream: endStream)
            case .headTooLarge(let id, _): streams[id]?.receivedTooLargeHead()
            case .data(let id, let range):
                if let stream = streams[id] {
                    stream.receive(UnsafeRawBufferPointer(rebasing: bytes[range]))
                } else {
                    session.consumed(id, range.count)
                }
            case .trailers(let id, let trailers): streams[id]?.receive(trailers: trailers)
            case .end(let id): streams[id]?.receiveEnd()
            case .reset(let id, let code, _): streams[id]?.wasReset(code)
            case .windowOpened(let id): streams[id]?.windowOpened()
            // The session has reset the streams that the server does not process.
            case .goAway: stopSharing()
            case .limitExceeded, .connectionFailed:
                sendAll()
                lose()
            case .settings: endOpening()
            case .settingsAcknowledged, .pingAcknowledged, .priority: break
            case .requestHead, .unacceptableTarget: break
            }
        }
    }

    // MARK: Sending

    private func flush() {
        if case .closed = state { return }
        if isFlushing { return }
        isFlushing = true
        let isSent = sendAll()
        isFlushing = false
        if case .closed = state { return }
        guard isSent else { return lose() }
        setBlocked(!output.isEmpty)
        if session.isFinished, output.isEmpty { lose() }
    }

    /// - Returns: `false` if the connection has failed.
    @discardableResult
    private func sendAll() -> Bool {
        while true {
            if output.isEmpty {
                output.append { session.outgoing(into: &$0, limit: Self.outputLimit) }
                if case .closed = state {} else { handleEvents(of: UnsafeRawBufferPointer(start: nil, count: 0)) }
                if output.isEmpty { return true }
            }
            switch output.send({ sendRaw($0) }) {
            case .bytes(let count): output.consume(count)
            case .wouldBlock: return true
            case .failed: return false
            }
        }
    }

    /// Makes frames of the content that the streams have submitted. Called before a stream is reset, because the reset discards its content
    /// that is not in a frame yet.
    func makeFrames() { output.append { session.outgoing(into: &$0, limit: Self.outputLimit) } }

    private func sendRaw(_ bytes: Span<UInt8>) -> SendOutcome {
        if let channel { return channel.send(bytes) }
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, larder_msg_nosignal | larder_msg_dontwait)
        }
        if count >= 0 { return .bytes(count) }
        return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed
    }

    private func setBlocked(_ blocked: Bool) {
        guard blocked != isBlocked, let registration else { return }
        isBlocked = blocked
        loop.modify(registration, blocked ? [.read, .peerClose, .write] : [.read, .peerClose])
    }

    // MARK: Detection of lost connections

    private func ping() {
        if pingedAt != nil { return }
        pingedAt = loop.now
        session.ping(0)
        flushSoon()
    }

    private func setTimer() {
        guard let timer, !isTimerSet else { return }
        isTimerSet = true
        let since = pingedAt.map { $0.advanced(milliseconds: Self.pingMilliseconds) }
        loop.setTimer(timer, at: since ?? receivedAt.advanced(milliseconds: Self.quietMilliseconds))
    }

    func deadlinePassed(_ timer: TimerID) {
        isTimerSet = false
        if isIdle { return }
        let now = loop.now
        if let pingedAt {
            if pingedAt.advanced(milliseconds: Self.pingMilliseconds) <= now { return lose() }
        } else if receivedAt.advanced(milliseconds: Self.quietMilliseconds) <= now {
            ping()
        }
        setTimer()
    }
}

extension TunnelAuthority {
    /// The server of a connection.
    fileprivate init(_ origin: Origin) {
        let host = Array(origin.host.utf8)
        let kind: RequestTarget.HostKind =
            switch IPAddress(host.span) {
            case nil: .name
            case .some: host.contains(ASCII.colon) ? .ipv6 : .ipv4
            }
        self.init(scheme: origin.scheme == .https ? .https : .http, host: host, kind: kind, port: origin.port)
    }
}
