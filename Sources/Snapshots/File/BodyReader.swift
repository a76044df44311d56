import HTTPSerialization
import SQLiteDatabase
import ServerTrust

/// A body that is read in pieces, each checked before it is given out. Confined to its snapshot's thread.
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

    /// Goes to the piece in which a byte stands, for a range; the bytes before it in that piece are given out too.
    /// - Returns: where the next piece begins.
    package func seek(to offset: UInt64) -> UInt64 {
        number = Int(min(offset, body.length) / UInt64(SnapshotLimits.chunkLength))
        return UInt64(number) * UInt64(SnapshotLimits.chunkLength)
    }

    /// The next piece of up to 256 KiB; `nil` behind the last one.
    package func next() throws(SnapshotError) -> [UInt8]? {
        guard number * 32 < pieces.count else { return nil }
        let chunk = try onDatabase { () throws(DatabaseError) in try tables.chunk(SnapshotTables.chunkID(ofBody: id, number)) }
        let start = UInt64(number) * UInt64(SnapshotLimits.chunkLength)
        guard let chunk, UInt64(chunk.count) == min(UInt64(SnapshotLimits.chunkLength), body.length - start),
            pieces[number * 32..<(number + 1) * 32].elementsEqual(Hashing.sha256(chunk))
        else { throw .damaged("a part of a body") }
        number += 1
        return chunk
    }
}
