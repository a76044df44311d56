import SQLiteDatabase

/// The tables of a snapshot (docs/decisions/0030-snapshot-schema.md). A file with any other schema is not opened.
enum SnapshotSchema {
    /// The application id in the SQLite header: `LSNP` in ASCII.
    static let applicationID: UInt32 = 0x4C53_4E50
    static let version: UInt32 = 1
    static let pageLength = 8192

    /// An entry of the schema: kind, name and SQL; the SQL is `nil` for an index that SQLite makes itself.
    struct Entry: Equatable {
        let type: String
        let name: String
        let sql: String?

        init(table name: String, _ sql: String) {
            type = "table"
            self.name = name
            self.sql = sql
        }

        init(type: String, name: String, sql: String?) {
            self.type = type
            self.name = name
            self.sql = sql
        }
    }

    /// The entries of the schema, in the order in which the file has them.
    static let entries = [
        Entry(table: "manifest", "CREATE TABLE manifest(id INTEGER PRIMARY KEY, text BLOB NOT NULL)"),
        Entry(table: "recording", "CREATE TABLE recording(id INTEGER PRIMARY KEY, row BLOB NOT NULL)"),
        Entry(
            table: "body",
            """
            CREATE TABLE body(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, length INTEGER NOT NULL, \
            pieces BLOB NOT NULL)
            """),
        Entry(type: "index", name: "sqlite_autoindex_body_1", sql: nil),
        Entry(table: "chunk", "CREATE TABLE chunk(id INTEGER PRIMARY KEY, octets BLOB NOT NULL)"),
        Entry(
            table: "chain",
            "CREATE TABLE chain(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, record BLOB NOT NULL)"),
        Entry(type: "index", name: "sqlite_autoindex_chain_1", sql: nil),
        Entry(table: "page", "CREATE TABLE page(id INTEGER PRIMARY KEY, octets BLOB NOT NULL)"),
        Entry(table: "seal", "CREATE TABLE seal(id INTEGER PRIMARY KEY, root BLOB NOT NULL)"),
        Entry(
            table: "signature", "CREATE TABLE signature(id INTEGER PRIMARY KEY, key BLOB NOT NULL, octets BLOB NOT NULL)"),
    ]

    /// Creates the tables in an empty file.
    static func create(on connection: Connection) throws(DatabaseError) {
        try connection.execute("PRAGMA page_size=\(pageLength); PRAGMA auto_vacuum=NONE; PRAGMA encoding='UTF-8'")
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
        for entry in entries {
            if let sql = entry.sql { try connection.execute(sql) }
        }
        try connection.execute("COMMIT")
    }

    /// - Returns: whether the file holds these tables and nothing else.
    static func isOurs(on connection: Connection) throws(DatabaseError) -> Bool {
        let query = try connection.prepare("SELECT type, name, tbl_name, sql IS NULL, sql FROM sqlite_master")
        var place = 0
        while try query.step() {
            // Reads no more entries than Larder writes, even if the file has more.
            guard place < entries.count else { return false }
            let expected = entries[place]
            let found = Entry(
                type: query.text(0), name: query.text(1), sql: query.integer(3) != 0 ? nil : query.text(4))
            let table =
                expected.sql == nil ? String(expected.name.dropFirst("sqlite_autoindex_".count).dropLast(2)) : expected.name
            guard found == expected, query.text(2) == table else { return false }
            place += 1
        }
        return place == entries.count
    }
}
