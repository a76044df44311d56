import HTTPMessage
import HTTPSerialization
import ServerTrust

/// Writes a body into the file in pieces, without holding the whole body in memory. Confined to its writer's thread.
package final class BodyWriter {
    private let writer: SnapshotWriter
    /// The bytes appended after the last full chunk.
    private var rest: [UInt8] = []
    private var whole = DigestHasher(.sha256)
    /// The digests of the chunks so far.
    private var pieces: [UInt8] = []
    /// The id of the body's chunks in the file; `nil` until the first chunk is written.
    private var id: Int64?
    private(set) var length: UInt64 = 0
    private var isOver = false

    init(_ writer: SnapshotWriter) { self.writer = writer }

    deinit { if !isOver { writer.dropLater(bodyID: id) } }

    /// Appends the next bytes.
    /// - Throws: `tooLarge` past `SnapshotLimits.bodyLength`. The bytes appended so far are kept until `finish` or the end of this
    ///   object.
    package func append(_ octets: Span<UInt8>) throws(SnapshotError) {
        precondition(!isOver, "a body that has ended goes on")
        guard length + UInt64(octets.count) <= SnapshotLimits.bodyLength else { throw .tooLarge("a body") }
        length += UInt64(octets.count)
        var place = 0
        while place < octets.count {
            // A full chunk is written only when the next byte arrives. A body of only one chunk is then written in `finish`, unless the
            // file already has it.
            if rest.count == SnapshotLimits.chunkLength { try writeChunk() }
            let end = min(octets.count, place + SnapshotLimits.chunkLength - rest.count)
            rest.append(octets.extracting(place..<end))
            place = end
        }
    }

    /// Ends the body, even if the body is incomplete.
    /// - Returns: `nil` for an empty body.
    package func finish() throws(SnapshotError) -> RecordedBody? {
        precondition(!isOver, "a body that has ended ends again")
        if length == 0 {
            isOver = true
            return nil
        }
        if length <= UInt64(SnapshotLimits.chunkLength), id == nil {
            whole.update(rest.span)
            let digest = SHA256Digest(whole.finish().octets)!  // a SHA-256 digest has 32 bytes
            if try !writer.holdsBody(digest, length: length) {
                try writer.insertBody(nil, digest: digest, length: length, pieces: digest.octets, only: rest)
            }
            isOver = true
            return RecordedBody(digest: digest, length: length, pieces: digest, isKept: true)
        }
        if !rest.isEmpty { try writeChunk() }
        let digest = SHA256Digest(whole.finish().octets)!  // a SHA-256 digest has 32 bytes
        let body = RecordedBody(digest: digest, length: length, pieces: ChunkDigests.combined(pieces), isKept: true)
        if try writer.holdsBody(digest, length: length) {
            writer.dropLater(bodyID: id)
        } else {
            try writer.insertBody(id, digest: digest, length: length, pieces: pieces, only: nil)
        }
        isOver = true
        return body
    }

    private func writeChunk() throws(SnapshotError) {
        whole.update(rest.span)
        pieces += Hashing.sha256(rest)
        let id = id ?? writer.makeBodyID()
        self.id = id
        try writer.insertChunk(rest, ofBody: id, number: pieces.count / 32 - 1)
        rest.removeAll(keepingCapacity: true)
    }
}
