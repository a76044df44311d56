import HTTPSerialization
import SQLiteDatabase
import ServerTrust

/// Reads a body in pieces and verifies each piece before returning it. Confined to its snapshot's thread.
package final class BodyReader {
    package let body: RecordedBody
    private let tables: SnapshotTables
    private let id: Int64
    private let pieces: [UInt8]
    private var number = 0

    init(_ body: RecordedBody, _ tables: SnapshotTables) throws(SnapshotError) {
        let row = try onDatabase { () throws(DatabaseError) in try tables.body(body.digest.octets) }
        guard let row, row.length == body.length, row.pieces.count == 32 * ChunkDigests.count(ofLength: body.length),
            ChunkDigests.combined(row.pieces) == body.pieces
        else { throw .damaged("a body is missing") }
        self.body = body
        self.tables = tables
        id = row.id
        pieces = row.pieces
    }

    /// Moves to the piece that contains an offset, to read a range. The next call of `next` returns this piece from its beginning, so
    /// it also returns the bytes before the offset.
    /// - Returns: the offset at which that piece begins.
    package func seek(to offset: UInt64) -> UInt64 {
        number = Int(min(offset, body.length) / UInt64(SnapshotLimits.chunkLength))
        return UInt64(number) * UInt64(SnapshotLimits.chunkLength)
    }

    /// Reads the next piece, up to 256 KiB; `nil` after the last one.
    package func next() throws(SnapshotError) -> [UInt8]? {
        guard number * 32 < pieces.count else { return nil }
        let chunk = try onDatabase { () throws(DatabaseError) in try tables.chunk(SnapshotTables.chunkID(ofBody: id, number)) }
        let start = UInt64(number) * UInt64(SnapshotLimits.chunkLength)
        guard let chunk, UInt64(chunk.count) == min(UInt64(SnapshotLimits.chunkLength), body.length - start),
            pieces[number * 32..<(number + 1) * 32].elementsEqual(Hashing.sha256(chunk))
        else { throw .damaged("a body piece is missing or does not match its digest") }
        number += 1
        return chunk
    }
}
