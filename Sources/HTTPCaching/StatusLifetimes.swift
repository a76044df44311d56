import HTTPMessage

/// Freshness lifetimes for a few ranges of status codes. A trivial type (no reference counts), since each request's decision reads it.
public struct StatusLifetimes: Equatable, Sendable {
    /// The maximum number of ranges.
    public static let limit = 8

    private struct Entry: Equatable {
        var lower: UInt16 = 0
        var upper: UInt16 = 0
        var lifetime = DeltaSeconds.zero
    }

    private var entries = InlineArray<8, Entry>(repeating: Entry())
    /// The number of ranges.
    public private(set) var count = 0

    /// Creates an empty set.
    public init() {}

    /// Whether there are no ranges.
    public var isEmpty: Bool { count == 0 }

    /// Adds a range of statuses, both ends included. If several ranges contain a status, the narrowest range applies; of equally wide
    /// ranges, the first.
    /// - Precondition: `count` is below `limit`.
    public mutating func add(_ statuses: ClosedRange<UInt16>, lifetime: DeltaSeconds) {
        let new = Entry(lower: statuses.lowerBound, upper: statuses.upperBound, lifetime: lifetime)
        var place = count
        while place > 0, entries[place - 1].upper - entries[place - 1].lower > new.upper - new.lower {
            entries[place] = entries[place - 1]
            place -= 1
        }
        entries[place] = new
        count += 1
    }

    package func lifetime(of status: Status) -> DeltaSeconds? {
        for index in 0..<count where entries[index].lower <= status.code && status.code <= entries[index].upper {
            return entries[index].lifetime
        }
        return nil
    }

    public static func == (left: StatusLifetimes, right: StatusLifetimes) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count where left.entries[index] != right.entries[index] { return false }
        return true
    }
}
