import HTTPCaching
import HTTPMessage

/// The effect of each operation on the tables. A thrown error ends the transaction.
extension StoreWriter {
    func apply(_ operation: WriterOperation) throws(StoreError) {
        guard let tables else { return }
        switch operation {
        case .store(let response, let hash):
            transaction.settled.append(hash)
            transaction.unwritten.append(hash)
            transaction.storedCount += 1
            try store(response, hash)
        case .freshen(let response, let hash):
            transaction.settled.append(hash)
            try freshen(response, hash)
        case .remove(let response, let hash):
            transaction.mustHappen.append(operation)
            if let row = try tables.row(response.row), row.keyHash == hash, row.state == .complete || row.state == .partial {
                try delete(row)
            }
        case .displace(let response, let hash):
            transaction.mustHappen.append(operation)
            let variant = core.memory.hasher.variant(ofNominated: response.nominatedFields)
            // Memory did not know that the disk has a newer response. Memory removes its own response; the next lookup reads the disk.
            if try !replace(hash, by: response, variant: variant) { transaction.dropped.append((response.row, hash)) }
        case .invalidate(_, let hash):
            transaction.mustHappen.append(operation)
            try invalidate(hash)
        case .purge(let work):
            transaction.mustHappen.append(operation)
            try begin(work)
        case .pending(let pending) where isLogLong && pending.isAppending:
            postponed.append(pending)
        case .pending(let pending):
            transaction.pendingResponses.append(pending)
            while let work = pending.takeWork() {
                if try write(work, of: pending) { break }
            }
        case .accessed(let rows, let time):
            for row in rows { try tables.set(lastAccess: time, ofRow: row) }
        case .dropDamaged(let id, let damage):
            guard let row = try tables.row(id), row.state == .complete || row.state == .partial else { return }
            switch damage {
            case .row: break
            // If the row has another body by now, the corrupt data is no longer needed.
            case .body(let body): guard row.bodyID == body else { return }
            // Partial responses have holes, and the hole that was found may be filled by now.
            case .hole(let place):
                let extents = try tables.extents.all(ofRow: id)
                let isHeld = extents?.ranges.contains { $0.contains(place) } ?? false
                if extents != nil, row.state == .partial || isHeld { return }
            }
            noteDamagedEntry()
            try delete(row, forgetting: true)
        case .fileIsDamaged(let generation, let reason):
            guard generation == core.fileGeneration.load(ordering: .relaxed) else { return }
            throw tables.damage(reason)
        case .limitPages(let count):
            try tables.connection.execute("PRAGMA max_page_count=\(count)")
        case .lookUp(let job):
            transaction.lookUps.append(job)
        }
    }

    // MARK: Responses

    private func store(_ response: StoredResponse, _ hash: KeyHash) throws(StoreError) {
        guard let tables, case .bytes(let body) = response.body else { return }
        row.fill(from: response, hash, core.memory.hasher)
        row.chain = try tables.chains.number(of: response.chain)
        guard try replace(hash, by: response, variant: row.variant) else {
            // Memory did not know that the disk has a newer response. Memory removes its own response; the next lookup reads the disk.
            transaction.dropped.append((response.row, hash))
            transaction.gone.append(hash)
            transaction.storedCount -= 1
            transaction.supersededCount += 1
            return
        }
        if body.count <= StoreLimits.inlineBodyLength {
            try insertInline(body)
        } else {
            row.bodyID = row.id
            try insert(row)
            try body.span.withUnsafeBytes { (bytes) throws(StoreError) in
                for number in 0..<Chunk.count(forLength: UInt64(body.count)) {
                    let start = number * Chunk.length
                    let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Chunk.length, bytes.count)])
                    try tables.insert(chunk: number, ofBody: row.id, piece)
                }
            }
        }
        transaction.byteCount += body.count
        if body.count > max(core.configuration.memoryBodyLimit, StoreLimits.inlineBodyLength) {
            transaction.long.append((response.row, hash))
        }
    }

    private func insertInline(_ body: [UInt8]) throws(StoreError) {
        guard let tables else { return }
        let time = Clock.seconds()
        try body.span.withUnsafeBytes { (bytes) throws(StoreError) in
            row.bodyChecksum = Checksum.of(bytes, seed: row.id)
            try putInPlace(row) { (row) throws(StoreError) in try tables.insert(row, body: bytes, lastAccess: time) }
        }
    }

    private func insert(_ row: ResponseRow) throws(StoreError) {
        try putInPlace(row) { (row) throws(StoreError) in
            try tables?.insert(row, body: UnsafeRawBufferPointer(start: nil, count: 0), lastAccess: Clock.seconds())
        }
    }

    private func freshen(_ response: StoredResponse, _ hash: KeyHash) throws(StoreError) {
        // Only memory has the freshened response if the row was deleted or is damaged, or if it was purged and is about to be deleted.
        guard let tables, var row = try tables.parts(ofRow: response.row), row.keyHash == hash,
            row.state == .complete || row.state == .partial, core.purges.active.leave(row)
        else { return }
        let extents = row.bodyID < 0 ? try tables.extents.all(ofRow: row.id) : nil
        row.extentBytes = extents?.byteCount
        let variant = row.variant
        row.facts = []
        response.facts.encode(into: &row.facts)
        tables.chains.release(row.chain)
        row.chain = try tables.chains.number(of: response.chain)
        row.encodeHead(of: response)
        row.nominated = response.nominatedFields
        row.variant = core.memory.hasher.variant(ofNominated: row.nominated)
        if row.variant != variant {
            // A partial response does not replace complete ones.
            if row.state == .partial, let summary = try tables.row(row.id) { return try delete(summary) }
            try move(row)
        }
        try tables.freshen(row)
        if row.state == .partial, let extents {
            transaction.partials.append(.kept(PartialResponse(response, extents: extents.ranges), hash))
        }
    }

    /// Changes the variant of a row, replacing a row that has this variant.
    private func move(_ moved: ResponseRow) throws(StoreError) {
        guard let tables, var place = try tables.row(moved.id) else { return }
        for row in try tables.rows(ofKey: moved.keyHash) where row.state == .complete && row.id != moved.id {
            if row.variant == moved.variant { try delete(row) }
        }
        try putInPlace(moved) { (row) throws(StoreError) in try tables.setVariant(row) }
        // If the reading of keys has stopped between the row's old and new positions, it would see the row at neither position.
        guard let keyCursor, moved.id < firstRow, !keyCursor.hasPassed(place) else { return }
        place.variant = moved.variant
        if keyCursor.hasPassed(place) { core.memory.noteStoredKey(moved.keyHash) }
    }

    private func invalidate(_ hash: KeyHash) throws(StoreError) {
        guard let tables else { return }
        for row in try tables.rows(ofKey: hash) {
            switch row.state {
            case .complete, .partial: try delete(row)
            case .pending: try dropAbandoned(row)
            case .dropped: break
            }
        }
    }

    /// Deletes the complete and partial responses that a new response replaces: those of its variant.
    /// - Returns: `false` if one of them is newer: nothing is deleted then, and the response is not stored.
    /// - Parameter spared: the row in which the response will be stored.
    func replace(
        _ hash: KeyHash, by response: StoredResponse, variant: Int64, sparing spared: StoredRowID = 0
    ) throws(StoreError) -> Bool {
        guard let tables else { return false }
        let rows = try tables.rows(ofKey: hash).filter { ($0.state == .complete || $0.state == .partial) && $0.id != spared }
        let replaced = rows.filter { $0.variant == variant }
        for row in replaced where row.state == .complete {
            guard let parts = try tables.parts(ofRow: row.id), core.purges.active.leave(parts) else { continue }
            if parts.response(body: .bytes([]))?.supersedes(response) ?? false { return false }
        }
        for row in replaced { try delete(row) }
        let others = rows.filter { $0.variant != variant && $0.state == .complete }
        for row in others.prefix(max(0, others.count - (max(1, response.variantLimit) - 1))) { try delete(row) }
        return true
    }

    /// Deletes a response. Its chunks are deleted later, in slices.
    /// - Parameter forgetting: whether to remove it from memory too.
    func delete(_ row: WritingTables.RowSummary, forgetting: Bool = false) throws(StoreError) {
        guard let tables else { return }
        if isNoted(row) { transaction.gone.append(row.keyHash) }
        if row.state == .partial { transaction.partials.append(.gone(row.id)) }
        if forgetting { transaction.dropped.append((row.id, row.keyHash)) }
        if row.bodyID == 0 {
            try tables.delete(row: row.id)
        } else if row.bodyID < 0 {
            try dropExtents(of: row)
        } else {
            try tables.drop(row: row.id)
            transaction.dropping.append(DroppedBody(row: row.id, body: row.id, count: try chunkCount(of: row)))
        }
    }

    /// The maximum number of chunks of a body. Its length has not been verified: if it is impossible, the chunks are searched.
    private func chunkCount(of row: WritingTables.RowSummary) throws(StoreError) -> Int {
        if (0...Chunk.bodyLimit).contains(row.bodyLength) { return Chunk.count(forLength: UInt64(row.bodyLength)) }
        return try tables?.end(ofBody: row.id).map { $0.number + 1 } ?? 0
    }

    /// Writes a row with its unique values. `replace` has freed them: a row that still has them is corrupt and is deleted.
    func putInPlace(
        _ row: ResponseRow, _ statement: (ResponseRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        do { try statement(row) } catch {
            guard error.code == .constraint, let tables else { throw error }
            for other in try tables.rows(ofKey: row.keyHash) where other.id != row.id && other.isInPlace(of: row) {
                noteDamagedEntry()
                try delete(other, forgetting: true)
            }
            try statement(row)
        }
    }

    private func noteDamagedEntry() {
        core.counters.damagedEntries.wrappingAdd(1, ordering: .relaxed)
        notices.tell(.damagedEntry("a stored response was damaged; Larder deleted it"), kind: .damagedEntry)
    }

    /// Whether memory has noted the row's key.
    private func isNoted(_ row: WritingTables.RowSummary) -> Bool {
        switch row.state {
        case .complete: row.id >= firstRow || keyCursor?.hasPassed(row) ?? true
        case .partial: row.id >= firstRow || notedPartials.contains(row.id)
        case .pending, .dropped: false
        }
    }

    // MARK: Pending responses

    /// - Returns: whether the pending response has ended.
    private func write(_ work: PendingWork, of pending: PendingResponse) throws(StoreError) -> Bool {
        switch work {
        case .run(let run):
            if run.isFirst { try insertPending(pending) }
            try write(run, of: pending)
            transaction.runs.append((pending, run))
            return false
        case .complete(let run, let length, let whole, let trailers):
            try complete(pending, run, length: length, whole: whole, trailers: trailers)
            return true
        case .keepPartial(let run, let length):
            try keepPartial(pending, run, length: length)
            return true
        case .discard:
            try discard(pending)
            transaction.ended.append((pending, nil, isPart: false))
            return true
        case .keepInMemory(let chunks, let trailers):
            pending.keepInMemory(chunks, trailers: trailers)
            return false
        }
    }

    private func insertPending(_ pending: PendingResponse) throws(StoreError) {
        row.fill(from: pending.plan.response, pending.keyHash, core.memory.hasher)
        row.chain = try tables?.chains.number(of: pending.plan.response.chain) ?? 0
        row.id = pending.row
        row.bodyID = pending.row
        row.state = .pending
        row.generation = -pending.row
        row.bodyLength = Int64(clamping: pending.plan.wholeLength ?? 0)
        try insert(row)
        try tables?.set(size: 0, ofRow: row.id)
        guard let part = pending.plan.part else { return }
        try tables?.extents.put(ExtentRow(id: row.id, response: row.id, base: part.start, length: 0))
    }

    private func write(_ run: PendingRun, of pending: PendingResponse) throws(StoreError) {
        guard let tables else { return }
        for (index, chunk) in run.chunks.enumerated() {
            try chunk.withBytes(0..<chunk.count) { (bytes) throws(StoreError) in
                try tables.insert(chunk: run.firstChunk + index, ofBody: pending.row, bytes)
            }
        }
        let start = UInt64(run.firstChunk) * UInt64(Chunk.length)
        transaction.byteCount += Int(run.end - start)
        try tables.set(size: Int64(run.end), ofRow: pending.row)
    }

    private func complete(
        _ pending: PendingResponse, _ run: PendingRun, length: UInt64, whole: [BodyChunk]?, trailers: Fields
    ) throws(StoreError) {
        guard let tables else { return }
        let bytes = whole.flatMap { length <= UInt64(core.configuration.memoryBodyLimit) ? $0.joinedBytes : nil }
        let body: StoredBody =
            bytes.map { .bytes($0) } ?? .onDisk(core.holds.held(BodyReference(id: pending.row, length: length)))
        let response = pending.response(body: body, trailers: trailers)
        row.fill(from: response, pending.keyHash, core.memory.hasher)
        row.chain = try tables.chains.number(of: response.chain)
        guard try replace(pending.keyHash, by: response, variant: row.variant) else {
            try discard(pending)
            transaction.ended.append((pending, nil, isPart: false))
            return
        }
        if let bytes, run.isFirst, bytes.count <= StoreLimits.inlineBodyLength {
            try insertInline(bytes)
            transaction.byteCount += bytes.count
        } else {
            row.bodyID = pending.row
            if run.isFirst { try insert(row) }
            try write(run, of: pending)
            try putInPlace(row) { (row) throws(StoreError) in try tables.finish(row, lastAccess: Clock.seconds()) }
        }
        transaction.storedCount += 1
        transaction.expected.append(pending.keyHash)
        transaction.ended.append((pending, response, isPart: false))
    }

    private func keepPartial(_ pending: PendingResponse, _ run: PendingRun, length: UInt64) throws(StoreError) {
        if run.isFirst { try insertPending(pending) }
        try write(run, of: pending)
        let partialCount = transaction.partialCount
        let response = try join(pending.row, base: pending.plan.part?.start ?? 0, length: length)
        if response == nil, transaction.partialCount == partialCount { transaction.supersededCount += 1 }
        transaction.ended.append((pending, response, isPart: true))
    }

    /// Deletes the row of a pending response that is discarded. Does nothing if the row is complete or partial by now: it is then
    /// deleted like any other row.
    private func discard(_ pending: PendingResponse) throws(StoreError) {
        guard let tables, let row = try tables.row(pending.row), row.state == .pending || row.state == .dropped else { return }
        try discardPending(row)
    }

    /// Drops the row of a body that is no longer kept. Its chunks stay for readers. If this process is killed before the readers have
    /// finished, the next process must not treat the row as a partial response.
    func dropAbandoned(_ row: WritingTables.RowSummary) throws(StoreError) {
        let isStoring = core.pendingResponses.all(of: row.keyHash).contains { $0.row == row.id && $0.isStoring }
        if !isStoring { try tables?.drop(row: row.id) }
    }

    /// Deletes a pending response's row and all its chunks.
    func discardPending(_ row: WritingTables.RowSummary) throws(StoreError) {
        guard let tables else { return }
        var row = row
        let end = try tables.end(ofBody: row.bodyID)
        row.bodyLength = end.map { Int64($0.number) * Int64(Chunk.length) + Int64($0.length) } ?? 0
        try tables.extents.delete(row.id)
        try delete(row)
    }
}

extension [BodyChunk] {
    /// The chunks joined into one array.
    var joinedBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(reduce(0) { $0 + $1.count })
        for chunk in self { chunk.withBytes(0..<chunk.count) { bytes.append(contentsOf: $0) } }
        return bytes
    }
}
