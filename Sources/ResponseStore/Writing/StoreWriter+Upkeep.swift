import HTTPCaching

/// What the writer does in slices between its batches, so that none of it holds up a response for long.
extension StoreWriter {
    // MARK: Chunks of dropped bodies

    var mayDeleteChunks: Bool { dropping.first.map { !core.holds.contains($0.body) } ?? false }

    func deleteChunkSlice() {
        guard var body = dropping.popFirst() else { return }
        // It is being delivered: the others first.
        if core.holds.contains(body.body) || !begin() {
            dropping.append(body)
            return
        }
        do {
            let end = min(body.next + StoreWriter.chunkSlice, body.count)
            if body.next < end { try tables?.deleteChunks(body.next..<end, ofBody: body.body) }
            body.next = end
            if end == body.count { try tables?.delete(row: body.row) }
            try commit()
            if end < body.count { dropping.append(body) }
        } catch {
            let isSameFile = error.code != .damaged
            fail(error)
            if isSameFile { dropping.append(body) }
        }
    }

    /// 8 MiB.
    private static let chunkSlice = 64

    // MARK: What the previous process left

    /// Fillings with a strong validator become partial responses; others, and dropped bodies, are deleted.
    func tidyUpSlice() {
        guard !hasTidiedUp, begin(), let tables else { return }
        do {
            let rows = try tables.unfinished(after: tidiedUpTo, before: firstRow, limit: 64)
            for row in rows {
                tidiedUpTo = row.id
                switch row.state {
                case .filling: try tidyUp(row)
                case .dropped: transaction.dropping.append(try droppedBody(row))
                case .partial, .complete: break
                }
            }
            if rows.count < 64 { hasTidiedUp = true }
            try commit()
        } catch {
            hasTidiedUp = true
            fail(error)
        }
    }

    private func tidyUp(_ row: WritingTables.RowSummary) throws(StoreError) {
        guard let tables else { return }
        let end = try tables.end(ofBody: row.bodyID)
        guard let end, let parts = try tables.parts(ofRow: row.id), let facts = ReuseFacts(decoding: parts.facts.span),
            facts.flags.contains(.strongETag)
        else { return try discardFilling(row) }
        let length = Int64(end.number) * Int64(Chunk.length) + Int64(end.length)
        try makePartial(row.id, length: length, countedSize: row.size)
        transaction.partialCount += 1
    }

    private func droppedBody(_ row: WritingTables.RowSummary) throws(StoreError) -> DroppedBody {
        let end = try tables?.end(ofBody: row.bodyID)
        return DroppedBody(row: row.id, body: row.bodyID, count: end.map { $0.number + 1 } ?? 0)
    }

    // MARK: The set of keys

    /// Reads on in the index by key. Rows of this process have been noted when they were queued.
    func readKeySlice() {
        guard var cursor = keyCursor, let tables else { return }
        do {
            let hasMore = try tables.readKeys(after: &cursor, limit: StoreWriter.keySlice) { hash, row in
                if row < firstRow { core.memory.noteStoredKey(hash) }
            }
            keyCursor = hasMore ? cursor : nil
            if !hasMore { declareKeysComplete() }
        } catch {
            keyCursor = nil
            failReading(error)
        }
    }

    private static let keySlice = 2000

    func declareKeysComplete() {
        keyCursor = nil
        core.memory.declareKeysComplete()
        core.counters.knowsKeys.store(true, ordering: .relaxed)
    }

    func failReading(_ error: StoreError) {
        transaction = Transaction()
        transaction.totalsBefore = totals
        fail(error)
    }
}
