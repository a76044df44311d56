import HTTPCaching
import SQLiteDatabase

/// The writer's statements. A failed statement throws an error; the caller must then end the transaction.
final class WritingTables {
    /// The data needed to delete a row.
    struct RowSummary {
        var id: StoredRowID
        var keyHash: KeyHash
        var variant: Int64
        var generation: Int64
        var state: ResponseRow.State
        var size: Int64
        var bodyID: Int64
        var bodyLength: Int64

        /// Whether this row has the key hash, variant and generation of the other row. No two rows may have the same three values.
        func isInPlace(of row: ResponseRow) -> Bool {
            keyHash == row.keyHash && variant == row.variant && generation == row.generation
        }
    }

    /// A position in the index by key, for reading it in slices.
    struct KeyCursor {
        var hash = KeyHash(low: 0, high: 0)
        var variant = Int64.min
        var generation = Int64.min

        /// Whether the cursor has passed the row's position in the index.
        func hasPassed(_ row: RowSummary) -> Bool {
            let left = (row.keyHash.high, row.keyHash.low)
            let right = (hash.high, hash.low)
            return left == right ? (row.variant, row.generation) <= (variant, generation) : left < right
        }
    }

    let connection: Connection
    let extents: ExtentStatements
    let chains: ChainStatements
    let chainReading: ChainReading
    /// The totals of the file, including the changes of the current transaction.
    private(set) var totals: Totals
    private var committedTotals: Totals
    /// Whether the file's totals were damaged on opening and were computed again from the rows.
    let haveBeenCounted: Bool
    /// Whether the totals may differ from the sum of the rows.
    private var mustCount = false
    private let begin, commit, rollback: Statement
    private let insertRow, completeRow, setHead, setVariant, setSize, setAccess, deleteRow, dropRow, sizeOfRow: Statement
    private let insertChunk, deleteChunks: Statement
    private let rowByID, rowsByKey, oldestRows, unfinishedRows, keysAfter, partsOfRow, lastChunk: Statement
    private let setTotals: Statement
    let insertPurge, setPurge, deletePurge: Statement
    let pages: RowPages

    private static let summary = "id, key_hash, variant, generation, state, size, body_id, body_length"

    init(_ connection: Connection, _ directory: ChainDirectory) throws(StoreError) {
        self.connection = connection
        extents = try ExtentStatements(connection)
        chains = try ChainStatements(connection)
        chainReading = try ChainReading(connection, directory)
        let kept = try Totals(of: connection)
        totals = kept ?? Totals()
        committedTotals = totals
        haveBeenCounted = kept == nil
        let summary = WritingTables.summary
        begin = try connection.prepare("BEGIN IMMEDIATE")
        commit = try connection.prepare("COMMIT")
        rollback = try connection.prepare("ROLLBACK")
        insertRow = try connection.prepare("INSERT INTO response VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
        completeRow = try connection.prepare(
            """
            UPDATE response SET generation=?2, state=?3, body_length=?4, checksum=?5, head=?6, last_access=?7, chain=?8 WHERE id=?1
            """)
        setHead = try connection.prepare("UPDATE response SET checksum=?2, facts=?3, head=?4, chain=?5 WHERE id=?1")
        setVariant = try connection.prepare("UPDATE response SET variant=?2, nominated=?3 WHERE id=?1")
        setSize = try connection.prepare("UPDATE response SET size=?2 WHERE id=?1")
        setAccess = try connection.prepare("UPDATE response SET last_access=?2 WHERE id=?1 AND last_access<?2")
        deleteRow = try connection.prepare("DELETE FROM response WHERE id=? RETURNING chain")
        dropRow = try connection.prepare("UPDATE response SET state=3, generation=-id, size=0, last_access=1<<62 WHERE id=?")
        sizeOfRow = try connection.prepare("SELECT size FROM response WHERE id=? AND state<>3")
        // REPLACE is safe here, because an existing chunk with this id belongs to no row.
        insertChunk = try connection.prepare("INSERT OR REPLACE INTO chunk VALUES(?,?,?)")
        deleteChunks = try connection.prepare("DELETE FROM chunk WHERE id>=? AND id<?")
        rowByID = try connection.prepare("SELECT \(summary) FROM response WHERE id=?")
        rowsByKey = try connection.prepare("SELECT \(summary) FROM response WHERE key_hash=?")
        oldestRows = try connection.prepare(
            "SELECT \(summary) FROM response INDEXED BY response_access WHERE state IN (1, 2) ORDER BY last_access LIMIT ?")
        unfinishedRows = try connection.prepare(
            "SELECT \(summary) FROM response INDEXED BY response_unfinished WHERE state<>1 AND id>? AND id<? ORDER BY id LIMIT ?")
        keysAfter = try connection.prepare(
            """
            SELECT key_hash, variant, generation, id FROM response INDEXED BY response_selection \
            WHERE (key_hash, variant, generation) > (?,?,?) ORDER BY key_hash, variant, generation LIMIT ?
            """)
        partsOfRow = try connection.prepare(
            """
            SELECT variant, generation, state, origin, body_id, body_length, body_checksum, trust, chain, facts, key, nominated, \
            head, checksum, key_hash, tags FROM response WHERE id=?
            """)
        lastChunk = try connection.prepare(
            "SELECT id, length(data) FROM chunk WHERE id>=?1 AND id<?2 ORDER BY id DESC LIMIT 1")
        setTotals = try connection.prepare("INSERT OR REPLACE INTO totals VALUES(1,?,?,?)")
        insertPurge = try connection.prepare("INSERT INTO purge VALUES(?,?,?,?,0,0,?,?)")
        setPurge = try connection.prepare("UPDATE purge SET cursor=?2, count=?3 WHERE id=?1")
        deletePurge = try connection.prepare("DELETE FROM purge WHERE id=?")
        pages = try RowPages(connection)
        guard haveBeenCounted else { return }
        totals = try countRows()
        committedTotals = totals
        try write(totals)
    }

    // MARK: Transactions

    func beginTransaction() throws(StoreError) { try begin.run() }

    func commitTransaction() throws(StoreError) {
        try commit.run()
        committedTotals = totals
        chains.didCommit()
    }

    /// Rolls back a failed transaction, unless SQLite has already done so.
    func rollBack() {
        totals = committedTotals
        chains.didRollBack()
        mustCount = false
        if connection.isAutocommit { return }
        do { try rollback.run() } catch {
            // The error is ignored: the next statement fails for the same reason, and its caller handles that.
        }
    }

    // MARK: Sizes and totals

    // Rows are inserted, resized, dropped and deleted only in this file, and each of these updates the totals.

    /// Sets the size that the totals count for a row.
    func set(size: Int64, ofRow id: StoredRowID) throws(StoreError) {
        guard let old = try countedSize(ofRow: id), old != size else { return }
        setSize.bind(1, id)
        setSize.bind(2, size)
        try setSize.run()
        totals.bytes += size
        uncount(old)
    }

    /// Notes that the totals may be wrong. They are then computed from the rows before they are next written.
    func doubtTotals() { mustCount = true }

    /// Writes the totals if they have changed. Impossible totals are first computed again from the rows.
    /// - Returns: whether the totals differed from the sum of the rows.
    func writeTotals() throws(StoreError) -> Bool {
        var wereWrong = false
        if mustCount || !totals.arePossible {
            let counted = try countRows()
            wereWrong = counted != totals
            totals = counted
            mustCount = false
        }
        if totals != committedTotals { try write(totals) }
        return wereWrong
    }

    private func write(_ totals: Totals) throws(StoreError) {
        setTotals.bind(1, totals.entries)
        setTotals.bind(2, totals.bytes)
        setTotals.bind(3, totals.checksum)
        try setTotals.run()
    }

    private func countRows() throws(StoreError) -> Totals {
        // Sizes have no checksum, and wrong sizes could make the sum overflow.
        try connection.execute("UPDATE response SET size=0 WHERE size<0 OR size>\(WritingTables.sizeLimit)")
        return try Totals(counting: connection)
    }

    /// - Returns: `nil` for a row that the totals do not include: the row is dropped or missing.
    private func countedSize(ofRow id: StoredRowID) throws(StoreError) -> Int64? {
        sizeOfRow.bind(1, id)
        defer { sizeOfRow.reset() }
        return try sizeOfRow.step() ? sizeOfRow.integer(0) : nil
    }

    private func uncount(_ size: Int64) {
        if size < 0 || size > WritingTables.sizeLimit { return doubtTotals() }
        totals.bytes -= size
    }

    private func uncount(row id: StoredRowID) throws(StoreError) {
        guard let size = try countedSize(ofRow: id) else { return }
        totals.entries -= 1
        uncount(size)
    }

    /// A row with a larger size is wrong: the limit is more than the longest body.
    private static let sizeLimit: Int64 = 1 << 40

    // MARK: Responses

    func insert(_ row: ResponseRow, body: UnsafeRawBufferPointer, lastAccess: Int64) throws(StoreError) {
        let statement = insertRow
        statement.bind(1, row.id)
        row.keyHash.withBytes { statement.bind(2, copying: $0) }
        statement.bind(3, row.variant)
        statement.bind(4, row.generation)
        statement.bind(5, row.state.rawValue)
        statement.bind(6, lastAccess)
        statement.bind(7, row.size)
        statement.bind(8, row.origin)
        statement.bind(9, row.bodyID)
        statement.bind(10, row.bodyLength)
        statement.bind(11, row.checksum)
        statement.bind(12, row.bodyChecksum)
        statement.bind(13, row.trust)
        statement.bind(14, row.chain)
        statement.bind(15, copying: row.facts.span)
        statement.bind(16, copying: row.key.span)
        statement.bind(17, copying: row.nominated.span)
        statement.bind(18, copying: row.tags.span)
        statement.bind(19, copying: row.head.span)
        statement.bind(20, borrowing: body)
        try statement.run()
        totals.entries += 1
        totals.bytes += row.size
    }

    /// Writes a row whose response is no longer pending.
    func finish(_ row: ResponseRow, lastAccess: Int64) throws(StoreError) {
        try set(size: row.size, ofRow: row.id)
        completeRow.bind(1, row.id)
        completeRow.bind(2, row.generation)
        completeRow.bind(3, row.state.rawValue)
        completeRow.bind(4, row.bodyLength)
        completeRow.bind(5, row.checksum)
        completeRow.bind(6, copying: row.head.span)
        completeRow.bind(7, lastAccess)
        completeRow.bind(8, row.chain)
        try completeRow.run()
    }

    /// Updates a row when extents are joined to it.
    func join(_ row: ResponseRow, lastAccess: Int64) throws(StoreError) {
        try set(size: row.size, ofRow: row.id)
        try extents.set(row, lastAccess: lastAccess)
    }

    func freshen(_ row: ResponseRow) throws(StoreError) {
        try set(size: row.size, ofRow: row.id)
        setHead.bind(1, row.id)
        setHead.bind(2, row.checksum)
        setHead.bind(3, copying: row.facts.span)
        setHead.bind(4, copying: row.head.span)
        setHead.bind(5, row.chain)
        try setHead.run()
    }

    /// Changes the variant of a row. No other complete row may have that variant.
    func setVariant(_ row: ResponseRow) throws(StoreError) {
        setVariant.bind(1, row.id)
        setVariant.bind(2, row.variant)
        setVariant.bind(3, copying: row.nominated.span)
        try setVariant.run()
    }

    func set(lastAccess: Int64, ofRow id: StoredRowID) throws(StoreError) {
        setAccess.bind(1, id)
        setAccess.bind(2, lastAccess)
        try setAccess.run()
    }

    func delete(row id: StoredRowID) throws(StoreError) {
        try uncount(row: id)
        deleteRow.bind(1, id)
        if try deleteRow.step() { chains.release(deleteRow.integer(0)) }
        deleteRow.reset()
    }

    /// Marks a row as dropped. It stays until its chunks are deleted.
    func drop(row id: StoredRowID) throws(StoreError) {
        try uncount(row: id)
        dropRow.bind(1, id)
        try dropRow.run()
    }

    func row(_ id: StoredRowID) throws(StoreError) -> RowSummary? {
        rowByID.bind(1, id)
        return try summaries(rowByID).first
    }

    /// The rows of a key, in order of insertion. If there are none, this costs one index lookup.
    func rows(ofKey hash: KeyHash) throws(StoreError) -> [RowSummary] {
        hash.withBytes { rowsByKey.bind(1, copying: $0) }
        return try summaries(rowsByKey).sorted { $0.id < $1.id }
    }

    func oldest(_ count: Int) throws(StoreError) -> [RowSummary] {
        oldestRows.bind(1, Int64(count))
        return try summaries(oldestRows)
    }

    func unfinished(after first: StoredRowID, before end: StoredRowID, limit: Int) throws(StoreError) -> [RowSummary] {
        unfinishedRows.bind(1, first)
        unfinishedRows.bind(2, end)
        unfinishedRows.bind(3, Int64(limit))
        return try summaries(unfinishedRows)
    }

    /// Everything in a row except its body, verified.
    /// - Returns: `nil` if the row is missing or corrupt.
    func parts(ofRow id: StoredRowID) throws(StoreError) -> ResponseRow? {
        partsOfRow.bind(1, id)
        defer { partsOfRow.reset() }
        guard try partsOfRow.step() else { return nil }
        let query = partsOfRow
        guard let state = ResponseRow.State(rawValue: query.integer(2)), let hash = query.withBytes(14, { KeyHash($0) }) else {
            return nil
        }
        let row = ResponseRow(
            id: id, keyHash: hash, variant: query.integer(0), generation: query.integer(1), state: state,
            origin: query.integer(3), bodyID: query.integer(4), bodyLength: query.integer(5), bodyChecksum: query.integer(6),
            trust: query.integer(7), chain: query.integer(8), facts: query.bytes(9), key: query.bytes(10),
            nominated: query.bytes(11), tags: query.bytes(15), head: query.bytes(12))
        return row.checksum == query.integer(13) ? row : nil
    }

    /// The next keys of live rows after the cursor, with the ids of their rows.
    /// - Returns: `false` if there are no more.
    func readKeys(
        after cursor: inout KeyCursor, limit: Int, _ body: (KeyHash, StoredRowID) -> Void
    ) throws(StoreError) -> Bool {
        cursor.hash.withBytes { keysAfter.bind(1, copying: $0) }
        keysAfter.bind(2, cursor.variant)
        keysAfter.bind(3, cursor.generation)
        keysAfter.bind(4, Int64(limit))
        defer { keysAfter.reset() }
        var count = 0
        while try keysAfter.step() {
            guard let hash = keysAfter.withBytes(0, { KeyHash($0) }) else { throw damage("a key's hash has a wrong length") }
            cursor = KeyCursor(hash: hash, variant: keysAfter.integer(1), generation: keysAfter.integer(2))
            if cursor.generation >= 0 { body(hash, keysAfter.integer(3)) }
            count += 1
        }
        return count == limit
    }

    // MARK: Chunks

    func insert(chunk number: Int, ofBody body: Int64, _ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        let id = Chunk.id(ofBody: body, number: number)
        insertChunk.bind(1, id)
        insertChunk.bind(2, Checksum.of(bytes, seed: id))
        insertChunk.bind(3, borrowing: bytes)
        try insertChunk.run()
    }

    func deleteChunks(_ numbers: Range<Int>, ofBody body: Int64) throws(StoreError) {
        deleteChunks.bind(1, Chunk.id(ofBody: body, number: numbers.lowerBound))
        deleteChunks.bind(2, Chunk.id(ofBody: body, number: numbers.lowerBound) + Int64(numbers.count))
        try deleteChunks.run()
    }

    /// The end of a body: the number of its last chunk, and that chunk's length.
    func end(ofBody body: Int64) throws(StoreError) -> (number: Int, length: Int)? {
        lastChunk.bind(1, Chunk.id(ofBody: body, number: 0))
        lastChunk.bind(2, Chunk.id(ofBody: body + 1, number: 0))
        defer { lastChunk.reset() }
        guard try lastChunk.step() else { return nil }
        return (Int(lastChunk.integer(0) & Int64(Chunk.limit - 1)), Int(lastChunk.integer(1)))
    }

    // MARK: Row ids

    /// An id above all ids that the file has used.
    func nextID() throws(StoreError) -> StoredRowID {
        let row = try connection.integer("SELECT max(id) FROM response") ?? 0
        let chunk = try connection.integer("SELECT max(id) FROM chunk") ?? 0
        // A purge applies to all rows below its boundary, so later rows must get higher ids.
        let purge = try connection.integer("SELECT max(boundary) FROM purge") ?? 0
        let next = max(row, chunk >> 20, purge) + 1
        guard next > 0, next < 1 << 42 else { throw damage("the row ids are damaged") }
        return next
    }

    func damage(_ message: String) -> StoreError { StoreError(.damaged, path: connection.path, message: message) }

    private func summaries(_ query: Statement) throws(StoreError) -> [RowSummary] {
        var rows: [RowSummary] = []
        defer { query.reset() }
        while try query.step() {
            guard let hash = query.withBytes(1, { KeyHash($0) }) else { throw damage("a row is invalid") }
            rows.append(
                RowSummary(
                    id: query.integer(0), keyHash: hash, variant: query.integer(2), generation: query.integer(3),
                    state: ResponseRow.State(stored: query.integer(4)), size: query.integer(5), bodyID: query.integer(6),
                    bodyLength: query.integer(7)))
        }
        return rows
    }
}
