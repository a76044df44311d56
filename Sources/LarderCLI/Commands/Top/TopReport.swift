import Foundation
import TextCoding

/// What a running Larder did between two moments, and its state at the second.
struct TopReport {
    /// The requests with one outcome.
    struct Outcome {
        let word: String
        let perSecond: Double
        let total: Double
        /// Percentiles of the time from the end of a request's head to the end of its response, in seconds; `nil` without requests in the
        /// interval.
        let median: Double?
        let p99: Double?
    }

    let seconds: Double
    let mode: String
    let version: String
    let upSeconds: Double
    let requestsPerSecond: Double
    /// The share of the interval's requests that were answered without the origin; `nil` if there were no requests.
    let hitRatio: Double?
    let sentPerSecond: Double
    let savedPerSecond: Double
    let receivedPerSecond: Double
    let errorsPerSecond: Double
    let cpuShare: Double
    /// Sorted by the number of requests in the interval, then by the number of requests since the start.
    let outcomes: [Outcome]
    /// Errors since the start by code, the most frequent first.
    let errors: [(name: String, count: Double)]
    /// Denied requests since the start by rule, the most frequent first. Requests that no rule allows have an empty name.
    let denials: [(name: String, count: Double)]
    private let now: MetricsSample

    /// - Parameter wallClock: seconds since 1970.
    init(from before: MetricsSample, to now: MetricsSample, wallClock: Double) {
        self.now = now
        let elapsed = before.at.duration(to: now.at).components
        let seconds = max(1e-3, Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18)
        self.seconds = seconds
        func rate(_ name: Substring) -> Double { max(0, now.value(name) - before.value(name)) / seconds }
        mode = now.sums("larder_mode", by: "mode").first { $0.value == 1 }?.key ?? ""
        version = now.sums("larder_build_info", by: "version").keys.first ?? ""
        upSeconds = max(0, wallClock - now.value("process_start_time_seconds"))
        let totals = now.sums("larder_requests_total", by: "cache")
        let former = before.sums("larder_requests_total", by: "cache")
        let fresh = totals.reduce(into: [:]) { $0[$1.key] = max(0, $1.value - (former[$1.key] ?? 0)) }
        let requests = fresh.values.reduce(0, +)
        requestsPerSecond = requests / seconds
        hitRatio = requests > 0 ? fresh.reduce(0) { RequestTally.hitWords.contains($1.key) ? $0 + $1.value : $0 } / requests : nil
        sentPerSecond = rate("larder_sent_bytes_total")
        savedPerSecond = rate("larder_cache_saved_bytes_total")
        receivedPerSecond = rate("larder_received_bytes_total")
        cpuShare = rate("process_cpu_seconds_total")
        errorsPerSecond = max(0, now.sum("larder_errors_total") - before.sum("larder_errors_total")) / seconds
        outcomes = totals.map { word, total in
            let labels = ["cache": word]
            let buckets = Self.difference(
                now.buckets("larder_request_duration_seconds", labels), before.buckets("larder_request_duration_seconds", labels))
            return Outcome(
                word: word, perSecond: (fresh[word] ?? 0) / seconds, total: total, median: Self.percentile(0.5, of: buckets),
                p99: Self.percentile(0.99, of: buckets))
        }.sorted { ($1.perSecond, $1.total, $0.word) < ($0.perSecond, $0.total, $1.word) }
        errors = Self.mostFrequent(now.sums("larder_errors_total", by: "code"))
        denials = Self.mostFrequent(now.sums("larder_policy_decisions_total", by: "rule"))
    }

    func value(_ name: Substring, _ labels: [String: String] = [:]) -> Double {
        labels.isEmpty ? now.value(name) : now.sum(name, labels)
    }

    private static func mostFrequent(_ sums: [String: Double]) -> [(name: String, count: Double)] {
        sums.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    private static func difference(
        _ now: [(bound: Double, count: Double)], _ before: [(bound: Double, count: Double)]
    ) -> [(bound: Double, count: Double)] {
        let former = Dictionary(before.map { ($0.bound, $0.count) }, uniquingKeysWith: +)
        return now.map { ($0.bound, max(0, $0.count - (former[$0.bound] ?? 0))) }
    }

    /// Interpolates within a bucket, as Prometheus' `histogram_quantile` does.
    /// - Parameter buckets: cumulative, in ascending order.
    static func percentile(_ share: Double, of buckets: [(bound: Double, count: Double)]) -> Double? {
        guard let all = buckets.last?.count, all > 0 else { return nil }
        let rank = share * all
        var lower = (bound: 0.0, count: 0.0)
        for bucket in buckets {
            if bucket.count >= rank, bucket.count > lower.count {
                guard bucket.bound.isFinite else { return lower.bound }
                return lower.bound + (bucket.bound - lower.bound) * (rank - lower.count) / (bucket.count - lower.count)
            }
            lower = bucket
        }
        return lower.bound
    }

    /// The report as one JSON object.
    var json: JSONText {
        func named(_ counts: [(name: String, count: Double)], _ name: String) -> JSONText {
            .array(counts.map { .object([(name, .string($0.name)), ("count", Self.whole($0.count))]) })
        }
        return .object([
            ("version", .string(version)), ("mode", .string(mode)), ("interval_seconds", Self.number(seconds)),
            ("up_seconds", Self.number(upSeconds)), ("requests_per_second", Self.number(requestsPerSecond)),
            ("hit_ratio", hitRatio.map(Self.number) ?? .null), ("errors_per_second", Self.number(errorsPerSecond)),
            ("sent_bytes_per_second", Self.number(sentPerSecond)), ("saved_bytes_per_second", Self.number(savedPerSecond)),
            ("received_bytes_per_second", Self.number(receivedPerSecond)), ("cpu_cores", Self.number(cpuShare)),
            ("resident_bytes", Self.whole(value("process_resident_memory_bytes"))),
            ("client_connections", Self.whole(value("larder_client_connections"))),
            ("tunnels", Self.whole(value("larder_tunnels"))),
            ("upstream_connections", Self.whole(now.sum("larder_upstream_connections"))),
            ("upstream_waiting_requests", Self.whole(value("larder_upstream_waiting_requests"))),
            ("stored_responses", Self.whole(value("larder_cache_entries", ["tier": "disk"]))),
            ("stored_bytes", Self.whole(value("larder_cache_bytes", ["tier": "disk"]))),
            ("memory_responses", Self.whole(value("larder_cache_entries", ["tier": "memory"]))),
            ("memory_bytes", Self.whole(value("larder_cache_bytes", ["tier": "memory"]))),
            (
                "outcomes",
                .array(
                    outcomes.map {
                        .object([
                            ("cache", .string($0.word)), ("requests_per_second", Self.number($0.perSecond)),
                            ("requests", Self.whole($0.total)), ("p50_seconds", $0.median.map(Self.number) ?? .null),
                            ("p99_seconds", $0.p99.map(Self.number) ?? .null),
                        ])
                    })
            ),
            ("errors", named(errors, "code")), ("denials", named(denials, "rule")),
        ])
    }

    private static func whole(_ value: Double) -> JSONText { .number(Int(exactly: value.rounded()) ?? 0) }

    /// The number, rounded to at most six decimals.
    private static func number(_ value: Double) -> JSONText { .decimal((value * 1e6).rounded() / 1e6) }
}
