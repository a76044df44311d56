import HTTPMessage
import Metrics
import Testing

@testable import ProxyAdmin

@Suite("The history of counters")
struct CounterHistoryTests {
    private func totals(_ count: Int) -> CounterHistory.Totals {
        var totals = CounterHistory.Totals()
        for _ in 0..<count { totals.durations.note(microseconds: 700) }
        return totals
    }

    @Test("Each sample has the difference to the one before, and the last is of the period that has not ended")
    func samples() {
        let history = CounterHistory()
        history.add(totals(2), at: Timestamp(milliseconds: 60_000))
        history.add(totals(2), at: Timestamp(milliseconds: 120_000))
        let samples = history.samples(with: totals(3), at: Timestamp(milliseconds: 130_000))
        #expect(samples.map(\.at.milliseconds) == [60_000, 120_000, 130_000])
        #expect(samples.map { $0.median != nil } == [true, false, true])
    }

    @Test("The history keeps a day, and drops the oldest samples")
    func isBounded() {
        let history = CounterHistory()
        for minute in 1...CounterHistory.limit + 5 { history.add(totals(0), at: Timestamp(milliseconds: Int64(minute) * 60_000)) }
        let samples = history.samples(with: totals(0), at: Timestamp(milliseconds: 0))
        #expect(samples.count == CounterHistory.limit + 1)
        #expect(samples.first?.at.milliseconds == 360_000)
        #expect(samples.dropLast().last?.at.milliseconds == 86_700_000)
    }
}
