import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("larder top")
struct TopTests {
    private func report(_ before: String, _ now: String, seconds: Double = 2) -> TopReport {
        let began = ContinuousClock.now
        return TopReport(
            from: MetricsSample(before, at: began),
            to: MetricsSample(now, at: began.advanced(by: .milliseconds(Int64(seconds * 1000)))),
            wallClock: 1100)
    }

    private let before = """
        # TYPE larder_requests_total counter
        larder_build_info{version="0.1.0"} 1
        larder_mode{mode="live"} 1
        larder_mode{mode="offline"} 0
        process_start_time_seconds 1000
        larder_requests_total{mode="live",method="GET",status="200",cache="hit"} 10
        larder_requests_total{mode="live",method="GET",status="200",cache="miss"} 5
        larder_request_duration_seconds_bucket{cache="hit",le="0.001"} 10
        larder_request_duration_seconds_bucket{cache="hit",le="0.01"} 10
        larder_request_duration_seconds_bucket{cache="hit",le="+Inf"} 10
        larder_sent_bytes_total 1000
        larder_errors_total{code="denied_by_rule"} 1
        """

    @Test("Rates and percentiles are those of the interval, and the other numbers those since the start")
    func computes() {
        let now = before.replacing(#"status="200",cache="hit"} 10"#, with: #"status="200",cache="hit"} 40"#)
            .replacing(#"status="200",cache="miss"} 5"#, with: #"status="200",cache="miss"} 15"#)
            .replacing(#"le="0.001"} 10"#, with: #"le="0.001"} 25"#).replacing(#"le="0.01"} 10"#, with: #"le="0.01"} 40"#)
            .replacing(#"le="+Inf"} 10"#, with: #"le="+Inf"} 40"#).replacing(
                "larder_sent_bytes_total 1000", with: "larder_sent_bytes_total 3000")
        let report = report(before, now)
        #expect(report.requestsPerSecond == 20 && report.hitRatio == 0.75 && report.sentPerSecond == 1000)
        #expect(report.mode == "live" && report.upSeconds == 100 && report.errorsPerSecond == 0)
        #expect(report.outcomes.map(\.word) == ["hit", "miss"] && report.outcomes[0].total == 40)
        // 15 of 30 took at most 1 ms, and the other 15 at most 10 ms.
        #expect(report.outcomes[0].median == 0.001)
        #expect(abs((report.outcomes[0].p99 ?? 0) - 0.00982) < 1e-6 && report.outcomes[1].median == nil)
        #expect(report.errors.map(\.name) == ["denied_by_rule"] && report.errors[0].count == 1)
    }

    @Test("An interval without requests has no hit ratio, and counters of a restarted Larder give no negative rates")
    func staysCalm() {
        let idle = report(before, before)
        #expect(idle.hitRatio == nil && idle.requestsPerSecond == 0)
        let restarted = report(before, "larder_requests_total{cache=\"hit\"} 1\nlarder_sent_bytes_total 0\n")
        #expect(restarted.requestsPerSecond == 0 && restarted.sentPerSecond == 0)
        let nothing = report("", "not metrics {\n{=\"\nlarder_tunnels NaN\nlarder_requests_total{cache=\"hit\"} +Inf\n")
        #expect(TopScreen(report: nothing).lines(width: 80, height: 24).count > 5)
    }

    @Test("Labels with escaped characters are read, and control characters do not reach the terminal")
    func readsLabels() {
        let text = #"larder_policy_decisions_total{rule="a\"b\\c\nd, e=",action="deny"} 3"# + "\n"
        let report = report("", text)
        #expect(report.denials.map(\.name) == ["a\"b\\c\nd, e="])
        let lines = TopScreen(report: report).lines(width: 200, height: 50)
        #expect(lines.contains { $0.hasPrefix("  3") && $0.contains("a\"b\\") })
        #expect(!lines.contains { $0.contains("\n") })
    }

    @Test("The picture fits into the terminal")
    func fits() {
        let lines = TopScreen(report: report(before, before)).lines(width: 30, height: 4)
        #expect(lines.count == 4 && lines.allSatisfy { $0.count <= 30 })
    }

    @Test("Numbers are short")
    func formats() {
        #expect(TopScreen.count(0) == "0" && TopScreen.count(999) == "999" && TopScreen.count(1_234_567) == "1,234,567")
        #expect(TopScreen.rate(0.44) == "0.4" && TopScreen.rate(1234.4) == "1,234")
        #expect(TopScreen.time(0.00012) == "0.12 ms" && TopScreen.time(0.25) == "250 ms" && TopScreen.time(2.04) == "2.0 s")
        #expect(TopScreen.time(nil) == "-" && TopScreen.percent(0.756) == "76 %" && TopScreen.percent(nil) == "-")
    }

    @Test("--once prints one picture of a running Larder, as text or JSON, and a Larder that is not running is an error")
    func watches() throws {
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "hello")
        }
        defer { origin.stop() }
        let served = try ServeTests.Served()
        let proxy = UInt16(try #require(try served.ports().first))
        for _ in 0..<3 {
            let client = try RawClient(port: proxy)
            client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try client.readResponse().text == "hello")
            #expect(client.isClosedByPeer())
        }
        let socket = ["--socket", "\(served.folder.path)/admin.sock"]
        let text = try CommandLineTests.larder(["top", "--once", "-n", "0.1"] + socket)
        #expect(text.code == 0 && text.output.hasPrefix("Larder ") && text.output.contains("mode live"), "\(text)")
        #expect(text.output.contains("\nhit ") && text.output.contains("\nmiss "))
        let json = try CommandLineTests.larder(["top", "--once", "-n", "0.1", "-o", "json"] + socket)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(object["mode"] as? String == "live" && object["memory_responses"] as? Int == 1, "\(json)")
        let outcomes = try #require(object["outcomes"] as? [[String: Any]])
        #expect(outcomes.first { $0["cache"] as? String == "hit" }?["requests"] as? Int == 2)
        let missing = try CommandLineTests.larder(["top", "--once", "--socket", "\(served.folder.path)/none.sock"])
        #expect(missing.code == 1 && missing.talk.contains("Larder is not running"))
        #expect(try CommandLineTests.larder(["top", "-n", "0"]).code == 2)
    }
}
