import HTTPCaching
import SQLiteDatabase

/// A row of the table `extent`: a range of one representation, with its own chunks (RFC 9111 §3.3, §3.4).
struct ExtentRow {
    /// The maximum number of extents of one response.
    static let limit = 256

    /// The id of the extent, which is also the body id of its chunks.
    var id: Int64
    /// The row of the extent's response; negative if the extent is to be deleted.
    var response: StoredRowID
    /// Where in the representation the extent's first chunk begins, and the number of bytes in its chunks; 0 while the bytes are arriving.
    var base: UInt64
    var length: UInt64
    /// The range of the representation for which this extent is used. Its other bytes are also in other extents.
    var range: Range<UInt64>

    /// The checksum covers the response's id without its sign, because the sign may change for many rows at once.
    var checksum: Int64 {
        var checksum = Checksum(seed: id)
        checksum.combine(Int64(clamping: response.magnitude))
        checksum.combine(Int64(bitPattern: base))
        checksum.combine(Int64(bitPattern: length))
        checksum.combine(Int64(bitPattern: range.lowerBound))
        checksum.combine(Int64(bitPattern: range.upperBound))
        return checksum.value
    }

    static let columns = "id, response, base, length, first, end, checksum"

    init(id: Int64, response: StoredRowID, base: UInt64, length: UInt64) {
        self.id = id
        self.response = response
        self.base = base
        self.length = length
        range = base..<base + length
    }

    /// The current row of a query for `columns`.
    /// - Returns: `nil` if the row is corrupt.
    init?(_ query: Statement) {
        let (base, length) = (query.integer(2), query.integer(3))
        let (first, end) = (query.integer(4), query.integer(5))
        guard base >= 0, length >= 0, first >= base, end >= first, length <= Int64.max - base, end <= base + length else {
            return nil
        }
        self.init(id: query.integer(0), response: query.integer(1), base: UInt64(base), length: UInt64(length))
        range = UInt64(first)..<UInt64(end)
        guard checksum == query.integer(6) else { return nil }
    }
}

/// The extents of one response, in order and without overlap.
struct ExtentSet {
    private(set) var rows: [ExtentRow]

    init(_ rows: [ExtentRow]) { self.rows = rows.sorted { $0.range.lowerBound < $1.range.lowerBound } }

    /// All rows of a query for extents.
    /// - Returns: `nil` if a row is corrupt.
    init?(_ query: Statement) throws(StoreError) {
        defer { query.reset() }
        var rows: [ExtentRow] = []
        while try query.step() {
            guard let extent = ExtentRow(query) else { return nil }
            rows.append(extent)
        }
        self.init(rows)
    }

    /// The number of bytes in the chunks of all extents.
    var byteCount: Int64 { rows.reduce(0) { $0 + Int64($1.length) } }

    /// The ranges, with adjacent ones merged.
    var ranges: [Range<UInt64>] {
        rows.reduce(into: []) { ranges, row in
            if let last = ranges.last, last.upperBound == row.range.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<row.range.upperBound
            } else {
                ranges.append(row.range)
            }
        }
    }

    func covers(_ length: UInt64) -> Bool { ranges == [0..<length] }

    /// Adds an extent, limited to the bytes that the other extents do not have.
    /// - Returns: the extents that the new extent covers completely, which are no longer needed; `nil` if the new extent adds
    ///   nothing, or there would be too many extents.
    mutating func insert(_ new: ExtentRow) -> [ExtentRow]? {
        var new = new
        for row in rows {
            if row.range.lowerBound <= new.range.lowerBound, new.range.lowerBound < row.range.upperBound {
                new.range = min(row.range.upperBound, new.range.upperBound)..<new.range.upperBound
            } else if row.range.lowerBound < new.range.upperBound, new.range.upperBound <= row.range.upperBound {
                new.range = new.range.lowerBound..<max(row.range.lowerBound, new.range.lowerBound)
            }
        }
        if new.range.isEmpty { return nil }
        let held = rows.filter { new.range.lowerBound <= $0.range.lowerBound && $0.range.upperBound <= new.range.upperBound }
        guard rows.count - held.count < ExtentRow.limit else { return nil }
        let heldIDs = held.map(\.id)
        self = ExtentSet(rows.filter { !heldIDs.contains($0.id) } + [new])
        return held
    }
}
