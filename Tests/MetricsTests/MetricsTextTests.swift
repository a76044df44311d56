import Metrics
import Testing

@Suite("Metrics as text")
struct MetricsTextTests {
    private var families: [MetricFamily] {
        var requests = MetricFamily("larder_requests", .counter, "Requests.")
        requests.add([("rule", "a \"b\"\\\n"), ("method", "GET")], .count(7))
        var build = MetricFamily("larder_build", .info, "A \"version\"\nand \\.")
        build.add([("version", "1")], .count(1))
        return [
            requests, MetricFamily("larder_none", .counter, "Nothing."), build,
            MetricFamily("larder_age", .gauge, "Age.", .number(0.25)),
        ]
    }

    @Test("Prometheus text names counters with _total, escapes labels and help, and leaves out empty families")
    func prometheus() {
        #expect(
            MetricsFormat.prometheus.text(of: families) == #"""
                # HELP larder_requests_total Requests.
                # TYPE larder_requests_total counter
                larder_requests_total{rule="a \"b\"\\\n",method="GET"} 7
                # HELP larder_build_info A "version"\nand \\.
                # TYPE larder_build_info gauge
                larder_build_info{version="1"} 1
                # HELP larder_age Age.
                # TYPE larder_age gauge
                larder_age 0.25

                """#)
    }

    @Test("OpenMetrics names families without a suffix, and ends with # EOF")
    func openMetrics() {
        let text = MetricsFormat.openMetrics.text(of: families)
        #expect(text.contains("# TYPE larder_requests counter\nlarder_requests_total{"))
        #expect(text.contains("# TYPE larder_build info\nlarder_build_info{"))
        #expect(text.hasSuffix("larder_age 0.25\n# EOF\n"))
    }

    @Test("A histogram has its buckets, in seconds, its sum and its count")
    func histogram() {
        var histogram = DurationHistogram()
        for microseconds: UInt64 in [200, 1_500_000] { histogram.note(microseconds: microseconds) }
        let lines = MetricsFormat.prometheus.text(of: [MetricFamily("d_seconds", .histogram, "D.", .durations(histogram))])
            .split(separator: "\n")
        #expect(lines[1] == "# TYPE d_seconds histogram")
        #expect(
            lines[2...4] == [
                #"d_seconds_bucket{le="0.0001"} 0"#, #"d_seconds_bucket{le="0.00025"} 1"#, #"d_seconds_bucket{le="0.0005"} 1"#,
            ])
        #expect(
            lines.suffix(4) == [
                #"d_seconds_bucket{le="60"} 2"#, #"d_seconds_bucket{le="+Inf"} 2"#, "d_seconds_sum 1.5002", "d_seconds_count 2",
            ])
        #expect(lines.count == 2 + 18 + 2)
    }
}
