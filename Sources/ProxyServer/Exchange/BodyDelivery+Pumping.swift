import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Recordings
import ResponseStore

/// Moving content to the client: from memory, from the disk, or from a pending response, as long as the client accepts it.
extension BodyDelivery {
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
            return driver.client?.output.isEmpty == false
        case .parts, .disk, .pending:
            pump(for: driver)
            return driver.client?.output.isEmpty == false
        }
    }

    /// Sends the rest of the body from the pending response, starting at `offset`.
    func pump(from offset: UInt64, for driver: ExchangeDriver) {
        source = .pending
        self.offset = offset
        pump(for: driver)
    }

    /// Moves available bytes from the body's source to the connection, up to the limit for unsent bytes.
    func pump(for driver: ExchangeDriver) {
        // A source that the body waits for calls this method again. Until then there is nothing to write, and a call after each batch would
        // keep the loop busy.
        guard let client = driver.client, !isWaiting else { return }
        while !isWaiting, !client.output.hasTail,
            client.output.pendingCount < driver.worker.settings.proxyLimits.relayWindow
        {
            let hasMore =
                switch source {
                case .pending: pumpPending(client, for: driver)
                case .disk: pumpDisk(client, for: driver)
                case .parts: pumpParts(client, for: driver)
                case .none, .origin, .memory: false
                }
            if !hasMore { break }
        }
        client.flushSoon()
    }

    private func pumpPending(_ client: ExchangeClient, for driver: ExchangeDriver) -> Bool {
        guard let reader else { return false }
        if offset >= end { return endPart(client, for: driver) }
        let place = offset - readerStart
        switch reader.read(at: place) {
        case .bytes(let chunk, let range):
            let left = Int(clamping: end - offset)
            let piece = range.lowerBound..<range.lowerBound + min(range.count, left)
            offset += UInt64(piece.count)
            send(.chunk(chunk), piece, on: client)
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

    private func pumpDisk(_ client: ExchangeClient, for driver: ExchangeDriver) -> Bool {
        if offset >= end { return endPart(client, for: driver) }
        if let piece = readAhead {
            readAhead = nil
            send(piece.bytes, piece.range, on: client)
            return true
        }
        if let body { readPiece(body, at: offset, for: driver) }
        return false
    }

    private func pumpParts(_ client: ExchangeClient, for driver: ExchangeDriver) -> Bool {
        if offset >= end { return endPart(client, for: driver) }
        let range = Int(offset)..<Int(end)
        offset = end
        send(.bytes(bytes), range, on: client)
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
            driver.client?.flush()
        }
        reading = reply
        if let recorded { return recorded.read(at: place, reply: reply) }
        driver.store.readBody(body, at: place, reply: reply)
    }

    private func receivePiece(_ result: BodyReadResult, for driver: ExchangeDriver) {
        guard let client = driver.client else { return }
        switch result {
        case .bytes(let bytes, let range):
            if client.output.hasTail { readAhead = (bytes, range) } else { send(bytes, range, on: client) }
            pump(for: driver)
        case .failed: _ = breakOff(for: driver)
        }
    }

    /// Breaks off the message, because the rest of the body is not available. The client must not treat the incomplete body as the complete
    /// one.
    private func breakOff(for driver: ExchangeDriver) -> Bool {
        source = .none
        driver.handle(.deliveryEnded(isComplete: false, at: driver.now))
        return false
    }

    /// Sends the requested part of a piece read from disk.
    private func send(_ bytes: [UInt8], _ range: Range<Int>, on client: ExchangeClient) {
        let count = min(range.count, Int(clamping: end - offset))
        offset += UInt64(count)
        send(.bytes(bytes), range.lowerBound..<range.lowerBound + count, on: client)
    }

    /// Writes a piece without copying it, if it is large and not chunked.
    private func send(_ bytes: BorrowedBytes, _ range: Range<Int>, on client: ExchangeClient) {
        guard !range.isEmpty else { return }
        if isChunked || range.count <= Self.copiedBodyLength {
            return bytes.withBytes(range) { append($0.bindMemory(to: UInt8.self).span, to: client) }
        }
        sentCount += UInt64(range.count)
        client.output.setTail(bytes, range)
    }

    // MARK: End of the body

    /// Called when a piece was sent completely: continues with the next segment or part, or ends.
    /// - Returns: whether there is more to send.
    private func endPart(_ client: ExchangeClient, for driver: ExchangeDriver) -> Bool {
        if beginSegment() { return true }
        guard let multipart = driver.exchange.delivery.multipart else {
            return endBody(driver.exchange.cache.selected?.trailers ?? Fields(), for: driver)
        }
        let before = client.output.buffer.count
        guard begunPartCount < multipart.parts.count else {
            multipart.writeEnd(into: &client.output.buffer)
            sentCount &+= UInt64(truncatingIfNeeded: client.output.buffer.count &- before)
            return endBody(Fields(), for: driver)
        }
        let part = multipart.parts[begunPartCount]
        multipart.writePartHead(begunPartCount, into: &client.output.buffer)
        sentCount &+= UInt64(truncatingIfNeeded: client.output.buffer.count &- before)
        begunPartCount += 1
        offset = part.lowerBound
        end = part.upperBound
        return true
    }

    /// - Returns: `false` if no segment is left, and the body has ended.
    private func beginSegment() -> Bool {
        guard !segments.isEmpty else { return false }
        let segment = segments.removeFirst()
        source = segment.source
        offset = segment.range.lowerBound
        end = segment.range.upperBound
        return true
    }

    func endBody(_ trailers: Fields, for driver: ExchangeDriver) -> Bool {
        guard let client = driver.client else { return false }
        if isChunked { ChunkWriter.writeLastChunk(trailers: trailers, into: &client.output.buffer) }
        source = .none
        driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
        return false
    }
}
