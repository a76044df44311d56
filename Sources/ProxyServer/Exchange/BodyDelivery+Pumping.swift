import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Recordings
import ResponseStore

/// Moving content to the client: from memory, from the disk, or from a pending response, for as long as the client takes it.
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

    func endBody(_ trailers: Fields, for driver: ExchangeDriver) -> Bool {
        guard let connection = driver.connection else { return false }
        if isChunked { ChunkWriter.writeLastChunk(trailers: trailers, into: &connection.output.buffer) }
        source = .none
        driver.handle(.deliveryEnded(isComplete: true, at: driver.now))
        return false
    }
}
