import Glibc
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import ResponseStore

/// The client's side: bodies leave as fast as the client takes them, from memory, from the disk, or from a pending response.
extension ExchangeDriver {
    /// Up to this length a body is copied behind its head and leaves in the same write.
    private static let copiedBodyLength = 16 * 1024
    /// Bodies shorter than this fit into any buffer.
    private static let boundedBodyLength: UInt64 = 1 << 20

    func sendStored() {
        guard let connection, let selected = exchange.cache.selected else { return }
        noteUnreadBody()
        let before = connection.output.buffer.count
        exchange.writeStoredHead(at: now, into: &connection.output.buffer)
        delivery.headCount &+= UInt64(truncatingIfNeeded: connection.output.buffer.count &- before)
        if case .none = exchange.delivery.length { return handle(.deliveryEnded(isComplete: true, at: now)) }
        delivery.isChunked = exchange.delivery.isChunked
        if exchange.delivery.multipart != nil { return sendParts(of: selected.body) }
        if let range = exchange.delivery.range {
            delivery.offset = range.lowerBound
            delivery.end = range.upperBound
        } else if case .known(let length) = exchange.delivery.length {
            delivery.end = length
        } else if delivery.reader == nil, !selected.trailers.isEmpty {
            // In chunks for its trailer fields; a recording that broke off has none, and breaks off behind what it has.
            delivery.end = selected.body.length
        }
        if let whole = delivery.whole { return sendBytes(whole.joined, on: connection) }
        if delivery.reader != nil {
            delivery.source = .pending
            boundSending()
            return pump()
        }
        switch selected.body {
        case .bytes(let bytes): sendBytes(bytes, on: connection)
        case .onDisk(let body):
            delivery.source = .disk
            delivery.body = body
            // What is recorded goes nowhere.
            if delivery.recorded == nil { delivery.hold = worker.store.hold(body) }
            pump()
        }
    }

    private func sendBytes(_ bytes: [UInt8], on connection: ClientConnection) {
        let lower = Int(delivery.offset)
        let upper = min(bytes.count, Int(clamping: delivery.end))
        if delivery.isChunked {
            appendContent(bytes.span.extracting(lower..<upper), to: connection)
            delivery.offset = delivery.end
            _ = endBody(exchange.cache.selected?.trailers ?? Fields())
            return
        }
        delivery.sentCount += UInt64(upper - lower)
        if upper - lower <= Self.copiedBodyLength {
            connection.output.buffer.append(bytes.span.extracting(lower..<upper))
            return handle(.deliveryEnded(isComplete: true, at: now))
        }
        connection.output.setTail(.bytes(bytes), lower..<upper)
        delivery.source = .memory
        delivery.offset = delivery.end
        connection.flushSoon()
    }

    /// Called when the head of a body has been written that the origin is sending. What the kernel holds of it for a client that leaves
    /// has come in vain, and may come twice: its buffers, which grow to megabytes by themselves, are kept small where the way is short.
    func boundSending() {
        guard let connection, peer.address.isLoopback else { return }
        switch exchange.delivery.length {
        case .none: return
        case .known(let length) where length < Self.boundedBodyLength: return
        case .known, .unknown: break
        }
        // The kernel takes the double of it.
        var bound = Int32(worker.settings.proxyLimits.relayWindow / 2)
        _ = setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &bound, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Content of the response for this client, framed as its head has said.
    func appendContent(_ bytes: Span<UInt8>, to connection: ClientConnection) {
        guard !bytes.isEmpty else { return }
        delivery.sentCount += UInt64(bytes.count)
        if delivery.isChunked { ChunkWriter.writeChunkHeader(count: bytes.count, into: &connection.output.buffer) }
        if bytes.count > Self.copiedBodyLength, connection.output.pendingCount < Self.copiedBodyLength {
            connection.output.write(bytes, to: &connection.channel)
        } else {
            connection.output.buffer.append(bytes)
        }
        if delivery.isChunked { connection.output.buffer.append("\r\n") }
    }

    /// The connection has written everything it had.
    /// - Returns: whether there is more to write at once.
    func outputDrained() -> Bool {
        switch delivery.source {
        case .none: return false
        case .origin:
            fetch.checkShare = nil
            if fetch.isContinuationDue { continueFetch() } else { resumeUpstream() }
            return false
        case .memory:
            delivery.source = .none
            handle(.deliveryEnded(isComplete: true, at: worker.now))
            return connection?.output.isEmpty == false
        case .parts, .disk, .pending:
            pump()
            return connection?.output.isEmpty == false
        }
    }

    /// Moves what there is from the body's source to the connection, up to the window.
    func pump() {
        // Whoever is waited for comes back here. Until then there is nothing to write, and to say so at each batch's end would keep the loop awake.
        guard let connection, !delivery.isWaiting else { return }
        while !delivery.isWaiting, !connection.output.hasTail,
            connection.output.pendingCount < worker.settings.proxyLimits.relayWindow
        {
            let hasMore =
                switch delivery.source {
                case .pending: pumpPending(connection)
                case .disk: pumpDisk(connection)
                case .parts: pumpParts(connection)
                case .none, .origin, .memory: false
                }
            if !hasMore { break }
        }
        connection.flushSoon()
    }

    private func pumpPending(_ connection: ClientConnection) -> Bool {
        guard let reader = delivery.reader else { return false }
        if delivery.offset >= delivery.end { return endPart(connection) }
        let place = delivery.offset - delivery.readerStart
        switch reader.read(at: place) {
        case .bytes(let chunk, let range):
            let left = Int(clamping: delivery.end - delivery.offset)
            let piece = range.lowerBound..<range.lowerBound + min(range.count, left)
            delivery.offset += UInt64(piece.count)
            send(.chunk(chunk), piece, on: connection)
            return true
        case .wait:
            delivery.isWaiting = true
            let epoch = epoch
            let reply = worker.loop.reply { [self] (_: Void) in
                guard self.epoch == epoch else { return }
                delivery.isWaiting = false
                pump()
            }
            reader.whenReadable(at: place, reply)
            return false
        case .end(let trailers): return endBody(trailers)
        case .failed: return breakOff()
        case .onDisk(let body):
            readPiece(body, at: place)
            return false
        }
    }

    private func pumpDisk(_ connection: ClientConnection) -> Bool {
        if delivery.offset >= delivery.end { return endPart(connection) }
        if let piece = delivery.readAhead {
            delivery.readAhead = nil
            send(piece.bytes, piece.range, on: connection)
            return true
        }
        if let body = delivery.body { readPiece(body, at: delivery.offset) }
        return false
    }

    private func readPiece(_ body: BodyReference, at place: UInt64) {
        delivery.isWaiting = true
        let epoch = epoch
        let reply = worker.loop.reply { [self] (result: BodyReadResult) in
            guard self.epoch == epoch else { return }
            delivery.isWaiting = false
            delivery.read = nil
            receivePiece(result)
            self.connection?.flush()
        }
        delivery.read = reply
        if let recorded = delivery.recorded { return recorded.read(at: place, reply: reply) }
        worker.store.readBody(body, at: place, reply: reply)
    }

    private func receivePiece(_ result: BodyReadResult) {
        guard let connection else { return }
        switch result {
        case .bytes(let bytes, let range):
            if connection.output.hasTail {
                delivery.readAhead = (bytes, range)
            } else {
                send(bytes, range, on: connection)
            }
            pump()
        case .failed: _ = breakOff()
        }
    }

    /// What is left of the body cannot be had: the client must not take what it got for the whole.
    private func breakOff() -> Bool {
        delivery.source = .none
        handle(.deliveryEnded(isComplete: false, at: worker.now))
        return false
    }

    /// A piece that was read from the disk, as far as it is wanted.
    private func send(_ bytes: [UInt8], _ range: Range<Int>, on connection: ClientConnection) {
        let count = min(range.count, Int(clamping: delivery.end - delivery.offset))
        delivery.offset += UInt64(count)
        send(.bytes(bytes), range.lowerBound..<range.lowerBound + count, on: connection)
    }

    /// A piece that is large and not wrapped is written from where it lies.
    func send(_ bytes: BorrowedBytes, _ range: Range<Int>, on connection: ClientConnection) {
        guard !range.isEmpty else { return }
        if delivery.isChunked || range.count <= Self.copiedBodyLength {
            return bytes.withBytes(range) { appendContent($0.bindMemory(to: UInt8.self).span, to: connection) }
        }
        delivery.sentCount += UInt64(range.count)
        connection.output.setTail(bytes, range)
    }

    func endBody(_ trailers: Fields) -> Bool {
        guard let connection else { return false }
        if delivery.isChunked { ChunkWriter.writeLastChunk(trailers: trailers, into: &connection.output.buffer) }
        delivery.source = .none
        handle(.deliveryEnded(isComplete: true, at: worker.now))
        return false
    }
}
