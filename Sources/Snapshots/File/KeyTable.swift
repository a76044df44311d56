import HTTPSerialization
import SQLiteDatabase

/// The primary keys of all recordings in canonical order, in memory. A lookup that finds no recording needs no read from the file. Its
/// result can be trusted as much as the snapshot's Merkle root, which covers the keys.
struct KeyTable: Sendable {
    private var keys: [PrimaryKey] = []
    private var rows: [Int64] = []

    /// - Throws: `damaged` if the keys do not match the digest in the manifest.
    init(_ tables: SnapshotTables, _ totals: Manifest.Totals) throws(SnapshotError) {
        let keys = try tables.pages(.keys, length: totals.recordings * PrimaryKey.count)
        guard Hashing.sha256(keys) == totals.keys else { throw .damaged("the key table does not match its digest") }
        let rows = try tables.pages(.rows, length: totals.recordings * 8)
        self.keys.reserveCapacity(totals.recordings)
        self.rows.reserveCapacity(totals.recordings)
        let (keySpan, rowSpan) = (keys.span, rows.span)
        for place in 0..<totals.recordings {
            self.keys.append(
                PrimaryKey(high: keySpan.bigEndian(at: place * 16), low: keySpan.bigEndian(at: place * 16 + 8)))
            self.rows.append(rowSpan.bigEndian(at: place * 8))
        }
    }

    func rowID(at place: Int) -> Int64 { rows[place] }
    func key(at place: Int) -> PrimaryKey { keys[place] }

    /// The places (in canonical order) of the recordings with this key; empty if there are none.
    func places(of key: PrimaryKey) -> Range<Int> {
        let start = firstPlace { !($0 < key) }
        var end = start
        while end < keys.count, keys[end] == key { end += 1 }
        return start..<end
    }

    private func firstPlace(where isBehind: (PrimaryKey) -> Bool) -> Int {
        var (lower, upper) = (0, keys.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if isBehind(keys[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}

extension SnapshotTables {
    /// All pieces of a table, concatenated.
    /// - Throws: `damaged` if the pieces together have a wrong number of bytes.
    func pages(_ kind: PageKind, length: Int) throws(SnapshotError) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(length)
        for number in 0..<(length + kind.pieceLength - 1) / kind.pieceLength {
            let piece = try onDatabase { () throws(DatabaseError) in try page(kind, number) }
            guard let piece, piece.count == min(kind.pieceLength, length - octets.count) else {
                throw .damaged("a part of a table is missing or has a wrong length")
            }
            octets += piece
        }
        return octets
    }
}
