import Glibc
import HTTPMessage
import SQLiteDatabase
import ServerTrust

/// A snapshot that is being made. Until `finish`, it is `FILE.partial`, a SQLite file with a write-ahead log. `finish` turns this file
/// into `FILE`.
///
/// Appended data is committed when at least half a second has passed: by the next call, or by `commitIfDue`, which the owner's timer
/// calls. After a `kill -9`, `resume` finds all data that had been appended more than a second earlier. Confined to one thread.
package final class SnapshotWriter {
    /// What to do with an existing file.
    package enum Existing: Sendable {
        case refuse
        /// Keep the existing recordings; new recordings form a new generation.
        case append
        /// Replace the existing recording as soon as the new file is finished. A file without content is replaced too, and no other file.
        case overwrite
    }

    /// The longest time before appended data is committed.
    static let commitInterval = Duration.milliseconds(500)
    /// When this many bytes have been appended, they are committed at once.
    static let commitLength = 8 << 20

    package let path: String
    package private(set) var manifest: Manifest
    /// The number of the generation to which new recordings belong.
    package var generation: UInt32 { manifest.generations.last?.number ?? 1 }
    /// The number of recordings, including those of older generations.
    package private(set) var count: Int

    let tables: SnapshotTables
    private var lastID: Int64
    private var lastBodyID: Int64
    private var pendingLength = 0
    private var pendingSince: ContinuousClock.Instant?
    /// The number of commits so far.
    package private(set) var commitCount = 0
    /// The ids of bodies that no recording uses. The next transaction deletes their chunks.
    private var dropped: [Int64] = []
    /// The first write error. Every later call throws this error again. SQLite has rolled back the transaction, so the next error would
    /// only say that no transaction is active.
    private var failure: SnapshotError?

    /// - Parameters:
    ///   - terms: the match terms of a new file; an existing file keeps its own terms.
    ///   - now: the time at which this generation begins.
    package convenience init(
        path: String, existing: Existing = .refuse, terms: MatchTerms = MatchTerms(), tool: String, now: Timestamp
    ) throws(SnapshotError) {
        let first = Manifest.Generation(number: 1, started: now)
        try self.init(
            path: path, existing: existing, manifest: Manifest(created: now, tool: tool, generations: [first], terms: terms))
    }

    /// - Parameter manifest: the manifest of a new file. An existing file keeps its own manifest, to which a generation is added. The
    ///   new generation gets its start time from the last generation of `manifest`.
    init(path: String, existing: Existing, manifest fresh: Manifest) throws(SnapshotError) {
        let partial = Self.partialPath(of: path)
        try RecordingNames.free(partial)
        let isThere = FileBasics.exists(path)
        if isThere, existing == .refuse { throw .exists(path: path) }
        if isThere, existing == .overwrite, !RecordingNames.isRecording(path), !FileBasics.isEmpty(path) {
            throw .notReplaced(path: path)
        }
        let isAppended = isThere && existing == .append
        var manifest = fresh
        if isAppended {
            // The existing file is not trusted: it is verified like any snapshot before it is copied and appended to.
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

    /// Resumes an unfinished recording, whatever the cause of the interruption.
    package init(resuming path: String) throws(SnapshotError) {
        let partial = Self.partialPath(of: path)
        guard FileBasics.exists(partial) else { throw .nothingToResume(path: partial) }
        // SQLite would change a database of another application as soon as it is opened.
        guard RecordingNames.isRecording(partial) || FileBasics.isEmpty(partial) else {
            throw .notASnapshot("\(partial) is not an unfinished recording")
        }
        try RecordingNames.check(beside: partial)
        self.path = path
        let connection = try onDatabase { () throws(DatabaseError) in try Connection(path: partial, access: .writing) }
        let isOurs = try onDatabase { () throws(DatabaseError) in try SnapshotSchema.isOurs(on: connection) }
        guard isOurs else {
            let isEmpty = FileBasics.isEmpty(partial)
            let reason =
                isEmpty
                ? "is empty: nothing was recorded; delete it and start without --resume"
                : "does not have the schema of a recording"
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

    /// The match terms of a recording: of the unfinished one if there is one, else of the finished one.
    package static func terms(ofRecording path: String) throws(SnapshotError) -> MatchTerms {
        let partial = partialPath(of: path)
        guard FileBasics.exists(partial) else { return try Snapshot(path: path).manifest.terms }
        guard RecordingNames.isRecording(partial) else { throw .notASnapshot("\(partial) is not an unfinished recording") }
        let text = try onDatabase { () throws(DatabaseError) in
            try SnapshotTables(Connection(path: partial, access: .browsing)).manifest()
        }
        guard let text else { throw .damaged("the manifest is missing") }
        return try Manifest(text: text).terms
    }

    package static func partialPath(of path: String) -> String { path + ".partial" }

    private static func begin(on connection: Connection, _ manifest: Manifest) throws(DatabaseError) -> SnapshotTables {
        // Another process that tries to resume or finish the file gets SQLite's "locked" error.
        try connection.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=4096")
        // Deleted bodies may hold secrets: overwrite their bytes.
        try connection.execute("PRAGMA secure_delete=ON")
        let tables = SnapshotTables(connection)
        try connection.execute("BEGIN IMMEDIATE")
        try tables.removeSeal()
        try tables.replaceManifest(manifest.text)
        try connection.execute("COMMIT")
        return tables
    }

    private static func counters(of tables: SnapshotTables) throws(DatabaseError) -> (Int64, Int64, Int) {
        // The row of an unfinished body was never written, but its chunks may have a higher id than any other body.
        let bodies = try tables.highestID(of: "body")
        let chunks = try tables.highestID(of: "chunk") >> 20
        let count = try tables.connection.integer("SELECT count(*) FROM recording") ?? 0
        return (try tables.highestID(of: "recording"), max(bodies, chunks), Int(count))
    }

    // MARK: Appending

    /// Begins a body. Its recording is appended after the body is finished.
    package func beginBody() -> BodyWriter { BodyWriter(self) }

    /// Writes a whole body at once.
    package func body(_ octets: [UInt8]) throws(SnapshotError) -> RecordedBody? {
        let body = beginBody()
        try body.append(octets.span)
        return try body.finish()
    }

    /// Adds a recording, with the `generation` that the recording has. `finish` computes its position.
    /// - Throws: `tooLarge` if the recording is too long, or if there are too many recordings (`SnapshotLimits`).
    package func append(_ recording: Recording) throws(SnapshotError) {
        let row = RecordingRow.encode(recording)
        guard row.count <= SnapshotLimits.recordLength, recording.request.fields.count <= SnapshotLimits.fieldLines,
            (recording.response?.fields.count ?? 0) <= SnapshotLimits.fieldLines
        else { throw .tooLarge("a recording") }
        guard count < SnapshotLimits.recordings else { throw .tooLarge("recordings") }
        guard RecordingRow.decode(row) != nil else { throw .malformed("a recording cannot be read") }
        lastID += 1
        count += 1
        try write(row.count) { [lastID] (tables) throws(DatabaseError) in try tables.insertRecording(lastID, row) }
    }

    /// Stores the record of a certificate chain, if the file does not have it yet.
    /// - Returns: the digest by which recordings refer to the record; `nil` if the record is empty or too long.
    package func chain(_ record: [UInt8]) throws(SnapshotError) -> SHA256Digest? {
        guard !record.isEmpty, record.count <= SnapshotLimits.chainLength else { return nil }
        let digest = SHA256Digest(of: record)
        try write(record.count) { (tables) throws(DatabaseError) in
            try tables.insertChain(digest: digest.octets, record: record)
        }
        return digest
    }

    // MARK: Changing

    /// The id of the recording that was appended last.
    var lastRecording: Int64 { lastID }

    /// Replaces recordings that are already in the file.
    /// - Parameters:
    ///   - last: the id of the last recording to visit.
    ///   - isWhole: whether recordings of earlier generations are visited too.
    ///   - change: returns the replacement, or `nil` to keep the recording.
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

    /// Reads a whole body from the unfinished file.
    func octets(of body: RecordedBody) throws(SnapshotError) -> [UInt8] {
        let reader = try BodyReader(body, tables)
        var octets: [UInt8] = []
        while let piece = try reader.next() { octets += piece }
        return octets
    }

    /// The request of a recording, in the form in which match rules read it.
    func request(of recording: Recording) throws(SnapshotError) -> RequestToMatch {
        var body = RequestToMatch.Body.none
        if let recorded = recording.request.body {
            body = recorded.isKept ? .octets(try octets(of: recorded)) : .digest(recorded.digest, length: recorded.length)
        }
        return RequestToMatch(
            method: recording.request.method, uri: recording.request.uri, fields: recording.request.fields, body: body)
    }

    // MARK: Committing

    /// Commits the appended data if half a second has passed since the first of it was appended. A timer must call this at least twice
    /// a second.
    package func commitIfDue() throws(SnapshotError) {
        guard let pendingSince, ContinuousClock.now - pendingSince >= Self.commitInterval else { return }
        try commit()
    }

    /// Commits all appended data.
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

    /// - Parameter only: the body's only chunk, if that chunk is not written yet.
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

    /// Discards all recordings: deletes the unfinished file.
    package func abandon() {
        let partial = Self.partialPath(of: path)
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(partial + suffix) }
    }

    /// Puts into the manifest the totals that finishing computed.
    func seal(_ totals: Manifest.Totals) { manifest.totals = totals }
}
