import SQLiteDatabase

/// Statements on a snapshot's tables, each prepared at its first use. Confined to its connection's thread.
final class SnapshotTables {
    let connection: Connection
    private var prepared: [String: Statement] = [:]

    init(_ connection: Connection) { self.connection = connection }

    private func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let statement = prepared[sql] { return statement }
        let statement = try connection.prepare(sql)
        prepared[sql] = statement
        return statement
    }

    /// One value of the row that has this id; `nil` if there is no such row.
    private func octets(_ sql: String, _ id: Int64) throws(DatabaseError) -> [UInt8]? {
        let query = try statement(sql)
        query.bind(1, id)
        defer { query.reset() }
        return try query.step() ? query.bytes(0) : nil
    }

    private func insert(_ sql: String, _ id: Int64, _ octets: [UInt8]) throws(DatabaseError) {
        let insertion = try statement(sql)
        insertion.bind(1, id)
        insertion.bind(2, copying: octets.span)
        try insertion.run()
    }

    // MARK: Reading

    func manifest() throws(DatabaseError) -> [UInt8]? { try octets("SELECT text FROM manifest WHERE id = ?", 1) }
    func seal() throws(DatabaseError) -> [UInt8]? { try octets("SELECT root FROM seal WHERE id = ?", 1) }
    func recording(_ id: Int64) throws(DatabaseError) -> [UInt8]? { try octets("SELECT row FROM recording WHERE id = ?", id) }
    func chunk(_ id: Int64) throws(DatabaseError) -> [UInt8]? { try octets("SELECT octets FROM chunk WHERE id = ?", id) }

    func page(_ kind: PageKind, _ number: Int) throws(DatabaseError) -> [UInt8]? {
        try octets("SELECT octets FROM page WHERE id = ?", kind.id(of: number))
    }

    /// The rows of recordings whose ids are greater than this id, in the order of recording.
    func recordings(behind id: Int64, limit: Int64) throws(DatabaseError) -> [(id: Int64, row: [UInt8])] {
        let query = try statement("SELECT id, row FROM recording WHERE id > ? ORDER BY id LIMIT ?")
        query.bind(1, id)
        query.bind(2, limit)
        defer { query.reset() }
        var rows: [(id: Int64, row: [UInt8])] = []
        while try query.step() { rows.append((query.integer(0), query.bytes(1))) }
        return rows
    }

    struct BodyRow {
        let id: Int64
        let length: UInt64
        /// The concatenated digests of the body's pieces.
        let pieces: [UInt8]
    }

    func body(_ digest: [UInt8]) throws(DatabaseError) -> BodyRow? {
        let query = try statement("SELECT id, length, pieces FROM body WHERE digest = ?")
        query.bind(1, copying: digest.span)
        defer { query.reset() }
        guard try query.step() else { return nil }
        return BodyRow(id: query.integer(0), length: UInt64(bitPattern: query.integer(1)), pieces: query.bytes(2))
    }

    /// The digests and ids of bodies whose ids are greater than this id.
    func bodies(behind id: Int64, limit: Int64) throws(DatabaseError) -> [(id: Int64, digest: [UInt8])] {
        let query = try statement("SELECT id, digest FROM body WHERE id > ? ORDER BY id LIMIT ?")
        query.bind(1, id)
        query.bind(2, limit)
        defer { query.reset() }
        var rows: [(id: Int64, digest: [UInt8])] = []
        while try query.step() { rows.append((query.integer(0), query.bytes(1))) }
        return rows
    }

    func chain(_ digest: [UInt8]) throws(DatabaseError) -> [UInt8]? {
        let query = try statement("SELECT record FROM chain WHERE digest = ?")
        query.bind(1, copying: digest.span)
        defer { query.reset() }
        return try query.step() ? query.bytes(0) : nil
    }

    func chainDigests() throws(DatabaseError) -> [[UInt8]] {
        let query = try statement("SELECT digest FROM chain ORDER BY id")
        defer { query.reset() }
        var digests: [[UInt8]] = []
        while try query.step() { digests.append(query.bytes(0)) }
        return digests
    }

    /// Public keys with their signatures, in the order of signing; at most `SnapshotLimits.signatures`.
    func signatures() throws(DatabaseError) -> [(key: [UInt8], octets: [UInt8])] {
        let query = try statement("SELECT key, octets FROM signature ORDER BY id LIMIT ?")
        query.bind(1, Int64(SnapshotLimits.signatures))
        defer { query.reset() }
        var found: [(key: [UInt8], octets: [UInt8])] = []
        while try query.step() { found.append((query.bytes(0), query.bytes(1))) }
        return found
    }

    /// The highest id in a table; 0 if the table is empty.
    func highestID(of table: String) throws(DatabaseError) -> Int64 {
        try connection.integer("SELECT max(id) FROM \(table)") ?? 0
    }

    // MARK: Writing

    func replaceManifest(_ text: [UInt8]) throws(DatabaseError) { try insert("REPLACE INTO manifest VALUES(?, ?)", 1, text) }
    func replaceSeal(_ root: [UInt8]) throws(DatabaseError) { try insert("REPLACE INTO seal VALUES(?, ?)", 1, root) }
    func insertRecording(_ id: Int64, _ row: [UInt8]) throws(DatabaseError) {
        try insert("INSERT INTO recording VALUES(?, ?)", id, row)
    }
    func insertChunk(_ id: Int64, _ octets: [UInt8]) throws(DatabaseError) {
        try insert("INSERT INTO chunk VALUES(?, ?)", id, octets)
    }
    func insertPage(_ kind: PageKind, _ number: Int, _ octets: [UInt8]) throws(DatabaseError) {
        try insert("INSERT INTO page VALUES(?, ?)", kind.id(of: number), octets)
    }

    func updateRecording(_ id: Int64, _ row: [UInt8]) throws(DatabaseError) {
        let update = try statement("UPDATE recording SET row = ? WHERE id = ?")
        update.bind(1, copying: row.span)
        update.bind(2, id)
        try update.run()
    }

    func insertBody(_ id: Int64, digest: [UInt8], length: UInt64, pieces: [UInt8]) throws(DatabaseError) {
        let insertion = try statement("INSERT INTO body VALUES(?, ?, ?, ?)")
        insertion.bind(1, id)
        insertion.bind(2, copying: digest.span)
        insertion.bind(3, Int64(bitPattern: length))
        insertion.bind(4, copying: pieces.span)
        try insertion.run()
    }

    func insertChain(digest: [UInt8], record: [UInt8]) throws(DatabaseError) {
        let insertion = try statement("INSERT OR IGNORE INTO chain(digest, record) VALUES(?, ?)")
        insertion.bind(1, copying: digest.span)
        insertion.bind(2, copying: record.span)
        try insertion.run()
    }

    func insertSignature(key: [UInt8], octets: [UInt8]) throws(DatabaseError) {
        let insertion = try statement("INSERT INTO signature(key, octets) VALUES(?, ?)")
        insertion.bind(1, copying: key.span)
        insertion.bind(2, copying: octets.span)
        try insertion.run()
    }

    func deleteRecording(_ id: Int64) throws(DatabaseError) { try delete("DELETE FROM recording WHERE id = ?", id) }
    func deleteBody(_ id: Int64) throws(DatabaseError) {
        try delete("DELETE FROM body WHERE id = ?", id)
        try deleteChunks(ofBody: id)
    }

    func deleteChain(_ digest: [UInt8]) throws(DatabaseError) {
        let deletion = try statement("DELETE FROM chain WHERE digest = ?")
        deletion.bind(1, copying: digest.span)
        try deletion.run()
    }

    func deleteChunks(ofBody id: Int64) throws(DatabaseError) {
        let deletion = try statement("DELETE FROM chunk WHERE id >= ? AND id < ?")
        deletion.bind(1, Self.chunkID(ofBody: id, 0))
        deletion.bind(2, Self.chunkID(ofBody: id + 1, 0))
        try deletion.run()
    }

    /// Removes the data that finishing adds to the file, so that the file can be finished again.
    func removeSeal() throws(DatabaseError) {
        for table in ["seal", "signature", "page"] { try connection.execute("DELETE FROM \(table)") }
    }

    /// The id of a chunk. The chunks of a body have consecutive ids: `body << 20 | number`.
    static func chunkID(ofBody id: Int64, _ number: Int) -> Int64 { id << 20 | Int64(number) }

    private func delete(_ sql: String, _ id: Int64) throws(DatabaseError) {
        let deletion = try statement(sql)
        deletion.bind(1, id)
        try deletion.run()
    }
}
