import Metrics
import Testing

@Suite("Histograms of durations")
struct DurationHistogramTests {
    @Test("A duration counts for every bound that it does not exceed")
    func countsByBound() {
        var histogram = DurationHistogram()
        for microseconds: UInt64 in [0, 100, 101, 60_000_000, 60_000_001] { histogram.note(microseconds: microseconds) }
        #expect(histogram.cumulativeCounts == [2, 3] + Array(repeating: 3, count: 14) + [4])
        #expect(histogram.count == 5 && histogram.sumMicroseconds == 120_000_202)
    }

    @Test("A sum of histograms has the counts and the sums of both")
    func adds() {
        var (one, other, both) = (DurationHistogram(), DurationHistogram(), DurationHistogram())
        for microseconds: UInt64 in [5, 700, 90_000] {
            one.note(microseconds: microseconds)
            other.note(microseconds: microseconds * 3)
            both.note(microseconds: microseconds)
            both.note(microseconds: microseconds * 3)
        }
        one += other
        #expect(one == both && one.count == 6)
    }
}
