import HTTPCaching
import SQLiteDatabase

/// The writer's statements for bodies in several extents.
final class ExtentStatements {
    /// Added to an extent's id to mark it for deletion, so that it differs from the ids of deleted responses.
    private static let replacedOffset: Int64 = 1 << 44

    private let put, delete, orphanAll, ofResponse, lengths, byID, orphans, setRow: Statement

    init(_ connection: Connection) throws(StoreError) {
        let columns = ExtentRow.columns
        put = try connection.prepare("INSERT OR REPLACE INTO extent(\(columns)) VALUES(?,?,?,?,?,?,?)")
        delete = try connection.prepare("DELETE FROM extent WHERE id=?")
        orphanAll = try connection.prepare("UPDATE extent SET response=-?1 WHERE response=?1")
        ofResponse = try connection.prepare("SELECT \(columns) FROM extent WHERE response=? ORDER BY first")
        lengths = try connection.prepare("SELECT id, length FROM extent WHERE response=?")
        byID = try connection.prepare("SELECT \(columns) FROM extent WHERE id=?")
        orphans = try connection.prepare("SELECT id, length FROM extent WHERE response<0")
        setRow = try connection.prepare(
            """
            UPDATE response SET generation=?2, state=?3, body_id=?4, body_length=?5, checksum=?6, facts=?7, head=?8, \
            last_access=?9, chain=?10 WHERE id=?1
            """)
    }

    func put(_ extent: ExtentRow) throws(StoreError) {
        put.bind(1, extent.id)
        put.bind(2, extent.response)
        put.bind(3, Int64(extent.base))
        put.bind(4, Int64(extent.length))
        put.bind(5, Int64(extent.range.lowerBound))
        put.bind(6, Int64(extent.range.upperBound))
        put.bind(7, extent.checksum)
        try put.run()
    }

    func delete(_ id: Int64) throws(StoreError) {
        delete.bind(1, id)
        try delete.run()
    }

    /// The extents of a response, in order.
    /// - Returns: `nil` if one is corrupt.
    func all(ofRow row: StoredRowID) throws(StoreError) -> ExtentSet? {
        ofResponse.bind(1, row)
        return try ExtentSet(ofResponse)
    }

    func extent(_ id: Int64) throws(StoreError) -> ExtentRow? {
        byID.bind(1, id)
        defer { byID.reset() }
        return try byID.step() ? ExtentRow(byID) : nil
    }

    /// Marks the extents of a deleted response for deletion. They stay readable for readers that have started.
    func orphanAll(ofRow row: StoredRowID) throws(StoreError) {
        orphanAll.bind(1, row)
        try orphanAll.run()
    }

    /// Marks an extent for deletion because another extent has the same bytes.
    func orphan(_ extent: ExtentRow) throws(StoreError) {
        var orphaned = extent
        orphaned.response = -(Self.replacedOffset + extent.id)
        try put(orphaned)
    }

    /// The extents that the previous process marked for deletion but did not delete. No reader can hold them.
    func allOrphans() throws(StoreError) -> [(id: Int64, chunkCount: Int)] { try chunkCounts(orphans) }

    /// The chunks of a response to delete. Nothing is verified, since corrupt ones must be deleted too.
    func chunkCounts(ofRow row: StoredRowID) throws(StoreError) -> [(id: Int64, chunkCount: Int)] {
        lengths.bind(1, row)
        return try chunkCounts(lengths)
    }

    private func chunkCounts(_ query: Statement) throws(StoreError) -> [(id: Int64, chunkCount: Int)] {
        defer { query.reset() }
        var found: [(Int64, Int)] = []
        while try query.step() {
            found.append((query.integer(0), Chunk.count(forLength: UInt64(max(0, min(query.integer(1), Chunk.bodyLimit))))))
        }
        return found
    }

    /// Updates a response's row, except its size, when extents are joined to it.
    func set(_ row: ResponseRow, lastAccess: Int64) throws(StoreError) {
        setRow.bind(1, row.id)
        setRow.bind(2, row.generation)
        setRow.bind(3, row.state.rawValue)
        setRow.bind(4, row.bodyID)
        setRow.bind(5, row.bodyLength)
        setRow.bind(6, row.checksum)
        setRow.bind(7, copying: row.facts.span)
        setRow.bind(8, copying: row.head.span)
        setRow.bind(9, lastAccess)
        setRow.bind(10, row.chain)
        try setRow.run()
    }
}
