import Glibc
import HTTPMessage
import SQLiteDatabase
import ServerTrust

/// A snapshot that is being made: `FILE.partial`, a SQLite file with a log beside it, until `finish` makes `FILE` of it.
///
/// What was appended is committed after half a second at the next call, or when the owner's timer calls `commitIfDue`: after a `kill -9`
/// `resume` finds all that is older than a second. Confined to one thread.
package final class SnapshotWriter {
    /// What becomes of a file that is there.
    package enum Existing: Sendable {
        case refuse
        /// Its recordings stay, and what is recorded now is a generation of its own.
        case append
        /// Nothing of it stays once the new one is finished.
        case overwrite
    }

    /// How long what was appended may wait to be committed.
    static let commitInterval = Duration.milliseconds(500)
    /// Bytes of a transaction.
    static let commitLength = 8 << 20

    package let path: String
    package private(set) var manifest: Manifest
    /// In which the recordings made now stand.
    package var generation: UInt32 { manifest.generations.last?.number ?? 1 }
    /// How many recordings there are, those of older generations among them.
    package private(set) var count: Int

    let tables: SnapshotTables
    private var lastID: Int64
    private var lastBodyID: Int64
    private var pendingLength = 0
    private var pendingSince: ContinuousClock.Instant?
    /// How often what was appended has been committed.
    package private(set) var commitCount = 0
    /// Bodies that nobody has: their chunks go with the next transaction.
    private var dropped: [Int64] = []
    /// What could not be written first. From there on all fails for the same reason: SQLite has let go of the transaction, and would say only that there
    /// is none.
    private var failure: SnapshotError?

    /// - Parameters:
    ///   - terms: of a new file; one that is appended to keeps its own.
    ///   - now: when this generation begins.
    package convenience init(
        path: String, existing: Existing = .refuse, terms: MatchTerms = MatchTerms(), tool: String, now: Timestamp
    ) throws(SnapshotError) {
        let first = Manifest.Generation(number: 1, started: now)
        try self.init(
            path: path, existing: existing, manifest: Manifest(created: now, tool: tool, generations: [first], terms: terms))
    }

    /// - Parameter manifest: of a new file. One that is appended to keeps its own, and the last generation of this one is added to it.
    init(path: String, existing: Existing, manifest fresh: Manifest) throws(SnapshotError) {
        let partial = Self.partialPath(of: path)
        guard !FileBasics.exists(partial) else { throw .unfinished(path: partial) }
        let isThere = FileBasics.exists(path)
        if isThere, existing == .refuse { throw .exists(path: path) }
        let isAppended = isThere && existing == .append
        var manifest = fresh
        if isAppended {
            // Read as a stranger's before it is believed enough to be written to.
            manifest = try Snapshot(path: path).manifest
            let last = manifest.generations.last?.number ?? 0
            manifest.generations.append(
                Manifest.Generation(number: last + 1, started: fresh.generations.last?.started ?? fresh.created))
            guard manifest.generations.count <= SnapshotLimits.generations else { throw .tooLarge("generations") }
            try FileBasics.copy(path, to: partial)
        } else {
            try FileBasics.makeEmpty(partial)
        }
        self.path = path
        self.manifest = manifest
        tables = try onDatabase { () throws(DatabaseError) in
            let connection = try Connection(path: partial, access: .writing)
            if !isAppended { try SnapshotSchema.create(on: connection) }
            return try Self.begin(on: connection, manifest)
        }
        (lastID, lastBodyID, count) = try onDatabase { [tables] () throws(DatabaseError) in try Self.counters(of: tables) }
    }

    /// Goes on with a recording that was not finished, whatever ended it.
    package init(resuming path: String) throws(SnapshotError) {
        let partial = Self.partialPath(of: path)
        guard FileBasics.exists(partial) else { throw .nothingToResume(path: partial) }
        self.path = path
        let connection = try onDatabase { () throws(DatabaseError) in try Connection(path: partial, access: .writing) }
        let isOurs = try onDatabase { () throws(DatabaseError) in try SnapshotSchema.isOurs(on: connection) }
        guard isOurs else {
            let isEmpty = FileBasics.isEmpty(partial)
            let reason =
                isEmpty ? "is empty: nothing was recorded; delete it and start without --resume" : "has a different schema"
            throw .notASnapshot("\(partial) \(reason)")
        }
        tables = SnapshotTables(connection)
        let text = try onDatabase { [tables] () throws(DatabaseError) in try tables.manifest() }
        guard let text else { throw .damaged("the manifest is missing") }
        manifest = try Manifest(text: text)
        let opened = manifest
        (lastID, lastBodyID, count) = try onDatabase { [tables] () throws(DatabaseError) in
            _ = try Self.begin(on: connection, opened)
            return try Self.counters(of: tables)
        }
    }

    package static func partialPath(of path: String) -> String { path + ".partial" }

    private static func begin(on connection: Connection, _ manifest: Manifest) throws(DatabaseError) -> SnapshotTables {
        // Whoever else would go on with it, or finish it, is told that it is locked.
        try connection.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=4096")
        // What is deleted leaves no bytes behind: bodies may hold what nobody is to find.
        try connection.execute("PRAGMA secure_delete=ON")
        let tables = SnapshotTables(connection)
        try connection.execute("BEGIN IMMEDIATE")
        try tables.removeSeal()
        try tables.replaceManifest(manifest.text)
        try connection.execute("COMMIT")
        return tables
    }

    private static func counters(of tables: SnapshotTables) throws(DatabaseError) -> (Int64, Int64, Int) {
        // Chunks of a body whose row was never written have a number above those of all bodies.
        let bodies = try tables.highestID(of: "body")
        let chunks = try tables.highestID(of: "chunk") >> 20
        let count = try tables.connection.integer("SELECT count(*) FROM recording") ?? 0
        return (try tables.highestID(of: "recording"), max(bodies, chunks), Int(count))
    }

    // MARK: Appending

    /// Begins a body; its recording is appended when it has ended.
    package func beginBody() -> BodyWriter { BodyWriter(self) }

    /// A whole body at once.
    package func body(_ octets: [UInt8]) throws(SnapshotError) -> RecordedBody? {
        let body = beginBody()
        try body.append(octets.span)
        return try body.finish()
    }

    /// Adds a recording, in the generation that it names. Its position is found out when the file is finished.
    /// - Throws: `tooLarge` for what no file may hold.
    package func append(_ recording: Recording) throws(SnapshotError) {
        let row = RecordingRow.encode(recording)
        guard row.count <= SnapshotLimits.recordLength, recording.request.fields.count <= SnapshotLimits.fieldLines,
            (recording.response?.fields.count ?? 0) <= SnapshotLimits.fieldLines
        else { throw .tooLarge("a recording") }
        guard count < SnapshotLimits.recordings else { throw .tooLarge("recordings") }
        guard RecordingRow.decode(row) != nil else { throw .malformed("an unreadable recording") }
        lastID += 1
        count += 1
        try write(row.count) { [lastID] (tables) throws(DatabaseError) in try tables.insertRecording(lastID, row) }
    }

    /// Keeps the record of a certificate chain, once.
    /// - Returns: by what recordings name it; `nil` for one that is too long to be kept.
    package func chain(_ record: [UInt8]) throws(SnapshotError) -> SHA256Digest? {
        guard !record.isEmpty, record.count <= SnapshotLimits.chainLength else { return nil }
        let digest = SHA256Digest(of: record)
        try write(record.count) { (tables) throws(DatabaseError) in
            try tables.insertChain(digest: digest.octets, record: record)
        }
        return digest
    }

    // MARK: Changing

    /// The number of the recording that was appended last.
    var lastRecording: Int64 { lastID }

    /// Puts others in the place of recordings that were appended.
    /// - Parameters:
    ///   - last: the number of the last of them.
    ///   - isWhole: those of earlier generations too.
    ///   - change: gives the other one, or `nil` where the recording stays.
    func rewrite(
        upTo last: Int64, inAllGenerations isWhole: Bool, _ change: (Recording) throws(SnapshotError) -> Recording?
    ) throws(SnapshotError) {
        var place: Int64 = 0
        while place < last {
            let rows = try onDatabase { [tables, place] () throws(DatabaseError) in
                try tables.recordings(behind: place, limit: 256)
            }
            guard let end = rows.last?.id else { return }
            place = end
            for (id, row) in rows where id <= last {
                guard let recording = RecordingRow.decode(row) else { throw .damaged("the row of a recording") }
                guard isWhole || recording.generation == generation, let changed = try change(recording) else { continue }
                let row = RecordingRow.encode(changed)
                try write(row.count) { (tables) throws(DatabaseError) in try tables.updateRecording(id, row) }
            }
        }
    }

    /// A whole body that was written.
    func octets(of body: RecordedBody) throws(SnapshotError) -> [UInt8] {
        let reader = try BodyReader(body, tables)
        var octets: [UInt8] = []
        while let piece = try reader.next() { octets += piece }
        return octets
    }

    /// A recording's request as one to be matched.
    func request(of recording: Recording) throws(SnapshotError) -> RequestToMatch {
        var body = RequestToMatch.Body.none
        if let recorded = recording.request.body {
            body = recorded.isKept ? .octets(try octets(of: recorded)) : .digest(recorded.digest, length: recorded.length)
        }
        return RequestToMatch(
            method: recording.request.method, uri: recording.request.uri, fields: recording.request.fields, body: body)
    }

    // MARK: Committing

    /// Commits what has waited for as long as it may. To be called by a timer at least twice a second.
    package func commitIfDue() throws(SnapshotError) {
        guard let pendingSince, ContinuousClock.now - pendingSince >= Self.commitInterval else { return }
        try commit()
    }

    /// Commits all that was appended.
    package func commit() throws(SnapshotError) {
        if let failure { throw failure }
        guard pendingSince != nil else { return }
        for id in dropped { try change { (tables) throws(DatabaseError) in try tables.deleteChunks(ofBody: id) } }
        dropped = []
        try change { (tables) throws(DatabaseError) in try tables.connection.execute("COMMIT") }
        pendingSince = nil
        commitCount += 1
        pendingLength = 0
    }

    private func write(_ length: Int, _ work: (SnapshotTables) throws(DatabaseError) -> Void) throws(SnapshotError) {
        if pendingSince == nil {
            try change { (tables) throws(DatabaseError) in try tables.connection.execute("BEGIN IMMEDIATE") }
            pendingSince = .now
        }
        try change(work)
        pendingLength += length
        if pendingLength >= Self.commitLength { try commit() } else { try commitIfDue() }
    }

    private func change(_ work: (SnapshotTables) throws(DatabaseError) -> Void) throws(SnapshotError) {
        if let failure { throw failure }
        do throws(DatabaseError) {
            try work(tables)
        } catch {
            let failure = SnapshotError.database(error)
            self.failure = failure
            throw failure
        }
    }

    // MARK: For bodies

    func makeBodyID() -> Int64 {
        lastBodyID += 1
        return lastBodyID
    }

    func holdsBody(_ digest: SHA256Digest, length: UInt64) throws(SnapshotError) -> Bool {
        try onDatabase { [tables] () throws(DatabaseError) in try tables.body(digest.octets) }?.length == length
    }

    func insertChunk(_ octets: [UInt8], ofBody id: Int64, number: Int) throws(SnapshotError) {
        try write(octets.count) { (tables) throws(DatabaseError) in
            try tables.insertChunk(SnapshotTables.chunkID(ofBody: id, number), octets)
        }
    }

    /// - Parameter only: its only chunk, where that has not been written.
    func insertBody(
        _ id: Int64?, digest: SHA256Digest, length: UInt64, pieces: [UInt8], only: [UInt8]?
    ) throws(SnapshotError) {
        let id = id ?? makeBodyID()
        if let only { try insertChunk(only, ofBody: id, number: 0) }
        try write(pieces.count) { (tables) throws(DatabaseError) in
            try tables.insertBody(id, digest: digest.octets, length: length, pieces: pieces)
        }
    }

    func dropLater(bodyID id: Int64?) {
        if let id { dropped.append(id) }
    }

    /// Nothing becomes of it: what has been written goes.
    package func abandon() {
        let partial = Self.partialPath(of: path)
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(partial + suffix) }
    }

    /// Takes over the totals that finishing has found out.
    func seal(_ totals: Manifest.Totals) { manifest.totals = totals }
}
