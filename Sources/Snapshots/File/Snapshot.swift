import HTTPMessage
import HTTPSerialization
import SQLiteDatabase
import ServerTrust

/// A finished snapshot, open for reading. Its content is not trusted. Each row is verified against the Merkle root `full` before
/// it is returned. Each piece of a body is verified against a digest in its recording's row.
///
/// The time to open a snapshot depends on the number of recordings (24 bytes are read for each), not on their sizes. A snapshot is
/// confined to one thread; each thread opens its own.
package final class Snapshot {
    package let path: String
    package let manifest: Manifest
    package let roots: SnapshotRoots
    /// The keys that have signed the Merkle root `full` with a valid signature, in the order in which they signed.
    package let signers: [VerifyingKey]

    let tables: SnapshotTables
    let keys: KeyTable
    private var tree: CheckedTree

    /// - Parameter keys: at least one of these keys must have signed the snapshot; empty if no signature is required.
    /// - Throws: `notASnapshot`, `damaged`, `tooLarge`, `notSigned`, or SQLite's error. An invalid signature by any key is `damaged`.
    package init(path: String, signedBy required: [VerifyingKey] = []) throws(SnapshotError) {
        try SnapshotHeader.check(path: path)
        self.path = path
        let connection = try onDatabase { () throws(DatabaseError) in try Connection(path: path, access: .immutable) }
        guard try onDatabase({ () throws(DatabaseError) in try SnapshotSchema.isOurs(on: connection) }) else {
            throw .notASnapshot("the file's schema is not that of a snapshot")
        }
        let tables = SnapshotTables(connection)
        self.tables = tables
        let (text, root, signatures) = try onDatabase { () throws(DatabaseError) in
            (try tables.manifest(), try tables.seal(), try tables.signatures())
        }
        guard let text, let root, let full = SHA256Digest(root) else {
            throw .damaged("the manifest or the root is missing, or the root has a wrong length")
        }
        let manifest = try Manifest(text: text)
        self.manifest = manifest
        guard let content = SHA256Digest(manifest.totals.content) else {
            throw .damaged("the manifest has no valid root `content`")
        }
        roots = SnapshotRoots(content: content, full: full)
        tree = try CheckedTree(tables, root: full, leaves: manifest.totals.recordings + 1)
        try tree.check(MerkleTree.leaf(text), at: 0, tables)
        var signers: [VerifyingKey] = []
        for (octets, signature) in signatures {
            let key = VerifyingKey(octets: octets)
            guard key.accepts(signature, of: full) else { throw .damaged("a signature is not valid for this file") }
            signers.append(key)
        }
        self.signers = signers
        guard required.isEmpty || required.contains(where: signers.contains) else { throw .notSigned }
        keys = try KeyTable(tables, manifest.totals)
    }

    /// The number of recordings, including those of older generations.
    package var count: Int { manifest.totals.recordings }

    // MARK: Recordings

    /// The recording at a place in canonical order, verified.
    package func recording(at place: Int) throws(SnapshotError) -> Recording {
        let row = try row(at: place)
        guard let recording = RecordingRow.decode(row) else { throw .damaged("recording \(place)") }
        return recording
    }

    /// The bytes of a recording's row, verified.
    func row(at place: Int) throws(SnapshotError) -> [UInt8] {
        precondition((0..<count).contains(place), "a place behind the last recording")
        let id = keys.rowID(at: place)
        guard let row = try onDatabase({ [tables] () throws(DatabaseError) in try tables.recording(id) }) else {
            throw .damaged("recording \(place) is missing")
        }
        try tree.check(MerkleTree.leaf(row), at: place + 1, tables)
        return row
    }

    /// The stored record of a recording's certificate chain.
    package func chain(_ digest: SHA256Digest) throws(SnapshotError) -> [UInt8] {
        let record = try onDatabase { [tables] () throws(DatabaseError) in try tables.chain(digest.octets) }
        guard let record, record.count <= SnapshotLimits.chainLength, SHA256Digest(of: record) == digest else {
            throw .damaged("a certificate chain is missing or does not match its digest")
        }
        return record
    }

    // MARK: Bodies

    /// Opens the body of a recording.
    /// - Throws: `damaged` if the file does not have the body: check `isKept` first.
    package func body(_ body: RecordedBody) throws(SnapshotError) -> BodyReader { try BodyReader(body, tables) }

    /// Reads a whole body, up to a limit in bytes.
    package func octets(of body: RecordedBody, limit: Int = SnapshotLimits.requestBodyLength) throws(SnapshotError) -> [UInt8] {
        guard body.length <= UInt64(limit) else { throw .tooLarge("a body of \(body.length) bytes") }
        let reader = try self.body(body)
        var octets: [UInt8] = []
        octets.reserveCapacity(Int(body.length))
        while let piece = try reader.next() { octets += piece }
        return octets
    }
}
