import SQLiteDatabase

/// The tables of a store's file (docs/decisions/0002-store-schema.md).
enum Schema {
    /// The ASCII characters `LARD`.
    static let applicationID: Int64 = 0x4C41_5244
    static let version: Int64 = 3

    /// The kind of content in a file that SQLite can read.
    enum Finding: Equatable {
        case empty
        case current
        case older(Int32)
        case newer(Int32)
        case foreign
    }

    static let statements = [
        "CREATE TABLE store(id INTEGER PRIMARY KEY, secret BLOB NOT NULL, created INTEGER NOT NULL, checksum INTEGER NOT NULL)",
        "CREATE TABLE totals(id INTEGER PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL)",
        """
        CREATE TABLE certificate_chain(id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE, chain BLOB NOT NULL, \
        checksum INTEGER NOT NULL)
        """,
        """
        CREATE TABLE response(id INTEGER PRIMARY KEY, key_hash BLOB NOT NULL, variant INTEGER NOT NULL, \
        generation INTEGER NOT NULL, state INTEGER NOT NULL, last_access INTEGER NOT NULL, size INTEGER NOT NULL, \
        origin INTEGER NOT NULL, body_id INTEGER NOT NULL, body_length INTEGER NOT NULL, checksum INTEGER NOT NULL, \
        body_checksum INTEGER NOT NULL, trust INTEGER NOT NULL, chain INTEGER NOT NULL, facts BLOB NOT NULL, \
        key BLOB NOT NULL, nominated BLOB NOT NULL, tags BLOB NOT NULL, head BLOB NOT NULL, body BLOB NOT NULL)
        """,
        "CREATE UNIQUE INDEX response_selection ON response(key_hash, variant, generation)",
        "CREATE INDEX response_origin ON response(origin)",
        "CREATE INDEX response_access ON response(last_access)",
        "CREATE INDEX response_unfinished ON response(id) WHERE state <> 1",
        "CREATE INDEX response_chain ON response(chain) WHERE chain <> 0",
        "CREATE TABLE chunk(id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, data BLOB NOT NULL)",
        """
        CREATE TABLE purge(id INTEGER PRIMARY KEY, boundary INTEGER NOT NULL, time INTEGER NOT NULL, soft INTEGER NOT NULL, \
        cursor INTEGER NOT NULL, count INTEGER NOT NULL, filter BLOB NOT NULL, checksum INTEGER NOT NULL)
        """,
        """
        CREATE TABLE extent(id INTEGER PRIMARY KEY, response INTEGER NOT NULL, base INTEGER NOT NULL, length INTEGER NOT NULL, \
        first INTEGER NOT NULL, end INTEGER NOT NULL, checksum INTEGER NOT NULL)
        """,
        "CREATE INDEX extent_place ON extent(response, first)",
    ]

    /// Identifies a file by its header and the text of its schema.
    static func inspect(_ connection: Connection) throws(StoreError) -> Finding {
        let application = try connection.integer("PRAGMA application_id") ?? 0
        let version = try connection.integer("PRAGMA user_version") ?? 0
        var found: [String] = []
        let query = try connection.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        while try query.step() { found.append(query.text(0)) }
        if found.isEmpty, version == 0, application == 0 || application == applicationID { return .empty }
        let isOurText = found == statements
        if application == applicationID, version == Schema.version, isOurText { return .current }
        // The file has the schema of this version, but another version number or application id. So its header is damaged;
        // another version would have another schema.
        if isOurText { throw StoreError(.damaged, path: connection.path, message: "the file's header is damaged") }
        if application != applicationID { return .foreign }
        if version > Schema.version { return .newer(Int32(truncatingIfNeeded: version)) }
        if version < Schema.version { return .older(Int32(truncatingIfNeeded: version)) }
        throw StoreError(.damaged, path: connection.path, message: "the schema is damaged")
    }

    /// Throws unless this version wrote the file. For callers that do not change the file.
    static func expectCurrent(on connection: Connection) throws(StoreError) {
        let path = connection.path
        switch try inspect(connection) {
        case .current: break
        case .older(let version):
            throw StoreError(
                .olderSchema(version), path: path, message: "an older version of Larder wrote the store (schema \(version))")
        case .newer(let version):
            throw StoreError(
                .newerSchema(version), path: path, message: "a newer version of Larder wrote the store (schema \(version))")
        case .empty, .foreign: throw StoreError(.foreignFile, path: path, message: "the file is not a Larder store")
        }
    }

    /// Creates the tables in an empty file, in one transaction.
    static func create(on connection: Connection, secret: [UInt8]) throws(StoreError) {
        try connection.execute("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL")
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
        for statement in statements { try connection.execute(statement) }
        let store = try connection.prepare("INSERT INTO store VALUES(1, ?, ?, ?)")
        let created = Clock.seconds()
        store.bind(1, copying: secret.span)
        store.bind(2, created)
        store.bind(3, checksum(secret: secret, created: created))
        try store.run()
        let totals = try connection.prepare("INSERT INTO totals VALUES(1, 0, 0, ?)")
        totals.bind(1, Totals().checksum)
        try totals.run()
        try connection.execute("COMMIT")
    }

    /// The file's secret, verified.
    static func secret(of connection: Connection) throws(StoreError) -> [UInt8] {
        let query = try connection.prepare("SELECT secret, created, checksum FROM store WHERE id = 1")
        guard try query.step() else {
            throw StoreError(.damaged, path: connection.path, message: "the row with the store's secret is missing")
        }
        let secret = query.bytes(0)
        guard secret.count == KeyHasher.secretLength, checksum(secret: secret, created: query.integer(1)) == query.integer(2)
        else {
            throw StoreError(.damaged, path: connection.path, message: "the row with the store's secret is damaged")
        }
        return secret
    }

    private static func checksum(secret: [UInt8], created: Int64) -> Int64 {
        var checksum = Checksum(seed: 1)
        checksum.combine(secret.span)
        checksum.combine(created)
        return checksum.value
    }
}

/// The number of entries and bytes in a file, stored in a separate row.
struct Totals: Equatable, Sendable {
    var entries: Int64 = 0
    var bytes: Int64 = 0

    var checksum: Int64 {
        var checksum = Checksum(seed: 1)
        checksum.combine(entries)
        checksum.combine(bytes)
        return checksum.value
    }

    init() {}

    /// Whether these values are plausible.
    var arePossible: Bool { entries > 0 ? bytes >= 0 : entries == 0 && bytes == 0 }

    /// The file's totals; `nil` if they are missing or damaged.
    init?(of connection: Connection) throws(StoreError) {
        let query = try connection.prepare("SELECT entries, bytes, checksum FROM totals WHERE id = 1")
        guard try query.step() else { return nil }
        entries = query.integer(0)
        bytes = query.integer(1)
        guard checksum == query.integer(2) else { return nil }
    }

    /// The sum of the rows.
    init(counting connection: Connection) throws(StoreError) {
        let query = try connection.prepare("SELECT count(*), coalesce(sum(size), 0) FROM response WHERE state<>3")
        guard try query.step() else { return }
        entries = query.integer(0)
        bytes = query.integer(1)
    }
}
