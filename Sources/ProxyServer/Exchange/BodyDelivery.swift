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

/// The response on its way to the client: heads, and a body that leaves as fast as the client takes it, wherever it comes from.
final class BodyDelivery {
    /// `parts` is a body in memory of which several parts are sent.
    private enum Source: UInt8 { case none, origin, memory, parts, disk, pending }

    /// A piece of a body of which some comes from the store and some from the origin.
    private struct Segment {
        let source: Source
        let range: Range<UInt64>
    }

    private var source: Source = .none
    /// Chunk framing is wrapped around it (RFC 9112 §7.1).
    private(set) var isChunked = false
    /// The next byte to send and the one behind the last; `end` is the greatest number where the length is not known.
    private var offset: UInt64 = 0
    private var end: UInt64 = .max
    private(set) var body: BodyReference?
    /// The body of which parts are sent, where it is in memory, and how many parts have been begun.
    private var bytes: [UInt8] = []
    private var begunPartCount = 0
    /// Where `body` stands instead of in the store.
    private var recorded: RecordedBodyPlace?
    /// Keeps the body from being evicted while it is sent.
    private var hold: BodyHold?
    private(set) var reader: PendingReader?
    /// Where in the body the pending response begins, and what is to be sent after the segment at hand.
    private var readerStart: UInt64 = 0
    @exclusivity(unchecked) private var segments: [Segment] = []
    private var isWaiting = false
    private var reading: Reply<BodyReadResult>?
    /// A piece read from the disk ahead of its turn.
    private var readAhead: (bytes: [UInt8], range: Range<Int>)?
    /// A body that was gathered, from which it is delivered; what was read of a pending response to the end, to have something made of it, where that failed.
    private var whole: GatheredBody?
    /// Of a body that was checked, or gathered to have something made of it.
    private var share: GatheredMemory.Share?
    /// What was sent: bytes of content, and of heads.
    private(set) var sentCount: UInt64 = 0
    private(set) var headCount: UInt64 = 0
    /// Through which a diverted body passes.
    private(set) var pipe: Pipe?
    // For the log.
    /// Of the recording that is the answer.
    private(set) var recordingMember: [UInt8] = []
    /// What CONNECT got, where the request was one.
    var connectOutcome: ConnectOutcome?
    /// Why what is in the tunnel passes unseen, though its host is to be intercepted.
    var uninspected: UninspectedReason?
    /// As whom the server of a tunnel to an address was judged.
    var judgedName: String?
    /// Of the server that was judged for this request (`OriginExchange.judgedChain`).
    var judgedChain: [Certificate] = []

    /// Up to this length a body is copied behind its head and leaves in the same write.
    private static let copiedBodyLength = 16 * 1024
    /// Bodies shorter than this fit into any buffer.
    private static let boundedBodyLength: UInt64 = 1 << 20
    /// Bodies shorter than this are not worth a pipe.
    private static let divertedLength: UInt64 = 1 << 20

    /// Something was sent, or has come after the end of the exchange.
    @inline(__always) var isTouched: Bool {
        sentCount != 0 || headCount != 0 || source != .none || reader != nil || connectOutcome != nil || !judgedChain.isEmpty
    }

    func reset() {
        source = .none
        isChunked = false
        offset = 0
        end = .max
        // Asked first: to let go of nothing is a call each time.
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

    // MARK: Where the body comes from

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

    /// What was read of a pending response to its end is delivered from memory.
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

    /// Writes an interim response for the client, where it speaks HTTP/1.1 (RFC 9110 §15.2).
    func sendInformational(for driver: ExchangeDriver, _ write: (inout [UInt8]) -> Void) {
        if let connection = driver.connection { writeHead(on: connection, write) }
    }

    /// A response of ours, head and body.
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

    /// The head of a response that the origin is sending; its content follows as it comes.
    func sendRelayed(_ mode: OriginFetch.Mode, for driver: ExchangeDriver) {
        let isPending = mode == .pending
        if isPending { cutPart(for: driver) }
        sendRelayedHead(for: driver)
        source = isPending ? .pending : .origin
        boundSending(for: driver)
        divertIfLarge(mode, for: driver)
        if !driver.exchange.delivery.sendsContent, !isPending { source = .none }
    }

    /// The origin sends the whole in place of a part: the client reads its part from the pending response.
    private func cutPart(for driver: ExchangeDriver) {
        guard let part = driver.exchange.partToCut else { return }
        driver.tell(.wholeStored)
        offset = part.lowerBound
        end = part.upperBound
    }

    /// The head of a response that is being recorded.
    func sendRecorded(for driver: ExchangeDriver) {
        sendRelayedHead(for: driver)
        source = .origin
        if let range = driver.exchange.delivery.range {
            offset = range.lowerBound
            end = range.upperBound
        }
        boundSending(for: driver)
    }

    /// The part that the client asked for of content that lies between these places of the body.
    func wanted(of range: Range<UInt64>) -> Range<Int>? {
        let lower = min(max(offset, range.lowerBound), range.upperBound) - range.lowerBound
        let upper = max(min(end, range.upperBound), range.lowerBound) - range.lowerBound
        return lower < upper ? Int(lower)..<Int(upper) : nil
    }

    /// Called when the head of a body has been written that the origin is sending. What the kernel holds of it for a client that leaves
    /// has come in vain, and may come twice: its buffers, which grow to megabytes by themselves, are kept small where the way is short.
    private func boundSending(for driver: ExchangeDriver) {
        guard let connection = driver.connection, driver.peer.address.isLoopback else { return }
        switch driver.exchange.delivery.length {
        case .none: return
        case .known(let length) where length < Self.boundedBodyLength: return
        case .known, .unknown: break
        }
        // The kernel takes the double of it.
        var bound = Int32(driver.worker.settings.proxyLimits.relayWindow / 2)
        _ = setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &bound, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Content of the response for this client, framed as its head has said.
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

    /// Called when the head has been written and the body goes to the client as it is. Large bodies for one client alone go by
    /// `splice` from the origin's socket to the client's, through a pipe: nobody here looks into them, and so they need not come
    /// into this process.
    private func divertIfLarge(_ mode: OriginFetch.Mode, for driver: ExchangeDriver) {
        // Inside TLS there is nothing that the kernel could move.
        guard case .http = driver.exchange.originScheme, mode == .direct, !isChunked, driver.exchange.delivery.sendsContent,
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
        // It is filled anew when it is empty, so that "would block" always speaks of the origin's socket.
        if driver.connection?.output.isEmpty == false { driver.fetch.pause() }
    }

    // MARK: Gathered bodies

    /// From where it lies, and counted among the bodies in memory for as long as the client takes it.
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

    /// The beginning of a body has been checked; the rest comes from the origin.
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
            // In chunks for its trailer fields; a recording that broke off has none, and breaks off behind what it has.
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
        // What is recorded goes nowhere.
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

    /// What is stored, and between it what the reader brings.
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

    /// Several parts of a stored body in one message, each with a head of its own (RFC 9110 §14.6). Called when the message's head has
    /// been written.
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

    /// The connection has written everything it had.
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

    /// The rest comes from the pending response, from this byte on.
    func pump(from offset: UInt64, for driver: ExchangeDriver) {
        source = .pending
        self.offset = offset
        pump(for: driver)
    }

    /// Moves what there is from the body's source to the connection, up to the window.
    func pump(for driver: ExchangeDriver) {
        // Whoever is waited for comes back here. Until then there is nothing to write, and to say so at each batch's end would keep the loop awake.
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

    /// What is left of the body cannot be had: the client must not take what it got for the whole.
    private func breakOff(for driver: ExchangeDriver) -> Bool {
        source = .none
        driver.handle(.deliveryEnded(isComplete: false, at: driver.now))
        return false
    }

    /// A piece that was read from the disk, as far as it is wanted.
    private func send(_ bytes: [UInt8], _ range: Range<Int>, on connection: ClientConnection) {
        let count = min(range.count, Int(clamping: end - offset))
        offset += UInt64(count)
        send(.bytes(bytes), range.lowerBound..<range.lowerBound + count, on: connection)
    }

    /// A piece that is large and not wrapped is written from where it lies.
    private func send(_ bytes: BorrowedBytes, _ range: Range<Int>, on connection: ClientConnection) {
        guard !range.isEmpty else { return }
        if isChunked || range.count <= Self.copiedBodyLength {
            return bytes.withBytes(range) { append($0.bindMemory(to: UInt8.self).span, to: connection) }
        }
        sentCount += UInt64(range.count)
        connection.output.setTail(bytes, range)
    }

    // MARK: Ends

    /// What was to be sent in one piece has been: the next segment or part follows, or the end.
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

    /// - Returns: `false` where there is none, and the body is at its end.
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
