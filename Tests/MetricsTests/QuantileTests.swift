import Testing

@testable import Metrics

@Suite("Quantiles of durations")
struct QuantileTests {
    @Test("A quantile lies in the bucket that holds it, and is estimated within the bucket")
    func estimates() {
        var durations = DurationHistogram()
        #expect(durations.quantile(0.5) == nil)
        for _ in 0..<99 { durations.note(microseconds: 700) }
        durations.note(microseconds: 3_000_000)
        let median = durations.quantile(0.5)
        #expect(median.map { 500...1000 ~= $0 } == true)
        #expect(durations.quantile(0.99) == 1000)
        #expect(durations.quantile(1).map { 2_500_000...5_000_000 ~= $0 } == true)
        durations.note(microseconds: .max / 4)
        #expect(durations.quantile(1) == 60_000_000)
    }

    @Test("The difference of two histograms has only the later durations")
    func subtracts() {
        var durations = DurationHistogram()
        durations.note(microseconds: 50)
        let earlier = durations
        durations.note(microseconds: 20_000)
        let difference = durations.since(earlier)
        #expect(difference.count == 1 && difference.sumMicroseconds == 20_000)
        #expect(difference.quantile(0.5).map { 10_000...25_000 ~= $0 } == true)
    }
}
