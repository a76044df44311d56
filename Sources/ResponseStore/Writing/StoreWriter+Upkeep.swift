import HTTPCaching

/// Work that the writer does in slices between its batches, so that it never delays a response for long.
extension StoreWriter {
    var hasUpkeep: Bool {
        keyCursor != nil || !hasTidiedUp || room.isMakingRoom || core.memory.byteCount > core.configuration.memory.high
            || mayPurge || (!isLogLong && (mayDeleteChunks || isEvicting))
    }

    func keepUp() {
        let now = Clock.monotonicMilliseconds()
        core.memory.advance(to: UInt32(truncatingIfNeeded: (now - start) / 1000))
        if core.memory.byteCount > core.configuration.memory.high {
            core.counters.memoryEvicted.wrappingAdd(core.memory.evict(hand: &hand), ordering: .relaxed)
        }
        if tables == nil { reopen(now: now) }
        resumePostponed(now: now)
        if room.isMakingRoom { makeRoom() }
        if !mustHappen.isEmpty { perform([]) }
        evict()
        purgeSlice()
        if !isLogLong { deleteChunks() }
        tidyUpSlice()
        readKeySlice()
        if now - lastAccessSweep >= 60_000 {
            lastAccessSweep = now
            recordAccesses()
        }
        room.retireLearnedMark(now: now)
    }

    private func recordAccesses() {
        var rows: [StoredRowID] = []
        core.memory.collectAccesses(olderThan: StoreCore.accessInterval, into: &rows)
        let now = Clock.seconds()
        for start in stride(from: 0, to: rows.count, by: StoreWriter.accessSlice) {
            write([.accessed(Array(rows[start..<min(start + StoreWriter.accessSlice, rows.count)]), at: now)])
        }
    }

    /// Each row may be in a page of its own: at most 16 MiB of log.
    private static let accessSlice = 1024

    // MARK: Eviction

    /// Evicts by last access: at once down to the high mark, then in slices down to the low mark, between batches and while the log is
    /// short.
    private func evict() {
        let marks = room.marks
        if totals.bytes > marks.high { isEvicting = true }
        while isEvicting {
            if isLogLong, totals.bytes <= marks.high { return }
            evictSlice(marks)
            if totals.bytes <= marks.high { return }
        }
    }

    private func evictSlice(_ marks: (high: Int64, low: Int64)) {
        guard totals.bytes > marks.low, begin(), let tables else {
            isEvicting = false
            return
        }
        do {
            var evicted = 0
            var bytes: Int64 = 0
            for row in try tables.oldest(StoreWriter.evictionSlice) where totals.bytes > marks.low && bytes < 8 << 20 {
                bytes += row.size
                try delete(row, forgetting: true)
                evicted += 1
            }
            if evicted == 0 {
                isEvicting = false
                // Nothing could be evicted although the totals are above the mark: only bodies being stored are left, or the
                // totals are wrong.
                tables.doubtTotals()
            }
            try commit()
            core.counters.evicted.wrappingAdd(evicted, ordering: .relaxed)
        } catch {
            isEvicting = false
            fail(error)
        }
    }

    private static let evictionSlice = 256

    // MARK: Chunks of dropped bodies

    /// Whether a dropped body can be deleted now. Moves bodies that are held to the end of the queue.
    var mayDeleteChunks: Bool {
        for _ in 0..<dropping.count {
            guard let body = dropping.first else { return false }
            if !body.isHeld(in: core.holds) { return true }
            _ = dropping.popFirst()
            dropping.append(body)
        }
        return false
    }

    /// Deletes one slice, and more if needed to limit how far the file exceeds its marks.
    func deleteChunks() {
        while deleteChunkSlice(), !isLogLong, droppingChunks > StoreWriter.droppingLimit {}
    }

    /// The number of chunks in one slice: 32 MiB in total.
    private static let droppingLimit = 256

    /// - Returns: whether a slice was deleted.
    func deleteChunkSlice() -> Bool {
        guard let body = dropping.popFirst() else { return false }
        // If the body is being delivered, continue with others.
        guard !body.isHeld(in: core.holds), begin() else {
            dropping.append(body)
            return false
        }
        do {
            let end = min(body.next + StoreWriter.chunkSlice, body.count)
            if body.next < end { try tables?.deleteChunks(body.next..<end, ofBody: body.body) }
            if end == body.count { try body.isExtent ? tables?.extents.delete(body.body) : tables?.delete(row: body.row) }
            try commit()
            droppingChunks -= end - body.next
            if end < body.count {
                var rest = body
                rest.next = end
                dropping.append(rest)
            }
            return true
        } catch {
            // The transaction was rolled back. If the file was replaced, there is nothing to delete.
            if error.code != .damaged { dropping.append(body) }
            fail(error)
            return false
        }
    }

    /// The number of chunks in one slice: 8 MiB in total.
    private static let chunkSlice = 64

    // MARK: Rows that the previous process left

    /// Runs before the first lookup, which would otherwise miss partial responses. Cleans up a limited number of rows; the rest is
    /// cleaned up between batches.
    func tidyUpAtOpening() {
        var slices = 0
        // A slice that fails, or a long log, would delay opening: the rest is done later in these cases too.
        while slices < StoreWriter.openingSlices, !hasTidiedUp, !isLogLong, tidyUpSlice() { slices += 1 }
    }

    /// The number of slices of 64 rows: 4,096 rows in total.
    private static let openingSlices = 64

    /// Pending responses with a strong validator are kept as partial responses; other pending responses and dropped bodies are
    /// deleted.
    /// - Returns: whether a slice was committed.
    @discardableResult
    func tidyUpSlice() -> Bool {
        guard !hasTidiedUp, begin(), let tables else { return false }
        do {
            let rows = try tables.unfinished(after: tidiedUpTo, before: firstRow, limit: 64)
            for row in rows {
                tidiedUpTo = row.id
                switch row.state {
                case .pending: try tidyUpPending(row)
                case .dropped:
                    try tables.extents.delete(row.id)
                    transaction.dropping.append(try droppedBody(row))
                case .partial: try tidyUpPartial(row)
                case .complete: break
                }
            }
            if rows.count < 64 {
                hasTidiedUp = true
                try tidyUpOrphans()
            }
            try commit()
            return true
        } catch {
            hasTidiedUp = true
            fail(error)
            return false
        }
    }

    private func droppedBody(_ row: WritingTables.RowSummary) throws(StoreError) -> DroppedBody {
        let end = try tables?.end(ofBody: row.bodyID)
        return DroppedBody(row: row.id, body: row.bodyID, count: end.map { $0.number + 1 } ?? 0)
    }

    // MARK: The set of keys

    /// Continues reading the index by key. Rows of this process were noted when they were queued.
    func readKeySlice() {
        // The index is read only after the partial responses are known: otherwise, their keys would seem to be absent.
        guard hasTidiedUp, var cursor = keyCursor, let tables else { return }
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
        fail(error)
    }
}
