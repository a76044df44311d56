import EventLoop
import HTTPMessage
import ProxyServer
import TextCoding

/// `GET /v1/history`: the counters of each minute of the last day, oldest first. The last sample is of the minute that has not ended.
package enum HistoryRoute {
    package static func route(_ history: CounterHistory, server: ProxyServer) -> AdminRoute {
        AdminRoute(.get, "/v1/history", .read) { _, exchange in
            let reply = exchange.loop.reply { (answer: (LoopStatistics, MetricsSnapshot)) in
                let now = Timestamp(milliseconds: exchange.loop.wallClockMilliseconds)
                let samples = history.samples(with: CounterHistory.Totals(answer.0, answer.1), at: now)
                let text = JSONText.object([("samples", .array(samples.map(json)))]).writtenInLine() + "\n"
                exchange.answer(contentType: "application/json", body: Array(text.utf8))
            }
            server.metrics(reply)
        }
    }

    private static func json(_ sample: CounterHistory.Sample) -> JSONText {
        .object([
            ("at", .string(sample.at.rfc3339)), ("requests", .count(sample.requests)), ("hits", .count(sample.hits)),
            ("sent_bytes", .count(sample.sentBytes)), ("saved_bytes", .count(sample.savedBytes)),
            ("denied", .count(sample.denied)), ("failed", .count(sample.failed)),
            ("p50_us", sample.median.map(JSONText.count) ?? .null), ("p99_us", sample.slowest.map(JSONText.count) ?? .null),
        ])
    }
}

/// Adds a sample to the history once a minute. Confined to the loop of an admin server.
package final class HistorySampler: TimerHandler {
    private unowned let loop: EventLoop
    private let history: CounterHistory
    private let server: ProxyServer
    private let period: Int
    private var timer: TimerID?

    private init(_ history: CounterHistory, _ server: ProxyServer, on loop: EventLoop, period: Int) {
        self.history = history
        self.server = server
        self.loop = loop
        self.period = period
    }

    /// - Parameter period: in milliseconds.
    package static func start(_ history: CounterHistory, _ server: ProxyServer, on loop: EventLoop, period: Int = 60_000) {
        let sampler = HistorySampler(history, server, on: loop, period: period)
        sampler.timer = loop.makeTimer(sampler)
        sampler.setTimer()
    }

    package func deadlinePassed(_ timer: TimerID) {
        let reply = loop.reply { (answer: (LoopStatistics, MetricsSnapshot)) in
            self.history.add(
                CounterHistory.Totals(answer.0, answer.1), at: Timestamp(milliseconds: self.loop.wallClockMilliseconds))
        }
        server.metrics(reply)
        setTimer()
    }

    private func setTimer() { if let timer { loop.setTimer(timer, afterMilliseconds: period) } }
}
