import CLarderLinux
import EventLoop
import Glibc
import HTTP2Wire
import HTTPMessage
import HTTPWire
import ProxyCore
import TLSChannel

/// A client's HTTP/2 connection: reads frames, gives each request to a stream, and writes the frames of all streams. It begins where an
/// HTTP/1 connection ends: after a TLS handshake that chose `h2` (RFC 7301), or with the preface of HTTP/2 (RFC 9113 §3.4).
///
/// States and moves: open ──GOAWAY──▶ closing, when no stream may begin ──last stream ended──▶ closed. Confined to its loop; its worker
/// keeps it alive.
final class HTTP2Connection: EventHandler, TimerHandler, BatchHandler {
    let worker: LoopWorker
    let loop: EventLoop
    let peer: PeerAddress
    /// The user name, the names in the certificate and the tunnel have the same meaning as in `ExchangeClient`.
    let user: [UInt8]
    let certificateNames: [[UInt8]]
    let tunnel: TunnelAuthority?
    let isCertified: Bool
    let session: HTTP2Session
    private var channel: ByteChannel
    private var output: OutputQueue
    private let registration: Registration
    private var timer: TimerID?
    private var streams: [HTTP2StreamID: any HTTP2StreamHandler] = [:]
    /// Streams whose output waits for the end of the batch.
    private var waiting: [HTTP2StreamID] = []
    /// Streams whose whole response was passed to the session, but is not sent yet.
    private var finished: [(stream: HTTP2StreamID, resetsRest: Bool)] = []
    /// The number of the client's resets that were counted for its address.
    private var countedResets = 0
    private var isReading = false
    private var isFlushing = false
    private var isFlushPlanned = false
    /// Whether no further stream may begin.
    private(set) var isClosing = false
    private var isClosed = false
    private var hasPeerEnded = false
    /// The time since which there are no streams.
    private var idleSince: MonotonicTime?
    /// The time since which the client has read nothing, and the number of bytes written at that time.
    private var blocked: (since: MonotonicTime, writtenCount: UInt64)?

    /// The maximum number of bytes of frames that wait to be written.
    private static let outputLimit = 64 * 1024
    /// The maximum number of bytes written before other clients have their turn.
    private static let writtenInTurn: UInt64 = 256 * 1024

    /// Continues an HTTP/1 connection as HTTP/2.
    /// - Parameter held: bytes already received, from the preface on.
    static func start(replacing connection: ClientConnection, holding held: [UInt8] = []) {
        let limits = connection.worker.settings.http2Limits
        guard let session = HTTP2Session(role: .server, limits: limits, permitsExtendedConnect: true) else {
            return connection.clientGone()
        }
        guard let former = connection.handOver(holding: held) else { return }
        let next = HTTP2Connection(connection, former, session)
        next.worker.http2Started(next, from: connection)
        next.begin(former.received)
    }

    private init(_ connection: ClientConnection, _ former: ClientConnection.HandedOver, _ session: HTTP2Session) {
        worker = connection.worker
        loop = connection.loop
        peer = connection.peer
        user = connection.user
        certificateNames = connection.certificateNames
        tunnel = connection.tunnel
        isCertified = connection.isCertified
        isClosing = connection.closesWhenDrained
        self.session = session
        channel = former.channel
        output = former.output
        registration = former.registration
    }

    private func begin(_ received: [UInt8]) {
        loop.setHandler(self, of: registration)
        timer = loop.makeTimer(self)
        if isClosing { session.goAway() }
        if hasManyResets {
            session.fail(exceeding: .clientResets)
            handleEvents(of: UnsafeRawBufferPointer(start: nil, count: 0))
        } else {
            received.withUnsafeBytes(receive)
            readRest()
        }
        flush()
    }

    // MARK: Events

    func ready(_ events: ReadyEvents) {
        if events.contains(.failed) || events.contains(.hungUp) { return close() }
        if events.isReadable { read() }
        if !isClosed { flush() }
    }

    func deadlinePassed(_ timer: TimerID) {
        if streams.isEmpty, output.isEmpty {
            if isClosing { return close() }
            return drain()
        }
        let limit = worker.settings.timeouts.clientBody
        if let blocked, blocked.writtenCount == output.writtenCount, blocked.since.advanced(milliseconds: limit) <= loop.now {
            return close()
        }
        for stream in Array(streams.values) {
            if let since = stream.waitsSince, since.advanced(milliseconds: limit) <= loop.now { stream.deadlinePassed() }
        }
        flush()
    }

    func batchEnded() {
        isFlushPlanned = false
        let flushed = waiting
        waiting.removeAll(keepingCapacity: true)
        for stream in flushed { streams[stream]?.flush() }
        flush()
    }

    /// Plans to write the waiting frames at the end of the batch.
    func flushSoon() {
        if isFlushPlanned || isReading || isClosed { return }
        isFlushPlanned = true
        loop.atEndOfBatch(self)
    }

    /// Plans to move the stream's output into the session at the end of the batch.
    func flushSoon(_ stream: any HTTP2StreamHandler) {
        if isClosed { return }
        waiting.append(stream.id)
        if isFlushPlanned { return }
        isFlushPlanned = true
        loop.atEndOfBatch(self)
    }

    // MARK: Reading

    private func read() {
        let buffer = worker.readBuffer
        switch channel.receive(into: buffer, through: worker.recordBuffers) {
        case .bytes(let count): receive(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
        case .wouldBlock, .needsMore:
            if channel.unsentCount > ClientConnection.answersLimit { close() }
        case .ended, .cut: inputEnded()
        case .failed:
            _ = output.write(to: &channel)
            close()
        }
    }

    /// Reads what the channel received together with the end of a handshake.
    private func readRest() {
        guard !isClosed, channel.isSecured else { return }
        let buffer = worker.readBuffer
        if case .bytes(let count) = channel.receiveRest(into: buffer, through: worker.recordBuffers) {
            receive(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        isReading = true
        session.receive(bytes, at: .nanoseconds(Int64(loop.now.nanoseconds)))
        if session.resetCount != countedResets { countResets() }
        handleEvents(of: bytes)
        isReading = false
    }

    // MARK: Resets of all connections of the client

    private var resetWindow: Int { Int(worker.settings.http2Limits.rateWindow / .milliseconds(1)) }

    private var hasManyResets: Bool {
        worker.shared.clientResets.exceeds(
            worker.settings.resetsPerClient, of: peer.address, window: resetWindow, at: loop.now)
    }

    private func countResets() {
        let count = session.resetCount - countedResets
        countedResets = session.resetCount
        let isTooMany = worker.shared.clientResets.note(
            count, of: peer.address, limit: worker.settings.resetsPerClient, window: resetWindow, at: loop.now)
        if isTooMany { session.fail(exceeding: .clientResets) }
    }

    /// - Parameter bytes: the bytes given to the last call of `receive`.
    private func handleEvents(of bytes: UnsafeRawBufferPointer) {
        while !isClosed, let event = session.nextEvent() {
            switch event {
            case .requestHead(let id, let head, let protocolName, let endStream):
                begin(id, head, extendedConnect: protocolName, endStream: endStream)
            case .unacceptableTarget(let id, let error, let endStream):
                refuse(id, FaultMapping.fault(RequestParseError.target(error)), endStream: endStream)
            case .headTooLarge(let id, let endStream):
                refuse(id, FaultMapping.fault(RequestParseError.headTooLarge), endStream: endStream)
            case .data(let id, let range):
                if let stream = streams[id] {
                    stream.receive(UnsafeRawBufferPointer(rebasing: bytes[range]))
                } else {
                    session.consumed(id, range.count)
                }
            case .trailers(let id, let trailers): streams[id]?.receive(trailers: trailers)
            case .end(let id): streams[id]?.receiveEnd()
            case .reset(let id, _, _): streams.removeValue(forKey: id)?.closed()
            case .windowOpened(let id): streams[id]?.windowOpened()
            case .limitExceeded(let limit): fail(because: "\(limit.reason)")
            case .connectionFailed(let code, let reason): fail(because: "\(code), \(reason)")
            case .goAway, .settings, .settingsAcknowledged, .pingAcknowledged, .priority, .informationalHead, .responseHead: break
            }
        }
    }

    private func begin(_ id: HTTP2StreamID, _ head: consuming RequestHead, extendedConnect: Extent?, endStream: Bool) {
        if head.method == .connect {
            return HTTP2TunnelStream.start(id, for: head, extendedConnect: extendedConnect, on: self)
        }
        let stream = HTTP2Stream(id, on: self)
        streams[id] = stream
        stream.begin(head, endStream: endStream)
    }

    private func refuse(_ id: HTTP2StreamID, _ fault: Fault, endStream: Bool) {
        let stream = HTTP2Stream(id, on: self)
        streams[id] = stream
        stream.refuse(fault, endStream: endStream)
    }

    func add(_ stream: some HTTP2StreamHandler) { streams[stream.id] = stream }

    /// Called when the whole response of a stream was passed to the session.
    /// - Parameter resetsRest: whether the rest of the request is refused once the response is sent (RFC 9113 §8.1).
    func streamFinished(_ stream: some HTTP2StreamHandler, resetsRest: Bool) { finished.append((stream.id, resetsRest)) }

    /// Removes the streams whose last frame is in the output.
    private func removeFinished() {
        finished.removeAll { stream, resetsRest in
            if session.isOpen(stream) {
                guard resetsRest || streams[stream]?.refusesRest == true, session.hasSentEnd(stream) else { return false }
                session.reset(stream, .noError)
            }
            streams.removeValue(forKey: stream)?.closed()
            return true
        }
    }

    /// Called when the client has violated the protocol: GOAWAY is the last frame.
    private func fail(because reason: String) {
        worker.warnOfHTTP2(reason, with: peer)
        isClosing = true
        let leaving = streams
        streams = [:]
        finished = []
        for stream in leaving.values { stream.closed() }
    }

    private func inputEnded() {
        hasPeerEnded = true
        // The client may still read the responses to its requests.
        if streams.isEmpty { close() } else { settle() }
    }

    // MARK: Writing

    func flush() {
        if isFlushing || isClosed { return }
        isFlushing = true
        defer { isFlushing = false }
        let limit = output.writtenCount &+ Self.writtenInTurn
        if output.buffer.capacity == 0 { worker.lend(to: &output.buffer) }
        if channel.isSecured { channel.withRecordStorage { if $0.capacity == 0 { worker.lend(to: &$0) } } }
        while !isClosed {
            fill()
            if !finished.isEmpty {
                removeFinished()
                fill()
            }
            let hadFrames = !output.isEmpty
            switch output.write(to: &channel, upTo: limit) {
            case .failed: return close()
            case .blocked:
                settle()
                return
            case .yielded:
                settle()
                return flushSoon()
            case .drained: break
            }
            if !hadFrames || !session.hasOutput { break }
        }
        settle()
    }

    /// Makes frames of the content that the streams have submitted. Called before a stream is reset, because the reset discards its content
    /// that is not in a frame yet.
    func makeFrames() {
        if isClosed || output.pendingCount >= Self.outputLimit { return }
        if output.buffer.capacity == 0 { worker.lend(to: &output.buffer) }
        session.outgoing(into: &output.buffer, limit: Self.outputLimit)
    }

    /// Makes frames up to the limit, then lets the streams submit more content.
    private func fill() {
        session.outgoing(into: &output.buffer, limit: Self.outputLimit)
        handleEvents(of: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Sets the events to wait for and the deadline.
    private func settle() {
        if isClosed { return }
        if channel.isSecured, channel.hasPeerEnded { hasPeerEnded = true }
        let timeouts = worker.settings.timeouts
        let isBlocked = !output.isEmpty
        if isBlocked {
            if blocked?.writtenCount != output.writtenCount { blocked = (loop.now, output.writtenCount) }
        } else {
            blocked = nil
            worker.takeBack(&output.buffer)
            if channel.isSecured { channel.withRecordStorage { if $0.capacity > 0 { worker.takeBack(&$0) } } }
            if streams.isEmpty, isClosing || hasPeerEnded || session.isFinished { return close() }
        }
        // Larder reads nothing from a client that does not read its responses.
        let reads: Interest = hasPeerEnded || output.pendingCount >= Self.outputLimit ? Interest() : .read
        loop.modify(registration, isBlocked ? reads.union(.write) : reads)
        guard let timer else { return }
        if streams.isEmpty, !isBlocked {
            // The idle time runs from the end of the last stream: received bytes that begin no request do not restart it.
            let since = idleSince ?? loop.now
            session.trim()
            idleSince = since
            loop.setTimer(timer, at: since.advanced(milliseconds: timeouts.clientIdle))
        } else {
            idleSince = nil
            var since = blocked?.since
            for stream in streams.values {
                if let waits = stream.waitsSince, since.map({ waits < $0 }) ?? true { since = waits }
            }
            if let since {
                loop.setTimer(timer, at: since.advanced(milliseconds: timeouts.clientBody))
            } else {
                loop.cancelTimer(timer)
            }
        }
    }

    // MARK: End of the connection

    /// Accepts no further stream; the streams in progress end as usual.
    func drain() {
        if isClosing || isClosed { return }
        isClosing = true
        session.goAway()
        flush()
    }

    func close() {
        if isClosed { return }
        isClosed = true
        let leaving = streams
        streams = [:]
        waiting = []
        for stream in leaving.values { stream.closed() }
        if channel.isSecured, blocked == nil {
            channel.end()
            _ = output.write(to: &channel)
        }
        if let timer { loop.removeTimer(timer) }
        timer = nil
        loop.close(registration)
        worker.http2Ended(self)
    }
}
