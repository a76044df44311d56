import BodyTransforms
import EventLoop
import Glibc
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Recordings
import ResponseStore
import ServerTrust
import UpstreamTransport

/// Sends the response to the client: heads, and a body from any source, as fast as the client reads it.
final class BodyDelivery {
    /// `parts`: a body in memory of which several parts are sent.
    private enum Source: UInt8 { case none, origin, memory, parts, disk, pending }

    /// A piece of a body that comes partly from the store and partly from the origin.
    private struct Segment {
        let source: Source
        let range: Range<UInt64>
    }

    private var source: Source = .none
    /// Whether chunked framing is added (RFC 9112 §7.1).
    private(set) var isChunked = false
    /// The next byte to send and the end; `end` is the maximum if the length is unknown.
    private var offset: UInt64 = 0
    private var end: UInt64 = .max
    private(set) var body: BodyReference?
    /// A body in memory of which parts are sent, and the number of parts begun.
    private var bytes: [UInt8] = []
    private var begunPartCount = 0
    /// The location of `body`, if it is not in the store.
    private var recorded: RecordedBodyPlace?
    /// Keeps the body from being evicted while it is sent.
    private var hold: BodyHold?
    private(set) var reader: PendingReader?
    /// The offset of the pending response in the body, and the segments after the current one.
    private var readerStart: UInt64 = 0
    @exclusivity(unchecked) private var segments: [Segment] = []
    private var isWaiting = false
    private var reading: Reply<BodyReadResult>?
    /// A piece read from disk in advance.
    private var readAhead: (bytes: [UInt8], range: Range<Int>)?
    /// A gathered body that is delivered: one that was checked, or a pending response that was read to its end for a failed transform.
    private var whole: GatheredBody?
    /// Its share of the memory, for a body that was checked or gathered for a transform.
    private var share: GatheredMemory.Share?
    /// The number of bytes sent: content, and heads.
    private(set) var sentCount: UInt64 = 0
    private(set) var headCount: UInt64 = 0
    /// The pipe for a body that is spliced.
    private(set) var pipe: Pipe?
    // For the log.
    /// The member for the recording that was delivered.
    private(set) var recordingMember: [UInt8] = []
    /// The outcome of a CONNECT.
    var connectOutcome: ConnectOutcome?
    /// Why a tunnel's content is not inspected, although its host must be intercepted.
    var uninspected: UninspectedReason?
    /// The name under which the server of a tunnel to an address was verified.
    var judgedName: String?
    /// The verified chain of the server for this request (`OriginExchange.judgedChain`).
    var judgedChain: [Certificate] = []

    /// Up to this length, a body is copied after its head and sent in the same write.
    private static let copiedBodyLength = 16 * 1024
    /// Shorter bodies fit into any socket buffer.
    private static let boundedBodyLength: UInt64 = 1 << 20
    /// Shorter bodies are not worth a pipe.
    private static let divertedLength: UInt64 = 1 << 20

    /// Whether anything was sent, or was noted after the end of the exchange.
    @inline(__always) var isTouched: Bool {
        sentCount != 0 || headCount != 0 || source != .none || reader != nil || connectOutcome != nil || !judgedChain.isEmpty
    }

    func reset() {
        source = .none
        isChunked = false
        offset = 0
        end = .max
        // Checked first, because each release of nothing is a call.
        if body != nil { body = nil }
        if recorded != nil { recorded = nil }
        if !recordingMember.isEmpty { recordingMember = [] }
        if !bytes.isEmpty { bytes = [] }
        begunPartCount = 0
        if hold != nil { hold = nil }
        if reader != nil { reader = nil }
        readerStart = 0
        if !segments.isEmpty { segments = [] }
        isWaiting = false
        if reading != nil { reading = nil }
        if readAhead != nil { readAhead = nil }
        if whole != nil { whole = nil }
        if share != nil { share = nil }
        sentCount = 0
        headCount = 0
        if pipe != nil { pipe = nil }
        if connectOutcome != nil {
            connectOutcome = nil
            uninspected = nil
            judgedName = nil
        }
        if !judgedChain.isEmpty { judgedChain = [] }
    }

    func note(_ chain: [Certificate]) { if !chain.isEmpty { judgedChain = chain } }

    func note(tunnelled count: UInt64) { sentCount = count }

    // MARK: Sources of the body

    func read(by reader: PendingReader, from start: UInt64 = 0) {
        self.reader = reader
        readerStart = start
    }

    func readNothing() {
        reader = nil
        readerStart = 0
    }

    func read(recorded place: RecordedBodyPlace?) { recorded = place }

    func note(recording member: [UInt8]) { recordingMember = member }

    /// Delivers a pending response that was read to its end from memory.
    func deliver(gathered body: GatheredBody, _ share: GatheredMemory.Share?) {
        reader = nil
        whole = body
        self.share = share
    }

    func forgetGathered() { whole = nil }

    // MARK: Heads

    func writeHead(on connection: ClientConnection, _ write: (inout [UInt8]) -> Void) {
        let before = connection.output.buffer.count
        write(&connection.output.buffer)
        headCount &+= UInt64(truncatingIfNeeded: connection.output.buffer.count &- before)
    }

    /// Writes an interim response to the client, if it uses HTTP/1.1 (RFC 9110 §15.2).
    func sendInformational(for driver: ExchangeDriver, _ write: (inout [UInt8]) -> Void) {
        if let connection = driver.connection { writeHead(on: connection, write) }
    }

    /// Writes a generated response, head and body.
    func sendGenerated(on connection: ClientConnection, _ write: (inout [UInt8]) -> Void) {
        let before = connection.output.buffer.count
        write(&connection.output.buffer)
        sentCount += UInt64(connection.output.buffer.count - before)
    }

    func sendRelayedHead(for driver: ExchangeDriver) {
        guard let connection = driver.connection else { return }
        driver.upload.noteUnread(for: driver)
        writeHead(on: connection) { driver.exchange.writeRelayedHead(at: driver.now, into: &$0) }
        isChunked = driver.exchange.delivery.isChunked
    }

    // MARK: From the origin

    /// Sends the head of a response that the origin is sending; its content follows as it arrives.
    func sendRelayed(_ mode: OriginFetch.Mode, for driver: ExchangeDriver) {
        let isPending = mode == .pending
        if isPending { cutPart(for: driver) }
        sendRelayedHead(for: driver)
        source = isPending ? .pending : .origin
        boundSending(for: driver)
        divertIfLarge(mode, for: driver)
        if !driver.exchange.delivery.sendsContent, !isPending { source = .none }
    }

    /// The origin sends the whole instead of a part: the client reads its part from the pending response.
    private func cutPart(for driver: ExchangeDriver) {
        guard let part = driver.exchange.partToCut else { return }
        driver.tell(.wholeStored)
        offset = part.lowerBound
        end = part.upperBound
    }

    /// Sends the head of a response that is being recorded.
    func sendRecorded(for driver: ExchangeDriver) {
        sendRelayedHead(for: driver)
        source = .origin
        if let range = driver.exchange.delivery.range {
            offset = range.lowerBound
            end = range.upperBound
        }
        boundSending(for: driver)
    }

    /// The part of a range of the body that the client requested.
    func wanted(of range: Range<UInt64>) -> Range<Int>? {
        let lower = min(max(offset, range.lowerBound), range.upperBound) - range.lowerBound
        let upper = max(min(end, range.upperBound), range.lowerBound) - range.lowerBound
        return lower < upper ? Int(lower)..<Int(upper) : nil
    }

    /// Called after the head of a body in flight was written. Bytes in the kernel's buffer for a client that leaves were fetched in vain,
    /// and may be fetched twice. The buffers grow to megabytes by themselves, so they are kept small for clients on this machine.
    private func boundSending(for driver: ExchangeDriver) {
        guard let connection = driver.connection, driver.peer.address.isLoopback else { return }
        switch driver.exchange.delivery.length {
        case .none: return
        case .known(let length) where length < Self.boundedBodyLength: return
        case .known, .unknown: break
        }
        // The kernel doubles it.
        var bound = Int32(driver.worker.settings.proxyLimits.relayWindow / 2)
        _ = setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &bound, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends content to this client, framed according to its head.
    func append(_ bytes: Span<UInt8>, to connection: ClientConnection) {
        guard !bytes.isEmpty else { return }
        sentCount += UInt64(bytes.count)
        if isChunked { ChunkWriter.writeChunkHeader(count: bytes.count, into: &connection.output.buffer) }
        if bytes.count > Self.copiedBodyLength, connection.output.pendingCount < Self.copiedBodyLength {
            connection.output.write(bytes, to: &connection.channel)
        } else {
            connection.output.buffer.append(bytes)
        }
        if isChunked { connection.output.buffer.append("\r\n") }
    }

    func endChunks(_ trailers: Fields, for driver: ExchangeDriver) {
        guard isChunked, let connection = driver.connection else { return }
        ChunkWriter.writeLastChunk(trailers: trailers, into: &connection.output.buffer)
    }

    /// Called after the head was written and the body goes to the client unchanged. Large bodies for only one client are spliced from the
    /// origin's socket to the client's, through a pipe: no code reads them, so they need not be copied into this process.
    private func divertIfLarge(_ mode: OriginFetch.Mode, for driver: ExchangeDriver) {
        // With TLS, the kernel cannot move the bytes.
        guard case .http = Origin.Scheme(of: driver.exchange), mode == .direct, !isChunked, driver.exchange.delivery.sendsContent,
            let connection = driver.connection, !connection.channel.isSecured,
            case .known(let length) = driver.exchange.upstream.body, length >= Self.divertedLength,
            let upstream = driver.fetch.upstream, let pipe = Pipe()
        else { return }
        self.pipe = pipe
        upstream.divertBody(into: pipe.writeEnd, atMost: Pipe.capacity)
    }

    func divert(_ count: Int, for driver: ExchangeDriver) {
        guard let connection = driver.connection, let pipe else { return }
        sentCount += UInt64(count)
        connection.output.appendPiped(count, from: pipe)
        connection.flush()
        // It is only filled when empty, so that "would block" always refers to the origin's socket.
        if driver.connection?.output.isEmpty == false { driver.fetch.pause() }
    }

    // MARK: Gathered bodies

    /// Sends a body without copying it; it counts as memory in use until the client has read it.
    func sendChecked(
        _ body: [UInt8], _ range: Range<Int>, of whole: GatheredBody?, _ share: GatheredMemory.Share?,
        on connection: ClientConnection
    ) {
        sentCount += UInt64(range.count)
        self.share = share
        self.whole = whole
        if range.isEmpty { return }
        connection.output.setTail(.bytes(body), range)
        source = .memory
        connection.flushSoon()
    }

    /// Sends the checked beginning of a body; the rest comes from the origin.
    func sendCheckedBeginning(_ body: [UInt8], to connection: ClientConnection) {
        source = .origin
        append(body.span, to: connection)
    }

    // MARK: Stored bodies

    func sendStored(for driver: ExchangeDriver) {
        guard let connection = driver.connection, let selected = driver.exchange.cache.selected else { return }
        driver.upload.noteUnread(for: driver)
        let before = connection.output.buffer.count
        driver.exchange.writeStoredHead(at: driver.now, into: &connection.output.buffer)
        headCount &+= UInt64(truncatingIfNeeded: connection.output.buffer.count &- before)
        if case .none = driver.exchange.delivery.length { return driver.handle(.deliveryEnded(isComplete: true, at: driver.now)) }
        isChunked = driver.exchange.delivery.isChunked
        if driver.exchange.delivery.multipart != nil { return sendParts(of: selected.body, for: driver) }
        if let range = driver.exchange.delivery.range {
            offset = range.lowerBound
            end = range.upperBound
        } else if case .known(let length) = driver.exchange.delivery.length {
            end = length
        } else if reader == nil, !selected.trailers.isEmpty {
            // In chunks because of trailer fields; a truncated recording has none, and ends after its content.
            end = selected.body.length
        }
        if let whole { return send(whole.joined, on: connection, for: driver) }
        if reader != nil {
            source = .pending
            boundSending(for: driver)
            return pump(for: driver)
        }
        switch selected.body {
        case .bytes(let bytes): send(bytes, on: connection, for: driver)
        case .onDisk(let body):
            source = .disk
            read(body, for: driver)
            pump(for: driver)
        }
    }

    private func read(_ body: BodyReference, for driver: ExchangeDriver) {
        self.body = body
        // A recorded body cannot be evicted.
        if recorded == nil { hold = driver.store.hold(body) }
    }

    private func send(_ bytes: [UInt8], on connection: ClientConnection, for driver: ExchangeDriver) {
        let lower = Int(offset)
        let upper = min(bytes.count, Int(clamping: end))
        if isChunked {
            append(bytes.span.extracting(lower..<upper), to: connection)
            offset = end
            _ = endBody(driver.exchange.cache.selected?.trailers ?? Fields(), for: driver)
            return
        }
        sentCount += UInt64(upper - lower)
        if upper - lower <= Self.copiedBodyLength {
            connection.output.buffer.append(bytes.span.extracting(lower..<upper))
            return driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
        }
        connection.output.setTail(.bytes(bytes), lower..<upper)
        source = .memory
        offset = end
        connection.flushSoon()
    }

    /// Sends stored parts, and between them the bytes from the reader.
    func sendCompleted(_ completion: RangeCompletion, of body: BodyReference, for driver: ExchangeDriver) {
        guard let connection = driver.connection else { return }
        read(body, for: driver)
        let (wanted, missing) = (completion.wanted, completion.missing)
        segments = [
            Segment(source: .disk, range: wanted.lowerBound..<missing.lowerBound),
            Segment(source: .pending, range: missing),
            Segment(source: .disk, range: missing.upperBound..<wanted.upperBound),
        ].filter { !$0.range.isEmpty }
        driver.upload.noteUnread(for: driver)
        writeHead(on: connection) { driver.exchange.writeStoredHead(at: driver.now, into: &$0) }
        offset = wanted.lowerBound
        end = offset
        source = .disk
        boundSending(for: driver)
        pump(for: driver)
    }

    /// Sends several parts of a stored body in one message, each with its own head (RFC 9110 §14.6). Called after the message's head was
    /// written.
    private func sendParts(of body: StoredBody, for driver: ExchangeDriver) {
        offset = 0
        end = 0
        switch body {
        case .bytes(let bytes):
            source = .parts
            self.bytes = bytes
        case .onDisk(let body):
            source = .disk
            read(body, for: driver)
        }
        pump(for: driver)
    }

    // MARK: Pumping

    /// Called when the connection has written all its output.
    /// - Returns: whether there is more to write at once.
    func outputDrained(for driver: ExchangeDriver) -> Bool {
        switch source {
        case .none: return false
        case .origin:
            driver.checking.contentLeft()
            if driver.fetch.isContinuationDue { driver.fetch.continueNow(for: driver) } else { driver.fetch.resume(for: driver) }
            return false
        case .memory:
            source = .none
            driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
            return driver.connection?.output.isEmpty == false
        case .parts, .disk, .pending:
            pump(for: driver)
            return driver.connection?.output.isEmpty == false
        }
    }

    /// Sends the rest from the pending response, from this byte on.
    func pump(from offset: UInt64, for driver: ExchangeDriver) {
        source = .pending
        self.offset = offset
        pump(for: driver)
    }

    /// Moves available bytes from the body's source to the connection, up to the window.
    func pump(for driver: ExchangeDriver) {
        // Each awaited source calls this again. Until then there is nothing to write, and trying again after each batch would keep the loop
        // busy.
        guard let connection = driver.connection, !isWaiting else { return }
        while !isWaiting, !connection.output.hasTail,
            connection.output.pendingCount < driver.worker.settings.proxyLimits.relayWindow
        {
            let hasMore =
                switch source {
                case .pending: pumpPending(connection, for: driver)
                case .disk: pumpDisk(connection, for: driver)
                case .parts: pumpParts(connection, for: driver)
                case .none, .origin, .memory: false
                }
            if !hasMore { break }
        }
        connection.flushSoon()
    }

    private func pumpPending(_ connection: ClientConnection, for driver: ExchangeDriver) -> Bool {
        guard let reader else { return false }
        if offset >= end { return endPart(connection, for: driver) }
        let place = offset - readerStart
        switch reader.read(at: place) {
        case .bytes(let chunk, let range):
            let left = Int(clamping: end - offset)
            let piece = range.lowerBound..<range.lowerBound + min(range.count, left)
            offset += UInt64(piece.count)
            send(.chunk(chunk), piece, on: connection)
            return true
        case .wait:
            isWaiting = true
            let epoch = driver.epoch
            let reply = driver.loop.reply { [self] (_: Void) in
                guard driver.epoch == epoch else { return }
                isWaiting = false
                pump(for: driver)
            }
            reader.whenReadable(at: place, reply)
            return false
        case .end(let trailers): return endBody(trailers, for: driver)
        case .failed: return breakOff(for: driver)
        case .onDisk(let body):
            readPiece(body, at: place, for: driver)
            return false
        }
    }

    private func pumpDisk(_ connection: ClientConnection, for driver: ExchangeDriver) -> Bool {
        if offset >= end { return endPart(connection, for: driver) }
        if let piece = readAhead {
            readAhead = nil
            send(piece.bytes, piece.range, on: connection)
            return true
        }
        if let body { readPiece(body, at: offset, for: driver) }
        return false
    }

    private func pumpParts(_ connection: ClientConnection, for driver: ExchangeDriver) -> Bool {
        if offset >= end { return endPart(connection, for: driver) }
        let range = Int(offset)..<Int(end)
        offset = end
        send(.bytes(bytes), range, on: connection)
        return true
    }

    private func readPiece(_ body: BodyReference, at place: UInt64, for driver: ExchangeDriver) {
        isWaiting = true
        let epoch = driver.epoch
        let reply = driver.loop.reply { [self] (result: BodyReadResult) in
            guard driver.epoch == epoch else { return }
            isWaiting = false
            reading = nil
            receivePiece(result, for: driver)
            driver.connection?.flush()
        }
        reading = reply
        if let recorded { return recorded.read(at: place, reply: reply) }
        driver.store.readBody(body, at: place, reply: reply)
    }

    private func receivePiece(_ result: BodyReadResult, for driver: ExchangeDriver) {
        guard let connection = driver.connection else { return }
        switch result {
        case .bytes(let bytes, let range):
            if connection.output.hasTail { readAhead = (bytes, range) } else { send(bytes, range, on: connection) }
            pump(for: driver)
        case .failed: _ = breakOff(for: driver)
        }
    }

    /// The rest of the body is not available: the client must not take its part for the whole.
    private func breakOff(for driver: ExchangeDriver) -> Bool {
        source = .none
        driver.handle(.deliveryEnded(isComplete: false, at: driver.now))
        return false
    }

    /// Sends the requested part of a piece read from disk.
    private func send(_ bytes: [UInt8], _ range: Range<Int>, on connection: ClientConnection) {
        let count = min(range.count, Int(clamping: end - offset))
        offset += UInt64(count)
        send(.bytes(bytes), range.lowerBound..<range.lowerBound + count, on: connection)
    }

    /// Writes a piece without copying it, if it is large and not chunked.
    private func send(_ bytes: BorrowedBytes, _ range: Range<Int>, on connection: ClientConnection) {
        guard !range.isEmpty else { return }
        if isChunked || range.count <= Self.copiedBodyLength {
            return bytes.withBytes(range) { append($0.bindMemory(to: UInt8.self).span, to: connection) }
        }
        sentCount += UInt64(range.count)
        connection.output.setTail(bytes, range)
    }

    // MARK: Ends

    /// A piece was sent completely: continues with the next segment or part, or ends.
    /// - Returns: whether there is more to send.
    private func endPart(_ connection: ClientConnection, for driver: ExchangeDriver) -> Bool {
        if beginSegment() { return true }
        guard let multipart = driver.exchange.delivery.multipart else {
            return endBody(driver.exchange.cache.selected?.trailers ?? Fields(), for: driver)
        }
        let before = connection.output.buffer.count
        guard begunPartCount < multipart.parts.count else {
            multipart.writeEnd(into: &connection.output.buffer)
            sentCount &+= UInt64(truncatingIfNeeded: connection.output.buffer.count &- before)
            return endBody(Fields(), for: driver)
        }
        let part = multipart.parts[begunPartCount]
        multipart.writePartHead(begunPartCount, into: &connection.output.buffer)
        sentCount &+= UInt64(truncatingIfNeeded: connection.output.buffer.count &- before)
        begunPartCount += 1
        offset = part.lowerBound
        end = part.upperBound
        return true
    }

    /// - Returns: `false` if there is none, and the body has ended.
    private func beginSegment() -> Bool {
        guard !segments.isEmpty else { return false }
        let segment = segments.removeFirst()
        source = segment.source
        offset = segment.range.lowerBound
        end = segment.range.upperBound
        return true
    }

    private func endBody(_ trailers: Fields, for driver: ExchangeDriver) -> Bool {
        guard let connection = driver.connection else { return false }
        if isChunked { ChunkWriter.writeLastChunk(trailers: trailers, into: &connection.output.buffer) }
        source = .none
        driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
        return false
    }
}
