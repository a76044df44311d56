/// Byte ranges of a file, half-open: in order, separate and not empty.
struct Extents: Equatable, Sendable {
    private(set) var ranges: [Range<UInt64>] = []

    init() {}

    /// - Returns: `nil` if the ranges are not in order, or not separate.
    init?(_ ranges: [Range<UInt64>]) {
        var end: UInt64?
        for range in ranges {
            if range.isEmpty { return nil }
            if let end, range.lowerBound <= end { return nil }
            end = range.upperBound
        }
        self.ranges = ranges
    }

    var isEmpty: Bool { ranges.isEmpty }
    /// The total length of all ranges.
    var length: UInt64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }
    /// The end of the last range.
    var end: UInt64 { ranges.last?.upperBound ?? 0 }

    mutating func insert(_ new: Range<UInt64>) {
        if new.isEmpty { return }
        // The new range nearly always begins at the end of the last one.
        if let last = ranges.indices.last, ranges[last].upperBound == new.lowerBound {
            ranges[last] = ranges[last].lowerBound..<new.upperBound
            return
        }
        var joined = new
        var result: [Range<UInt64>] = []
        for range in ranges {
            if range.upperBound < joined.lowerBound || range.lowerBound > joined.upperBound {
                result.append(range)
            } else {
                joined = min(joined.lowerBound, range.lowerBound)..<max(joined.upperBound, range.upperBound)
            }
        }
        let place = result.firstIndex { $0.lowerBound > joined.lowerBound } ?? result.endIndex
        result.insert(joined, at: place)
        ranges = result
    }

    /// The gaps between the ranges, up to the file's end.
    func missing(of total: UInt64) -> [Range<UInt64>] {
        var missing: [Range<UInt64>] = []
        var start: UInt64 = 0
        for range in ranges where range.lowerBound < total {
            if range.lowerBound > start { missing.append(start..<range.lowerBound) }
            start = range.upperBound
        }
        if start < total { missing.append(start..<total) }
        return missing
    }
}
