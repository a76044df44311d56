/// A histogram of durations: the number of durations up to each bound, and the sum of all durations. Trivial, and of a fixed size.
package struct DurationHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets in microseconds, in ascending order. The last bucket has no bound.
    package static let bounds: [UInt64] = inlineBounds.indices.map { inlineBounds[$0] }

    private static let inlineBounds: InlineArray<17, UInt64> = [
        100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
        10_000_000, 60_000_000,
    ]

    /// One count for each bound, and one for longer durations. The counts are not cumulative.
    private var buckets = InlineArray<18, UInt64>(repeating: 0)
    package private(set) var sumMicroseconds: UInt64 = 0

    package init() {}

    package mutating func note(microseconds: UInt64) {
        sumMicroseconds &+= microseconds
        var index = 0
        while index < Self.inlineBounds.count, microseconds > Self.inlineBounds[index] { index += 1 }
        buckets[index] &+= 1
    }

    /// How many durations were noted.
    package var count: UInt64 {
        var sum: UInt64 = 0
        for index in buckets.indices { sum &+= buckets[index] }
        return sum
    }

    /// For each bound, how many durations were at most that long.
    package var cumulativeCounts: [UInt64] {
        var sum: UInt64 = 0
        return Self.bounds.indices.map { index in
            sum &+= buckets[index]
            return sum
        }
    }

    /// The durations that were noted after `earlier`, a former value of this histogram.
    package func since(_ earlier: DurationHistogram) -> DurationHistogram {
        var difference = self
        for index in buckets.indices { difference.buckets[index] &-= earlier.buckets[index] }
        difference.sumMicroseconds &-= earlier.sumMicroseconds
        return difference
    }

    /// A duration that this share of the durations does not exceed, in microseconds. The bounds of the buckets limit its precision: within a
    /// bucket the durations are assumed to be spread evenly.
    /// - Parameter share: 0 to 1.
    /// - Returns: `nil` if no durations were noted.
    package func quantile(_ share: Double) -> UInt64? {
        let total = count
        guard total > 0 else { return nil }
        let wanted = share * Double(total)
        var sum = 0.0
        for index in buckets.indices where buckets[index] > 0 {
            let next = sum + Double(buckets[index])
            if next >= wanted {
                let lower = index == 0 ? 0 : Self.inlineBounds[index - 1]
                // The last bucket has no bound.
                guard index < Self.inlineBounds.count else { return lower }
                let upper = Self.inlineBounds[index]
                return lower + UInt64(Double(upper - lower) * max(0, (wanted - sum) / Double(buckets[index])))
            }
            sum = next
        }
        return Self.inlineBounds[Self.inlineBounds.count - 1]
    }

    package static func += (left: inout DurationHistogram, right: DurationHistogram) {
        for index in left.buckets.indices { left.buckets[index] &+= right.buckets[index] }
        left.sumMicroseconds &+= right.sumMicroseconds
    }

    package static func == (left: DurationHistogram, right: DurationHistogram) -> Bool {
        left.sumMicroseconds == right.sumMicroseconds && left.buckets.indices.allSatisfy { left.buckets[$0] == right.buckets[$0] }
    }
}
