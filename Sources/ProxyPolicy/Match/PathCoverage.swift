/// Which readings of one request's path are matched by rules.
struct PathCoverage: Sendable {
    /// Whether every path matches. Then readings that Larder does not know match too.
    private(set) var isEveryPath = false
    /// A bit for each reading, by its number in `PathReadings`.
    private(set) var readings: UInt64 = 0

    static let none = PathCoverage()
    static let everyPath: PathCoverage = {
        var coverage = PathCoverage()
        coverage.isEveryPath = true
        return coverage
    }()

    var isEmpty: Bool { !isEveryPath && readings == 0 }

    mutating func insert(_ number: Int) { readings |= 1 << UInt64(number) }

    mutating func formUnion(_ other: PathCoverage) {
        isEveryPath = isEveryPath || other.isEveryPath
        readings |= other.readings
    }

    func intersection(_ other: PathCoverage) -> PathCoverage {
        if isEveryPath { return other }
        if other.isEveryPath { return self }
        var both = self
        both.readings &= other.readings
        return both
    }
}
