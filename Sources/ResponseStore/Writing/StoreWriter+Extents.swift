import HTTPCaching

/// How partial bodies are joined in the file: extents of one representation, with one strong entity tag (RFC 9111 §3.3, §3.4). Once
/// nothing is missing, the response is like any other.
extension StoreWriter {
    /// Joins the bytes in a pending response's chunks with the stored extents of the same representation, or stores them as its first
    /// extent.
    /// - Parameter base: where in the representation the bytes begin.
    /// - Returns: the response, if it is now complete.
    func join(_ id: StoredRowID, base: UInt64, length: UInt64) throws(StoreError) -> StoredResponse? {
        guard let tables, let own = try tables.parts(ofRow: id), length > 0, own.bodyLength > 0,
            core.purges.active.leave(own), base + length <= UInt64(own.bodyLength), let response = own.response(body: .bytes([])),
            response.strongTag != nil
        else { return try discardJoined(id) }
        var target = own
        var targetTime = response.requestTime
        var extents = ExtentSet([])
        for row in try tables.rows(ofKey: own.keyHash) where row.variant == own.variant && row.id != id {
            if row.state == .complete, try holds(row, what: response) { return try discardJoined(id) }
            guard row.state == .partial else { continue }
            guard let parts = try tables.parts(ofRow: row.id), let stored = parts.response(body: .bytes([])),
                let found = try tables.extents.all(ofRow: row.id)
            else {
                try delete(row)
                continue
            }
            guard parts.key == own.key else { continue }
            if !core.purges.active.leave(parts) {
                try delete(row)
            } else if parts.bodyLength == own.bodyLength, stored.isOfSameRepresentation(as: response) {
                (target, targetTime, extents) = (parts, stored.requestTime, found)
            } else if stored.requestTime > response.requestTime {
                return try discardJoined(id)
            } else {
                try delete(row)
            }
        }
        var extent = ExtentRow(id: id, response: target.id, base: base, length: length)
        let isNewer = response.requestTime >= targetTime
        guard let replaced = extents.insert(extent) else {
            let none = try discardJoined(id)
            guard target.id != id, isNewer else { return none }
            // The bytes of this extent are already stored; the response only confirms that they are still valid.
            takeOver(own, into: &target)
            return try settle(target, extents)
        }
        extent.range = extents.rows.first { $0.id == id }?.range ?? extent.range
        for row in replaced { try drop(row) }
        try tables.extents.put(extent)
        if target.id == id {
            try makeRoomForPartial()
            transaction.expected.append(own.keyHash)
        } else {
            try tables.delete(row: id)
            if isNewer { takeOver(own, into: &target) } else { dropChain(of: &target, unlessAlso: own.chain) }
        }
        return try settle(target, extents)
    }

    /// Uses the newer head, which applies to the whole response.
    private func takeOver(_ newer: ResponseRow, into target: inout ResponseRow) {
        dropChain(of: &target, unlessAlso: newer.chain)
        (target.facts, target.head) = (newer.facts, newer.head)
    }

    /// Removes the recorded chain if the other part was received under a different chain: a response received under two chains is stored
    /// with neither.
    private func dropChain(of target: inout ResponseRow, unlessAlso chain: Int64) {
        if target.chain == chain { return }
        tables?.chains.release(target.chain)
        target.chain = 0
    }

    /// Writes the response in its new state, complete or still partial.
    private func settle(_ row: ResponseRow, _ extents: ExtentSet) throws(StoreError) -> StoredResponse? {
        guard let tables else { return nil }
        var row = row
        row.bodyID = -row.id
        row.extentBytes = extents.byteCount
        let whole = UInt64(row.bodyLength)
        let isWhole = extents.covers(whole)
        row.state = isWhole ? .complete : .partial
        row.generation = isWhole ? 0 : -row.id
        let chain = try tables.chainReading.chain(row.chain)
        let body = core.holds.held(BodyReference(id: row.bodyID, length: whole))
        guard let response = row.response(body: .onDisk(body), chain: chain) else { return nil }
        if isWhole {
            guard try replace(row.keyHash, by: response, variant: row.variant, sparing: row.id) else {
                if let summary = try tables.row(row.id) { try deleteJoined(summary) }
                return nil
            }
        }
        try putInPlace(row) { (row) throws(StoreError) in try tables.join(row, lastAccess: Clock.seconds()) }
        if isWhole {
            transaction.partials.append(.gone(row.id))
            transaction.storedCount += 1
            return response
        }
        transaction.partialCount += 1
        transaction.partials.append(.kept(PartialResponse(response, extents: extents.ranges), row.keyHash))
        return nil
    }

    /// Deletes a joined response, because a newer response is stored instead.
    private func deleteJoined(_ row: WritingTables.RowSummary) throws(StoreError) {
        var row = row
        row.state = .partial
        row.bodyID = -row.id
        try delete(row)
    }

    /// Whether a complete response makes the part unnecessary: it is the same representation, or was requested later.
    private func holds(_ row: WritingTables.RowSummary, what response: StoredResponse) throws(StoreError) -> Bool {
        guard let stored = try tables?.parts(ofRow: row.id)?.response(body: .bytes([])), stored.key == response.key else {
            return false
        }
        return stored.isOfSameRepresentation(as: response) || stored.requestTime > response.requestTime
    }

    private func discardJoined(_ id: StoredRowID) throws(StoreError) -> StoredResponse? {
        if let row = try tables?.row(id) { try discardPending(row) }
        return nil
    }

    /// Deletes an extent whose bytes another extent has. A hold on the response does not keep this extent, because readers use the other
    /// extent.
    private func drop(_ extent: ExtentRow) throws(StoreError) {
        try tables?.extents.orphan(extent)
        transaction.dropping.append(
            DroppedBody(row: 0, body: extent.id, count: Chunk.count(forLength: extent.length), isExtent: true))
    }

    /// Deletes the oldest partial response if there are too many.
    private func makeRoomForPartial() throws(StoreError) {
        guard let oldest = core.partials.oldestOfFull, let row = try tables?.row(oldest), row.state == .partial else { return }
        try delete(row)
    }

    // MARK: Deleting

    /// Deletes a response whose body is in extents: the extents stay for current readers, and are deleted in slices.
    func dropExtents(of row: WritingTables.RowSummary) throws(StoreError) {
        guard let tables else { return }
        for (id, count) in try tables.extents.chunkCounts(ofRow: row.id) {
            transaction.dropping.append(DroppedBody(row: row.id, body: id, count: count, isExtent: true))
        }
        try tables.extents.orphanAll(ofRow: row.id)
        try tables.delete(row: row.id)
    }

    // MARK: Rows that the previous process left

    /// Joins a pending response that has a strong validator with the stored extents of the same representation. Deletes any other
    /// pending response.
    func tidyUpPending(_ row: WritingTables.RowSummary) throws(StoreError) {
        guard let tables else { return }
        let end = try tables.end(ofBody: row.bodyID)
        let length = end.map { UInt64($0.number) * UInt64(Chunk.length) + UInt64($0.length) } ?? 0
        let base = try tables.extents.extent(row.id)?.base ?? 0
        _ = try join(row.id, base: base, length: length)
    }

    /// Adds a partial response to the directory, so that lookups find it.
    func tidyUpPartial(_ row: WritingTables.RowSummary) throws(StoreError) {
        // A pending response that was handled before may have completed or replaced this partial response.
        guard let tables, let now = try tables.row(row.id), now.state == .partial else { return }
        core.memory.noteStoredKey(row.keyHash)
        notedPartials.insert(row.id)
        guard let parts = try tables.parts(ofRow: row.id), let extents = try tables.extents.all(ofRow: row.id),
            let response = parts.response(
                body: .onDisk(core.holds.held(BodyReference(id: -row.id, length: UInt64(parts.bodyLength)))),
                chain: try tables.chainReading.chain(parts.chain))
        else { return try delete(now) }
        transaction.partials.append(.kept(PartialResponse(response, extents: extents.ranges), row.keyHash))
    }

    func tidyUpOrphans() throws(StoreError) {
        guard let tables else { return }
        try tables.chains.releaseUnused()
        for (id, count) in try tables.extents.allOrphans() {
            transaction.dropping.append(DroppedBody(row: 0, body: id, count: count, isExtent: true))
        }
    }
}
