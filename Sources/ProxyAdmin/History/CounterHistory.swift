import EventLoop
import HTTPMessage
import Metrics
import ProxyCore
import ProxyServer

/// The counters of a running server over time: one sample per minute, for a day. Kept in the process only.
package final class CounterHistory: Sendable {
    /// What has happened in one period.
    struct Sample: Sendable, Equatable {
        /// The end of the period.
        var at: Timestamp
        var requests: UInt64 = 0
        var hits: UInt64 = 0
        var sentBytes: UInt64 = 0
        var savedBytes: UInt64 = 0
        var denied: UInt64 = 0
        var failed: UInt64 = 0
        /// The durations that half, and 99 in 100, of the requests did not exceed, in microseconds; `nil` without requests.
        var median: UInt64?
        var slowest: UInt64?
    }

    /// The counters since the start, at one moment.
    struct Totals: Sendable {
        var statistics = LoopStatistics()
        var durations = DurationHistogram()
    }

    private struct State {
        var samples: [Sample] = []
        /// The place of the oldest sample, once the ring is full.
        var oldest = 0
        var latest = Totals()
    }

    /// The number of samples: the minutes of a day.
    package static let limit = 1440

    private let state = Guarded(State())

    package init() {}

    /// Adds the period that ends now.
    func add(_ totals: Totals, at now: Timestamp) {
        state.withLock { state in
            let sample = Sample(from: state.latest, to: totals, at: now)
            state.latest = totals
            if state.samples.count < Self.limit {
                state.samples.append(sample)
            } else {
                state.samples[state.oldest] = sample
                state.oldest = (state.oldest + 1) % Self.limit
            }
        }
    }

    /// All samples, oldest first, and then the period that has not ended.
    func samples(with totals: Totals, at now: Timestamp) -> [Sample] {
        state.withLock { state in
            state.samples[state.oldest...] + state.samples[..<state.oldest]
                + [Sample(from: state.latest, to: totals, at: now)]
        }
    }
}

extension CounterHistory.Sample {
    init(from: CounterHistory.Totals, to: CounterHistory.Totals, at now: Timestamp) {
        at = now
        requests = to.statistics.requests &- from.statistics.requests
        hits = to.statistics.hits &- from.statistics.hits
        sentBytes = to.statistics.sentBytes &- from.statistics.sentBytes
        savedBytes = to.statistics.savedBytes &- from.statistics.savedBytes
        denied = to.statistics.count(of: .denied) &- from.statistics.count(of: .denied)
        failed = to.statistics.count(of: .failed) &- from.statistics.count(of: .failed)
        let durations = to.durations.since(from.durations)
        median = durations.quantile(0.5)
        slowest = durations.quantile(0.99)
    }
}

extension CounterHistory.Totals {
    init(_ statistics: LoopStatistics, _ metrics: MetricsSnapshot) {
        self.statistics = statistics
        // A tunnel lasts as long as its client wants, which says nothing about Larder.
        for outcome in DecisionTrace.Outcome.allCases where outcome != .tunnel && outcome != .background {
            durations += metrics.durations(of: outcome)
        }
    }
}
