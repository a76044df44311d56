import BodyTransforms
import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Recordings
import ResponseStore
import UpstreamTransport

/// Sends the response to the client: its heads, and a body from any source, as fast as the client reads.
final class BodyDelivery {
    /// Where the body comes from. `parts` is a body in memory of which several parts are sent.
    enum Source: UInt8 { case none, origin, memory, parts, disk, pending }

    /// A piece of a body that comes partly from the store and partly from the origin.
    struct Segment {
        let source: Source
        let range: Range<UInt64>
    }

    var source: Source = .none
    /// Whether chunked framing is added (RFC 9112 §7.1).
    private(set) var isChunked = false
    /// The position of the next byte to send, and the end of the bytes to send. `end` is the maximum value if the length is unknown.
    var offset: UInt64 = 0
    var end: UInt64 = .max
    private(set) var body: BodyReference?
    /// A body in memory of which parts are sent, and the number of parts begun.
    var bytes: [UInt8] = []
    var begunPartCount = 0
    /// The location of `body`, if it is in a recording and not in the store.
    var recorded: RecordedBodyPlace?
    /// Keeps the body from being evicted while it is sent.
    private var hold: BodyHold?
    private(set) var reader: PendingReader?
    /// The position in the whole body at which the pending response begins, and the segments after the current one.
    var readerStart: UInt64 = 0
    @exclusivity(unchecked) var segments: [Segment] = []
    var isWaiting = false
    var reading: Reply<BodyReadResult>?
    /// A piece read from disk in advance.
    var readAhead: (bytes: [UInt8], range: Range<Int>)?
    /// A gathered body that is delivered: one that was checked, or a pending response that was read to its end for a failed transform.
    private var whole: GatheredBody?
    /// The part of the memory limit for gathered bodies that the delivered body uses, if it was checked or gathered for a transform.
    private var share: GatheredMemory.Share?
    /// The number of content bytes sent, and the number of bytes of heads sent.
    var sentCount: UInt64 = 0
    private(set) var headCount: UInt64 = 0
    /// The pipe for a body that is spliced.
    private(set) var pipe: KernelPipe?

    /// Up to this length, a body is copied after its head and sent in the same write.
    static let copiedBodyLength = 16 * 1024

    /// Whether anything was sent or noted since the last `reset`. Some facts are noted after the end of an exchange.
    @inline(__always) var isTouched: Bool {
        sentCount != 0 || headCount != 0 || source != .none || reader != nil
    }

    func reset() {
        source = .none
        isChunked = false
        offset = 0
        end = .max
        // Each field is checked before it is reset, because the release of even an empty value costs a call.
        if body != nil { body = nil }
        if recorded != nil { recorded = nil }
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
    }

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

    /// Delivers a pending response from memory, after it was read to its end.
    func deliver(gathered body: GatheredBody, _ share: GatheredMemory.Share?) {
        reader = nil
        whole = body
        self.share = share
    }

    func forgetGathered() { whole = nil }

    // MARK: Heads

    func writeHead(on client: ExchangeClient, _ write: (inout [UInt8]) -> Void) {
        let before = client.output.buffer.count
        write(&client.output.buffer)
        headCount &+= UInt64(truncatingIfNeeded: client.output.buffer.count &- before)
    }

    /// Writes an interim response to the client, if it uses HTTP/1.1 (RFC 9110 §15.2).
    func sendInformational(for driver: ExchangeDriver, _ write: (inout [UInt8]) -> Void) {
        if let client = driver.client { writeHead(on: client, write) }
    }

    /// Writes a generated response, head and body.
    func sendGenerated(on client: ExchangeClient, _ write: (inout [UInt8]) -> Void) {
        let before = client.output.buffer.count
        write(&client.output.buffer)
        let end = client.output.buffer.count
        var content = before
        repeat { content += 1 } while content < end && !Self.endsHead(client.output.buffer, before: content)
        headCount &+= UInt64(truncatingIfNeeded: min(content, end) - before)
        sentCount &+= UInt64(truncatingIfNeeded: end - min(content, end))
    }

    /// Whether the bytes before this place are an empty line.
    private static func endsHead(_ octets: [UInt8], before place: Int) -> Bool {
        place >= 4 && octets[place - 1] == ASCII.lf && octets[place - 2] == ASCII.cr && octets[place - 3] == ASCII.lf
            && octets[place - 4] == ASCII.cr
    }

    func sendRelayedHead(for driver: ExchangeDriver) {
        guard let client = driver.client else { return }
        driver.upload.noteUnread(for: driver)
        writeHead(on: client) { driver.exchange.writeRelayedHead(at: driver.now, into: &$0) }
        isChunked = driver.exchange.delivery.isChunked
    }

    // MARK: Responses from the origin

    /// Sends the head of a response that the origin is sending; its content follows as it arrives.
    func sendRelayed(_ mode: OriginFetch.Mode, for driver: ExchangeDriver) {
        let isPending = mode == .pending
        if isPending { cutPart(for: driver) }
        sendRelayedHead(for: driver)
        source = isPending ? .pending : .origin
        KernelRelay.boundBuffer(for: driver)
        pipe = KernelRelay.divert(mode, isChunked: isChunked, for: driver)
        if !driver.exchange.delivery.sendsContent, !isPending { source = .none }
    }

    /// Called when the origin sends the complete body instead of a part: the client reads its part from the pending response.
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
        KernelRelay.boundBuffer(for: driver)
    }

    /// The bytes of `range` that the client requested, counted from the start of `range`; `nil` if the client requested none of them.
    func wanted(of range: Range<UInt64>) -> Range<Int>? {
        let lower = min(max(offset, range.lowerBound), range.upperBound) - range.lowerBound
        let upper = max(min(end, range.upperBound), range.lowerBound) - range.lowerBound
        return lower < upper ? Int(lower)..<Int(upper) : nil
    }

    /// Sends content to this client, framed according to its head.
    func append(_ bytes: Span<UInt8>, to client: ExchangeClient) {
        guard !bytes.isEmpty else { return }
        sentCount += UInt64(bytes.count)
        if isChunked { ChunkWriter.writeChunkHeader(count: bytes.count, into: &client.output.buffer) }
        if bytes.count > Self.copiedBodyLength, client.output.pendingCount < Self.copiedBodyLength {
            client.write(bytes)
        } else {
            client.output.buffer.append(bytes)
        }
        if isChunked { client.output.buffer.append("\r\n") }
    }

    func endChunks(_ trailers: Fields, for driver: ExchangeDriver) {
        guard isChunked, let client = driver.client else { return }
        ChunkWriter.writeLastChunk(trailers: trailers, into: &client.output.buffer)
    }

    func divert(_ count: Int, for driver: ExchangeDriver) {
        guard let client = driver.client, let pipe else { return }
        sentCount += UInt64(count)
        client.output.appendPiped(count, from: pipe)
        client.flush()
        // The pipe is only filled when it is empty, so that "would block" always refers to the origin's socket.
        if driver.client?.output.isEmpty == false { driver.fetch.pause() }
    }

    // MARK: Gathered bodies

    /// Sends a body without copying it; the body counts as memory in use until the client has read it.
    func sendChecked(
        _ body: [UInt8], _ range: Range<Int>, of whole: GatheredBody?, _ share: GatheredMemory.Share?,
        on client: ExchangeClient
    ) {
        sentCount += UInt64(range.count)
        self.share = share
        self.whole = whole
        if range.isEmpty { return }
        client.output.setTail(.bytes(body), range)
        source = .memory
        client.flushSoon()
    }

    /// Sends the checked beginning of a body; the rest comes from the origin.
    func sendCheckedBeginning(_ body: [UInt8], to client: ExchangeClient) {
        source = .origin
        append(body.span, to: client)
    }

    // MARK: Stored bodies

    func sendStored(for driver: ExchangeDriver) {
        guard let client = driver.client, let selected = driver.exchange.cache.selected else { return }
        driver.upload.noteUnread(for: driver)
        let before = client.output.buffer.count
        driver.exchange.writeStoredHead(at: driver.now, into: &client.output.buffer)
        headCount &+= UInt64(truncatingIfNeeded: client.output.buffer.count &- before)
        if case .none = driver.exchange.delivery.length { return driver.handle(.deliveryEnded(isComplete: true, at: driver.now)) }
        isChunked = driver.exchange.delivery.isChunked
        if driver.exchange.delivery.multipart != nil { return sendParts(of: selected.body, for: driver) }
        if let range = driver.exchange.delivery.range {
            offset = range.lowerBound
            end = range.upperBound
        } else if case .known(let length) = driver.exchange.delivery.length {
            end = length
        } else if reader == nil, !selected.trailers.isEmpty {
            // A response with trailer fields is sent in chunks, so its length is not in the head. A truncated recording has no trailers,
            // so `end` stays unset for it: its delivery ends after its content.
            end = selected.body.length
        }
        if let whole { return send(whole.joined, on: client, for: driver) }
        if reader != nil {
            source = .pending
            KernelRelay.boundBuffer(for: driver)
            return pump(for: driver)
        }
        switch selected.body {
        case .bytes(let bytes): send(bytes, on: client, for: driver)
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

    private func send(_ bytes: [UInt8], on client: ExchangeClient, for driver: ExchangeDriver) {
        let lower = Int(offset)
        let upper = min(bytes.count, Int(clamping: end))
        if isChunked {
            append(bytes.span.extracting(lower..<upper), to: client)
            offset = end
            _ = endBody(driver.exchange.cache.selected?.trailers ?? Fields(), for: driver)
            return
        }
        sentCount += UInt64(upper - lower)
        if upper - lower <= Self.copiedBodyLength {
            client.output.buffer.append(bytes.span.extracting(lower..<upper))
            return driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
        }
        client.output.setTail(.bytes(bytes), lower..<upper)
        source = .memory
        offset = end
        client.flushSoon()
    }

    /// Sends stored parts of a body, and between them the bytes that the origin sends for the pending response.
    func sendCompleted(_ completion: RangeCompletion, of body: BodyReference, for driver: ExchangeDriver) {
        guard let client = driver.client else { return }
        read(body, for: driver)
        let (wanted, missing) = (completion.wanted, completion.missing)
        segments = [
            Segment(source: .disk, range: wanted.lowerBound..<missing.lowerBound),
            Segment(source: .pending, range: missing),
            Segment(source: .disk, range: missing.upperBound..<wanted.upperBound),
        ].filter { !$0.range.isEmpty }
        driver.upload.noteUnread(for: driver)
        writeHead(on: client) { driver.exchange.writeStoredHead(at: driver.now, into: &$0) }
        offset = wanted.lowerBound
        end = offset
        source = .disk
        KernelRelay.boundBuffer(for: driver)
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
}
