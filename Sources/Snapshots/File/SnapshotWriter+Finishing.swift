import Glibc
import HTTPMessage
import HTTPSerialization
import SQLiteDatabase
import ServerTrust

extension SnapshotWriter {
    /// Puts the recordings in canonical order, computes both roots, signs the file, and renames it. The writer cannot be used
    /// afterwards.
    /// - Parameter key: the key that signs the Merkle root `full`; `nil` leaves the file unsigned.
    package func finish(signing key: SigningKey? = nil) throws(SnapshotError) -> SnapshotRoots {
        try commit()
        var order = CanonicalOrder()
        try onDatabase { [tables] () throws(DatabaseError) in try tables.connection.execute("BEGIN IMMEDIATE") }
        try readRows(into: &order)
        try deleteUnreferenced(order.bodies, order.chains)
        let sealing = order.sealed()
        var totals = Manifest.Totals()
        totals.recordings = order.count
        totals.content = sealing.content.octets
        totals.keys = Hashing.sha256(sealing.keys)
        totals.targets = Hashing.sha256(sealing.targets)
        totals.targetsLength = sealing.targets.count
        seal(totals)
        let text = manifest.text
        guard text.count <= SnapshotLimits.manifestLength else { throw .tooLarge("the manifest") }
        let tree = MerkleTree(name: SnapshotRoots.fullName, leaves: MerkleTree.leaf(text) + sealing.leaves)
        let signature = try key?.signature(of: tree.root)
        try onDatabase { [tables] () throws(DatabaseError) in
            try tables.replaceManifest(text)
            try tables.insertPages(.keys, sealing.keys)
            try tables.insertPages(.rows, sealing.rows)
            try tables.insertPages(.targets, sealing.targets)
            for (level, digests) in tree.levels.enumerated() { try tables.insertPages(.tree(level: level), digests) }
            try tables.replaceSeal(tree.root.octets)
            if let key, let signature { try tables.insertSignature(key: key.verifying.octets, octets: signature) }
            try tables.connection.execute("COMMIT")
        }
        try publish()
        return SnapshotRoots(content: sealing.content, full: tree.root)
    }

    /// Writes the content of the write-ahead log back into the file, removes the log, and renames the file. Compacts the file if more
    /// than a quarter of its pages are free.
    private func publish() throws(SnapshotError) {
        let partial = Self.partialPath(of: path)
        let connection = tables.connection
        let isWasteful = try onDatabase { () throws(DatabaseError) in
            let free = try connection.integer("PRAGMA freelist_count") ?? 0
            return free * 4 > (try connection.integer("PRAGMA page_count") ?? 0)
        }
        let compact = partial + ".compact"
        if isWasteful {
            // A run that was killed here left this file, which was checked when this writer began.
            unlink(compact)
            try FileBasics.makeEmpty(compact)
            try onDatabase { () throws(DatabaseError) in
                try connection.execute("VACUUM INTO '\(compact.replacing("'", with: "''"))'")
                let copy = try Connection(path: compact, access: .writing)
                try copy.execute("PRAGMA journal_mode=DELETE")
            }
        }
        try onDatabase { () throws(DatabaseError) in try connection.execute("PRAGMA journal_mode=DELETE") }
        // With an exclusive lock, SQLite keeps the rollback journal of this change. Its header is empty, so nothing is lost.
        unlink(partial + "-journal")
        try FileBasics.publish(isWasteful ? compact : partial, as: path)
        if isWasteful { unlink(partial) }
    }

    /// Reads all rows in the order of recording, and computes the position of each recording.
    private func readRows(into order: inout CanonicalOrder) throws(SnapshotError) {
        var last: Int64 = 0
        while true {
            let rows = try onDatabase { [tables, last] () throws(DatabaseError) in
                try tables.recordings(behind: last, limit: 1024)
            }
            guard let end = rows.last?.id else { return }
            last = end
            for (id, row) in rows {
                guard var recording = RecordingRow.decode(row) else { throw .damaged("the row of a recording") }
                let position = order.nextPosition(of: recording)
                var final = row
                if position != recording.position {
                    recording.position = position
                    final = RecordingRow.encode(recording)
                    try onDatabase { [tables, final] () throws(DatabaseError) in try tables.updateRecording(id, final) }
                }
                order.add(recording, id: id, row: final)
            }
        }
    }

    /// Deletes bodies and chains that no recording uses. They remain from removed recordings, or from exchanges that were in flight
    /// when recording ended.
    private func deleteUnreferenced(_ bodies: Set<SHA256Digest>, _ chains: Set<SHA256Digest>) throws(SnapshotError) {
        try onDatabase { [tables] () throws(DatabaseError) in
            var last: Int64 = 0
            while true {
                let found = try tables.bodies(behind: last, limit: 4096)
                guard let end = found.last?.id else { break }
                last = end
                for (id, digest) in found where !(SHA256Digest(digest).map(bodies.contains) ?? false) {
                    try tables.deleteBody(id)
                }
            }
            // Delete the chunks of bodies that were never finished.
            try tables.connection.execute("DELETE FROM chunk WHERE id >> 20 NOT IN (SELECT id FROM body)")
            for digest in try tables.chainDigests() where !(SHA256Digest(digest).map(chains.contains) ?? false) {
                try tables.deleteChain(digest)
            }
        }
    }
}

/// Sorts the recordings of a file into canonical order: the order of their rows' bytes, which begin with the primary key, the key, the
/// digest of secrets, the generation and the position.
private struct CanonicalOrder {
    private struct Entry {
        /// The first bytes of the recording's row; no other row in the file begins with the same bytes.
        let head: [UInt8]
        let id: Int64
        let leaf: [UInt8]
        let target: [UInt8]
    }

    private struct Place: Hashable {
        let key: SHA256Digest
        let generation: UInt32
    }

    private var entries: [Entry] = []
    private var positions: [Place: UInt32] = [:]
    private var content = ContentTree()
    private(set) var bodies: Set<SHA256Digest> = []
    private(set) var chains: Set<SHA256Digest> = []

    var count: Int { entries.count }

    mutating func nextPosition(of recording: Recording) -> UInt32 {
        let place = Place(key: recording.identity.key, generation: recording.generation)
        let position = positions[place, default: 0]
        positions[place] = position + 1
        return position
    }

    mutating func add(_ recording: Recording, id: Int64, row: [UInt8]) {
        for body in [recording.request.body, recording.response?.body] {
            if let body, body.isKept { bodies.insert(body.digest) }
        }
        if let chain = recording.chain { chains.insert(chain) }
        content.add(recording)
        entries.append(
            Entry(
                head: Array(row[..<RecordingRow.headCount]), id: id, leaf: MerkleTree.leaf(row), target: recording.targetLine))
    }

    struct Sealed {
        var keys: [UInt8] = []
        var rows: [UInt8] = []
        var targets: [UInt8] = []
        var leaves: [UInt8] = []
        let content: SHA256Digest
    }

    func sealed() -> Sealed {
        var sealed = Sealed(content: content.root())
        for entry in entries.sorted(by: { $0.head.lexicographicallyPrecedes($1.head) }) {
            sealed.keys += entry.head[RecordingRow.primaryRange]
            sealed.rows.append(bigEndian: entry.id)
            sealed.targets += entry.target
            sealed.leaves += entry.leaf
        }
        return sealed
    }
}

extension SnapshotTables {
    fileprivate func insertPages(_ kind: PageKind, _ octets: [UInt8]) throws(DatabaseError) {
        for (number, start) in stride(from: 0, to: octets.count, by: kind.pieceLength).enumerated() {
            try insertPage(kind, number, Array(octets[start..<min(start + kind.pieceLength, octets.count)]))
        }
    }
}
