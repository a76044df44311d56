import HTTPCaching

/// How the writer executes purges: it writes the mark in one transaction, which makes the purge durable, and then deletes the rows in
/// slices.
extension StoreWriter {
    /// Writes the mark of a purge by filter, so that the purge survives a crash. Executes a purge by keys at once.
    func begin(_ work: PurgeWork) throws(StoreError) {
        guard let tables else { return }
        var scan = PurgeScan(work: work, count: work.inMemoryAlone)
        for pending in core.pendingResponses.all where work.purge.mayCover(key: pending.plan.response.key) {
            if let row = try tables.row(pending.row), row.state == .pending { try dropAbandoned(row) }
        }
        guard case .keys(let keys) = work.purge.target else {
            try tables.insert(work.purge)
            return transaction.purges.append((scan, isDone: false))
        }
        for key in keys {
            for summary in try tables.rows(ofKey: core.memory.hasher.hash(key)) {
                if summary.state == .pending { try dropAbandoned(summary) }
                guard summary.state == .complete || summary.state == .partial, let row = try tables.parts(ofRow: summary.id),
                    row.key == key
                else { continue }
                if try carryOut(work.purge, on: summary, row) { scan.count += 1 }
            }
        }
        transaction.purges.append((scan, isDone: true))
    }

    /// Reports that the purge is in effect, after its mark was committed.
    func didBegin(_ scan: PurgeScan, isDone: Bool) {
        scan.work.report(.inEffect)
        if isDone { end(scan) } else { purging.append(scan) }
    }

    /// Purging waits while the log is long, so that responses are still accepted. It also waits until the rows left by the
    /// previous process are cleaned up, because unfinished purges may cover them.
    var mayPurge: Bool { !purging.isEmpty && hasTidiedUp && !isLogLong && Clock.monotonicMilliseconds() >= nextPurge }

    /// Continues with the oldest purge for some milliseconds.
    func purgeSlice() {
        guard mayPurge, begin(), let tables else { return }
        var scan = purging[0]
        do {
            let isAtEnd = try look(at: &scan, tables)
            if isAtEnd { try tables.delete(scan.work.purge) } else { try tables.write(scan) }
            try commit()
            if isAtEnd {
                purging.removeFirst()
                end(scan)
            } else {
                purging[0] = scan
            }
        } catch {
            nextPurge = Clock.monotonicMilliseconds() + StoreWriter.purgeRetryMilliseconds
            fail(error)
        }
    }

    /// Ends all purges as done: the file is gone, with everything that was to be deleted.
    func endPurges() {
        for case .purge(let work) in mustHappen {
            work.report(.inEffect)
            end(PurgeScan(work: work, count: work.inMemoryAlone))
        }
        let scans = purging
        purging = []
        for scan in scans { end(scan) }
    }

    /// Ends all purges as interrupted, because the store closes or cannot be written. The marks stay for the next process.
    func interruptPurges() {
        let interrupted = mustHappen.compactMap { if case .purge(let work) = $0 { work } else { nil } } + purging.map(\.work)
        mustHappen = []
        purging = []
        for work in interrupted { work.report(.interrupted) }
    }

    /// - Returns: whether all rows have been checked.
    private func look(at scan: inout PurgeScan, _ tables: WritingTables) throws(StoreError) -> Bool {
        let deadline = Clock.monotonicMilliseconds() + StoreWriter.purgeMilliseconds
        var carriedOut = 0
        while true {
            var covered: [(WritingTables.RowSummary, ResponseRow)] = []
            var seen = 0
            let purge = scan.work.purge
            var cursor = scan.cursor
            // A row whose key is corrupt may be skipped: a response whose checksum is wrong is never served.
            try tables.pages.read(
                after: cursor, before: purge.boundary, limit: StoreWriter.purgeSlice,
                where: { row, key in
                    seen += 1
                    cursor = row
                    return purge.mayCover(key: key)
                },
                { page in
                    // A row that cannot be read may match, so it is deleted too.
                    if page.entry.map(purge.matches) ?? true { covered.append((page.summary, page.row)) }
                    return true
                })
            scan.cursor = cursor
            // The rows are sorted in the order of the index by key, so that each index page is written once for all its rows.
            covered.sort { $0.0.keyHash.high < $1.0.keyHash.high }
            for (summary, row) in covered where try carryOut(purge, on: summary, row) { scan.count += 1 }
            if seen < StoreWriter.purgeSlice { return true }
            carriedOut += covered.count
            if carriedOut >= 2 * StoreWriter.purgeSlice { return false }
            if Clock.monotonicMilliseconds() >= deadline { return false }
        }
    }

    /// - Returns: whether the row was stored before the purge.
    private func carryOut(
        _ purge: Purge, on summary: WritingTables.RowSummary, _ row: ResponseRow
    ) throws(StoreError) -> Bool {
        guard purge.precedes(row: row.id, requestTime: row.requestTime) else { return false }
        // A soft purge deletes partial responses: they are not kept for validation.
        guard purge.isSoft, summary.state == .complete, let facts = ReuseFacts(decoding: row.facts.span) else {
            try delete(summary)
            return true
        }
        var row = row
        if row.bodyID < 0 { row.extentBytes = try tables?.extents.all(ofRow: row.id)?.byteCount }
        row.facts.removeAll(keepingCapacity: true)
        facts.madeStale(at: purge.time).encode(into: &row.facts)
        try tables?.freshen(row)
        return true
    }

    private func end(_ scan: PurgeScan) {
        core.purges.retire(scan.work.purge)
        scan.work.report(.done(count: scan.count))
    }

    private static let purgeSlice = 4096
    // With longer slices each index page is written once for more rows; new responses wait in the queue meanwhile.
    private static let purgeMilliseconds: Int64 = 200
    private static let purgeRetryMilliseconds: Int64 = 1000
}
