import HTTPCaching
import SQLiteDatabase

/// Iterates over the rows of complete and partial responses in order of their ids, one page at a time, without bodies.
///
/// Each page is one read transaction.
final class RowPages {
    /// One row, valid until the next.
    struct Found {
        let row: ResponseRow
        let summary: WritingTables.RowSummary
        /// The listing's entry for the row; `nil` if the row is corrupt.
        let entry: StoredEntry?
        let lastAccess: Int64
        /// How many bytes of the body are stored; for a partial response, fewer than the body has.
        let storedLength: UInt64
    }

    private let connection: Connection
    private let query: Statement

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        query = try connection.prepare(
            """
            SELECT id, key_hash, variant, generation, state, size, origin, body_id, body_length, body_checksum, trust, chain, \
            facts, key, nominated, tags, head, checksum, last_access FROM response NOT INDEXED \
            WHERE id>? AND id<? AND state IN (1, 2) ORDER BY id LIMIT ?
            """)
    }

    /// - Parameters:
    ///   - isWanted: called with the id and key of each row before anything else is read, since most rows do not match. The values are
    ///     not verified.
    ///   - body: called for each wanted row; return `false` to end the page.
    func read(
        after first: StoredRowID, before end: StoredRowID, limit: Int,
        where isWanted: (StoredRowID, [UInt8]) -> Bool = { _, _ in true },
        _ body: (Found) throws(StoreError) -> Bool
    ) throws(StoreError) {
        query.bind(1, first)
        query.bind(2, end)
        query.bind(3, Int64(limit))
        defer { query.reset() }
        while try query.step() {
            let key = query.bytes(13)
            guard isWanted(query.integer(0), key) else { continue }
            guard try body(try found(key)) else { return }
        }
    }

    private func found(_ key: [UInt8]) throws(StoreError) -> Found {
        guard let hash = query.withBytes(1, { KeyHash($0) }) else {
            throw StoreError(.damaged, path: connection.path, message: "a row is invalid")
        }
        let state = ResponseRow.State(stored: query.integer(4))
        let row = ResponseRow(
            id: query.integer(0), keyHash: hash, variant: query.integer(2), generation: query.integer(3), state: state,
            origin: query.integer(6), bodyID: query.integer(7), bodyLength: query.integer(8), bodyChecksum: query.integer(9),
            trust: query.integer(10), chain: query.integer(11), facts: query.bytes(12), key: key,
            nominated: query.bytes(14), tags: query.bytes(15), head: query.bytes(16))
        let summary = WritingTables.RowSummary(
            id: row.id, keyHash: hash, variant: row.variant, generation: row.generation, state: state, size: query.integer(5),
            bodyID: row.bodyID, bodyLength: row.bodyLength)
        let lastAccess = query.integer(18)
        let facts = row.checksum == query.integer(17) ? ReuseFacts(decoding: row.facts.span) : nil
        // The size of a partial row includes its extents. The size comes from the file and may have any value.
        let partLength = summary.size.subtractingReportingOverflow(row.sizeWithoutBody).partialValue
        let storedLength = UInt64(max(state == .partial ? min(partLength, row.bodyLength) : row.bodyLength, 0))
        let entry = facts.map { StoredEntry(row, facts: $0, lastAccess: lastAccess, storedLength: storedLength) }
        return Found(row: row, summary: summary, entry: entry, lastAccess: lastAccess, storedLength: storedLength)
    }
}
