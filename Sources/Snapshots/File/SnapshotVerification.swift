import HTTPMessage
import HTTPSerialization
import SQLiteDatabase
import ServerTrust

/// The result of verifying a whole snapshot.
package struct SnapshotVerification: Equatable, Sendable {
    package var recordings = 0
    package var bodies = 0
    package var bodyOctets: UInt64 = 0
    package var chains = 0
    /// The number of bodies that no recording uses. Neither Merkle root covers these bodies.
    package var unreferencedBodies = 0
}

extension Snapshot {
    /// Verifies the whole file: every row and body against the roots, every key against its recording, and the database's own
    /// consistency.
    /// - Throws: the error for the first fault found.
    package func verify() throws(SnapshotError) -> SnapshotVerification {
        let answer = try onDatabase { [tables] () throws(DatabaseError) in
            let query = try tables.connection.prepare("PRAGMA quick_check(1)")
            return try query.step() ? query.text(0) : "nothing"
        }
        guard answer == "ok" else { throw .damaged(answer) }
        var result = SnapshotVerification()
        var walk = Walk()
        let matcher = try RequestMatcher(manifest.terms)
        for place in 0..<count {
            let recording = try walk.take(try row(at: place), key: keys.key(at: place))
            let request = try self.request(of: recording)
            guard matcher.identity(of: request, response: recording.response?.fields, under: nil) == recording.identity else {
                throw .damaged("a recording is stored under the key of another request")
            }
        }
        guard walk.content.root() == roots.content else { throw .damaged("the recordings do not match the root `content`") }
        try checkTargets(walk)
        for body in walk.bodies.values { result.bodyOctets += try verify(body) }
        for chain in walk.chains { _ = try self.chain(chain) }
        result.recordings = count
        result.bodies = walk.bodies.count
        result.chains = walk.chains.count
        let bodies = try onDatabase { [tables] () throws(DatabaseError) in
            try tables.connection.integer("SELECT count(*) FROM body") ?? 0
        }
        result.unreferencedBodies = Int(bodies) - walk.bodies.count
        return result
    }

    private func checkTargets(_ walk: Walk) throws(SnapshotError) {
        let digest = walk.targets.finish().octets
        guard digest == manifest.totals.targets, walk.targetsLength == manifest.totals.targetsLength,
            Hashing.sha256(try tables.pages(.targets, length: walk.targetsLength)) == digest
        else { throw .damaged("the target table does not match the recordings") }
    }

    /// - Returns: the body's length.
    private func verify(_ body: RecordedBody) throws(SnapshotError) -> UInt64 {
        let reader = try self.body(body)
        let isOnePiece = body.length <= UInt64(SnapshotLimits.chunkLength)
        // If the body has only one piece, that piece's digest is the body's digest, which the reader has already verified.
        let whole = DigestHasher(.sha256)
        while let piece = try reader.next() {
            if !isOnePiece { whole.update(piece.span) }
        }
        guard isOnePiece ? body.pieces == body.digest : whole.finish().octets == body.digest.octets else {
            throw .damaged("a body does not match its digest")
        }
        return body.length
    }

    /// State collected while rows are read in canonical order.
    private struct Walk {
        private(set) var bodies: [SHA256Digest: RecordedBody] = [:]
        private(set) var chains: Set<SHA256Digest> = []
        private(set) var content = ContentTree()
        let targets = DigestHasher(.sha256)
        private(set) var targetsLength = 0
        private var last: [UInt8] = []

        mutating func take(_ row: [UInt8], key: PrimaryKey) throws(SnapshotError) -> Recording {
            guard let recording = RecordingRow.decode(row), RecordingRow.encode(recording) == row else {
                throw .damaged("a recording is not in its canonical form")
            }
            guard recording.identity.primary == key, last.lexicographicallyPrecedes(row) else {
                throw .damaged("a recording is in the wrong place")
            }
            last = row
            targets.update(recording.targetLine.span)
            targetsLength += recording.targetLine.count
            for body in [recording.request.body, recording.response?.body] {
                guard let body, body.isKept else { continue }
                guard bodies[body.digest] == nil || bodies[body.digest] == body else {
                    throw .damaged("a body has two different lengths")
                }
                bodies[body.digest] = body
            }
            if let chain = recording.chain { chains.insert(chain) }
            content.add(recording)
            return recording
        }
    }
}
