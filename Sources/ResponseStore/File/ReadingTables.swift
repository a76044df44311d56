import HTTPCaching
import SQLiteDatabase

/// A reader's statements. Their results are verified.
final class ReadingTables {

    private let connection: Connection
    private let chains: ChainReading
    private let rowsByKey, partialRowsByKey, chunkByID, extentAt, extentsOfRow, sealOfRow: Statement

    init(_ connection: Connection, _ directory: ChainDirectory) throws(StoreError) {
        self.connection = connection
        chains = try ChainReading(connection, directory)
        func rows(inState state: ResponseRow.State) throws(StoreError) -> Statement {
            try connection.prepare(
                """
                SELECT id, variant, generation, state, origin, body_id, body_length, body_checksum, trust, chain, facts, key, \
                nominated, head, checksum, body, last_access, tags FROM response WHERE key_hash=? AND state=\(state.rawValue)
                """)
        }
        rowsByKey = try rows(inState: .complete)
        partialRowsByKey = try rows(inState: .partial)
        chunkByID = try connection.prepare("SELECT checksum, data FROM chunk WHERE id=?")
        sealOfRow = try connection.prepare("SELECT checksum FROM response WHERE id=?")
        extentsOfRow = try connection.prepare("SELECT \(ExtentRow.columns) FROM extent WHERE response=? ORDER BY first")
        // Includes the extents of a response that is being deleted, so that readers can finish.
        extentAt = try connection.prepare(
            "SELECT \(ExtentRow.columns) FROM extent WHERE response IN (?1, -?1) AND first<=?2 ORDER BY first DESC LIMIT 1")
    }

    /// The responses in the file for a key.
    struct Found {
        var responses: [StoredResponse] = []
        /// The ids of corrupt rows.
        var badRows: [StoredRowID] = []
        /// The latest access that is recorded in the file.
        var lastAccess: Int64 = 0
    }

    /// All live responses of a key, unordered, with those bodies that may be kept in memory.
    /// - Parameters:
    ///   - bodyLimit: the maximum total length of bodies read from chunks, in bytes.
    ///   - sealing: whether references to bodies that are read later contain the row's checksum, so that the row can be recognized.
    func responses(
        ofKey key: [UInt8], _ hash: KeyHash, bodyLimit: Int, sealing: Bool = false
    ) throws(StoreError) -> Found {
        var found = Found()
        var left = bodyLimit
        hash.withBytes { rowsByKey.bind(1, copying: $0) }
        // The statement is reset only after the chunks are read, so that rows and chunks come from one transaction.
        defer { rowsByKey.reset() }
        while try rowsByKey.step() {
            let row = row(rowsByKey, hash, .complete)
            guard row.checksum == rowsByKey.integer(14) else {
                found.badRows.append(row.id)
                continue
            }
            // A different key may have the same hash: that is not damage.
            guard row.key == key else { continue }
            if let body = try body(of: row, limit: &left, seal: sealing ? row.checksum : 0),
                let response = row.response(body: body, chain: try chains.chain(row.chain))
            {
                found.responses.append(response)
                found.lastAccess = max(found.lastAccess, rowsByKey.integer(16))
            } else {
                found.badRows.append(row.id)
            }
        }
        return found
    }

    /// The partial responses of a key: heads, and the ranges that are stored.
    func partials(ofKey key: [UInt8], _ hash: KeyHash) throws(StoreError) -> [PartialResponse] {
        var found: [PartialResponse] = []
        hash.withBytes { partialRowsByKey.bind(1, copying: $0) }
        // The statement is reset only after the extents are read, so that rows and extents come from one transaction.
        defer { partialRowsByKey.reset() }
        while try partialRowsByKey.step() {
            let row = row(partialRowsByKey, hash, .partial)
            guard row.checksum == partialRowsByKey.integer(14), row.key == key, row.bodyLength >= 0,
                let extents = try extents(ofRow: row.id),
                let response = row.response(
                    body: .onDisk(BodyReference(id: -row.id, length: UInt64(row.bodyLength))), chain: try chains.chain(row.chain))
            else { continue }
            found.append(PartialResponse(response, extents: extents.ranges))
        }
        return found
    }

    /// The purges whose deletions are not complete.
    func purgesUnderWay() throws(StoreError) -> [Purge] { try connection.purges().map(\.work.purge) }

    /// Calls `read` in one transaction with a check that the body's row is still the one that was looked up. The row may have been deleted,
    /// and its id reused.
    /// - Returns: `false` if the row is gone; `read` was not called then.
    func whileSealed(_ body: BodyReference, _ read: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
        // The id comes from the file and may have any value.
        guard body.id > .min else { return false }
        sealOfRow.bind(1, abs(body.id))
        // The statement is reset only after `read`, so that the check and `read` are in one transaction.
        defer { sealOfRow.reset() }
        guard try sealOfRow.step(), sealOfRow.integer(0) == body.seal else { return false }
        try read()
        return true
    }

    /// A recorded certificate chain, verified; `nil` if there is none.
    func chain(_ number: Int64) throws(StoreError) -> RecordedChain? { try chains.chain(number) }

    /// One chunk, verified.
    /// - Returns: `nil` if it is missing or corrupt.
    func chunk(_ number: Int, ofBody body: Int64) throws(StoreError) -> [UInt8]? {
        let id = Chunk.id(ofBody: body, number: number)
        chunkByID.bind(1, id)
        defer { chunkByID.reset() }
        guard try chunkByID.step() else { return nil }
        let checksum = chunkByID.integer(0)
        return chunkByID.withBytes(1) { bytes in
            bytes.count <= Chunk.length && Checksum.of(bytes, seed: id) == checksum ? [UInt8](bytes) : nil
        }
    }

    /// The extents of a response, in order.
    /// - Returns: `nil` if one is corrupt.
    func extents(ofRow row: StoredRowID) throws(StoreError) -> ExtentSet? {
        extentsOfRow.bind(1, row)
        return try ExtentSet(extentsOfRow)
    }

    /// Reads a body that is in extents: returns the verified bytes from the offset to the end of their chunk or extent.
    func piece(ofExtents body: BodyReference, at offset: UInt64) throws(StoreError) -> Piece {
        // The id comes from the file and may have any value.
        guard body.id > .min else { return .damaged }
        extentAt.bind(1, -body.id)
        extentAt.bind(2, Int64(clamping: offset))
        // The statement is reset only after the chunk is read, so that extent and chunk come from one transaction.
        defer { extentAt.reset() }
        guard try extentAt.step() else { return .missing }
        guard let extent = ExtentRow(extentAt) else { return .damaged }
        guard extent.range.contains(offset) else { return .missing }
        let place = offset - extent.base
        let number = Int(place / UInt64(Chunk.length))
        guard let bytes = try chunk(number, ofBody: extent.id) else { return .damaged }
        let start = Int(place % UInt64(Chunk.length))
        let end = min(bytes.count, start + Int(clamping: extent.range.upperBound - offset))
        return start < end ? .bytes(bytes, start..<end) : .damaged
    }

    /// The result of reading a body in extents at an offset.
    enum Piece {
        case bytes([UInt8], Range<Int>)
        /// No extent has this offset, which is normal for a partial response.
        case missing
        /// The data is corrupt.
        case damaged
    }

    private func row(_ query: Statement, _ hash: KeyHash, _ state: ResponseRow.State) -> ResponseRow {
        ResponseRow(
            id: query.integer(0), keyHash: hash, variant: query.integer(1), generation: query.integer(2), state: state,
            origin: query.integer(4), bodyID: query.integer(5), bodyLength: query.integer(6), bodyChecksum: query.integer(7),
            trust: query.integer(8), chain: query.integer(9), facts: query.bytes(10), key: query.bytes(11),
            nominated: query.bytes(12), tags: query.bytes(17), head: query.bytes(13))
    }

    /// - Returns: `nil` for a corrupt body.
    private func body(of row: ResponseRow, limit: inout Int, seal: Int64) throws(StoreError) -> StoredBody? {
        guard row.bodyLength >= 0 else { return nil }
        if row.bodyID == 0 {
            return rowsByKey.withBytes(15) { bytes in
                let isGood = bytes.count == row.bodyLength && Checksum.of(bytes, seed: row.id) == row.bodyChecksum
                return isGood ? .bytes([UInt8](bytes)) : nil
            }
        }
        let length = UInt64(row.bodyLength)
        guard length <= UInt64(max(limit, 0)) else {
            return .onDisk(BodyReference(id: row.bodyID, length: length, seal: seal))
        }
        limit -= Int(length)
        if row.bodyID < 0 { return try joinedBody(BodyReference(id: row.bodyID, length: length)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length))
        for number in 0..<Chunk.count(forLength: length) {
            guard let chunk = try chunk(number, ofBody: row.bodyID) else { return nil }
            bytes.append(contentsOf: chunk)
        }
        return UInt64(bytes.count) == length ? .bytes(bytes) : nil
    }

    private func joinedBody(_ body: BodyReference) throws(StoreError) -> StoredBody? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(body.length))
        while UInt64(bytes.count) < body.length {
            guard case .bytes(let piece, let range) = try piece(ofExtents: body, at: UInt64(bytes.count)) else { return nil }
            bytes.append(contentsOf: piece[range])
        }
        return UInt64(bytes.count) == body.length ? .bytes(bytes) : nil
    }
}
