import Foundation
import TestSupport
import Testing

@Suite("Metrics")
struct MetricsTests {
    typealias Served = ServeTests.Served

    private func get(_ path: String, accept: String = "*/*", host: String = "larder", by client: RawClient) throws
        -> ReceivedResponse
    {
        client.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAccept: \(accept)\r\n\r\n")
        return try client.readResponse()
    }

    private func viaSocket(_ path: String, accept: String = "*/*", _ served: Served) throws -> ReceivedResponse {
        try get(path, accept: accept, by: RawClient(socketPath: "\(served.folder.path)/admin.sock"))
    }

    /// The address of `metrics.listen`, as printed at the start.
    private func port(of served: Served) throws -> UInt16 {
        _ = try served.ports()
        let line = try #require(served.said.split(separator: "\n").first { $0.hasPrefix("  metrics   http://127.0.0.1:") })
        return try #require(UInt16(line.dropFirst("  metrics   http://127.0.0.1:".count).prefix { $0.isNumber }))
    }

    /// As Prometheus 2.42 sends it.
    private let prometheusAccept =
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"

    private let yaml = """
        metrics: {listen: '127.0.0.1:0'}
        rules:
          - {name: no secrets, match: {path: /no}, deny: {}}
        """

    @Test("/metrics counts requests by mode, method, status and outcome, on the admin socket and at metrics.listen")
    func counts() throws {
        let origin = ScriptedOrigin.answering { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nhello")
        }
        defer { origin.stop() }
        let served = try Served(yaml)
        let metrics = try port(of: served)
        let proxy = UInt16(try #require(try served.ports().first))
        var content = 0
        for path in ["/a", "/a", "/a", "/no", "/b"] {
            let client = try RawClient(port: proxy)
            client.send("GET http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            content += try client.readResponse().body.count
            // The exchange is counted before its connection ends.
            #expect(client.isClosedByPeer())
        }
        for text in [
            try viaSocket("/metrics", served).text, try get("/metrics", host: "any.example", by: RawClient(port: metrics)).text,
        ] {
            let lines = Set(text.split(separator: "\n").map(String.init))
            for line in [
                #"larder_requests_total{mode="live",method="GET",status="200",cache="hit"} 2"#,
                #"larder_requests_total{mode="live",method="GET",status="200",cache="miss"} 2"#,
                #"larder_requests_total{mode="live",method="GET",status="403",cache="denied"} 1"#,
                "larder_sent_bytes_total \(content)",
                #"larder_policy_decisions_total{rule="no secrets",action="deny",enforce="deny",reason="denied_by_rule"} 1"#,
                #"larder_errors_total{code="denied_by_rule"} 1"#, #"larder_request_duration_seconds_count{cache="hit"} 2"#,
                "larder_upstream_requests_total 2", #"larder_upstream_duration_seconds_count{phase="first_byte"} 2"#,
                "larder_cache_saved_bytes_total 10", #"larder_cache_entries{tier="memory"} 2"#,
                "larder_config_reload_success 1", #"larder_mode{mode="live"} 1"#,
            ] { #expect(lines.contains(line), "\(line) is missing:\n\(text)") }
        }
        #expect(try viaSocket("/metrics", served)["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        let open = try viaSocket("/metrics", accept: prometheusAccept, served)
        #expect(
            open["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8" && open.text.hasSuffix("# EOF\n")
        )
        _ = try served.folder.write("mistake: 1\n", to: "larder.yaml")
        let reload = try CommandLineTests.larder(["reload", "--set", "admin.socket=\(served.folder.path)/admin.sock"])
        #expect(reload.code != 0)
        #expect(try viaSocket("/metrics", served).text.contains("\nlarder_config_reload_success 0\n"))
    }

    @Test("TLS handshakes count by side and result, report-only pins by host, and open connections by state")
    func countsHandshakes() throws {
        let stage = try PinnedStage()
        let trusted = stage.serve(stage.authority.identity())
        let untrusted = stage.serve(TestAuthority().identity())
        let other = "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
        let served = try Served(
            """
            tls:
              default: {anchors: {bundle: root.pem}}
              hosts:
                127.0.0.1:\(trusted.port): {anchors: {bundle: root.pem}, pins: {of: \(other)}, mode: report_only}
            rules: [{name: one a day, match: {path: /rare}, limit: {requests: 1, within: 1d}}]
            """, in: stage.folder)
        let proxy = UInt16(try #require(try served.ports().first))
        for (port, path, status) in [
            (trusted.port, "/", 200), (trusted.port, "/rare", 200), (trusted.port, "/rare", 429), (untrusted.port, "/", 502),
        ] {
            let client = try RawClient(port: proxy)
            client.send("GET https://127.0.0.1:\(port)\(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try client.readResponse().status == status)
            #expect(client.isClosedByPeer())
        }
        let text = try viaSocket("/metrics", served).text
        let lines = Set(text.split(separator: "\n").map(String.init))
        for line in [
            #"larder_tls_handshakes_total{side="origin",result="full"} 1"#,
            #"larder_tls_handshakes_total{side="origin",result="untrusted"} 1"#,
            #"larder_tls_handshakes_total{side="client",result="full"} 0"#,
            #"larder_pin_checks_total{host="127.0.0.1:\#(trusted.port)",result="mismatch"} 1"#,
            #"larder_pin_checks_total{host="127.0.0.1:\#(trusted.port)",result="match"} 0"#,
            #"larder_upstream_connections{state="idle"} 1"#, #"larder_upstream_connections{state="active"} 0"#,
            "larder_upstream_waiting_requests 0",
            #"larder_policy_decisions_total{rule="one a day",action="deny",enforce="deny",reason="quota_exceeded"} 1"#,
        ] { #expect(lines.contains(line), "\(line) is missing:\n\(text)") }
    }

    @Test("In mode replay, requests without a recording count as replay misses")
    func countsReplayMisses() throws {
        let served = try Served("mode: replay\nreplay: {layers: [cache]}\n")
        let proxy = UInt16(try #require(try served.ports().first))
        for _ in 0..<2 {
            let client = try RawClient(port: proxy)
            client.send("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
            #expect(try client.readResponse().status == 504)
            #expect(client.isClosedByPeer())
        }
        let text = try viaSocket("/metrics", served).text
        #expect(
            text.contains("\nlarder_replay_misses_total 2\n") && text.contains("\nlarder_mode{mode=\"replay\"} 1\n"), "\(text)")
    }

    @Test("metrics.listen serves only monitoring, not web pages, and no request through the proxy reaches it")
    func servesOnlyMonitoring() throws {
        let served = try Served(yaml)
        let metrics = try port(of: served)
        for path in ["/livez", "/readyz"] {
            let response = try get(path, by: RawClient(port: metrics))
            #expect(response.status == 200 && response.text == "ok\n")
        }
        #expect(try get("/v1/status", by: RawClient(port: metrics)).status == 404)
        let page = try RawClient(port: metrics)
        page.send("GET /metrics HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n\r\n")
        #expect(try page.readResponse().status == 403)
        let client = try RawClient(port: UInt16(try #require(try served.ports().first)))
        client.send("GET http://127.0.0.1:\(metrics)/metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let looped = try client.readResponse()
        #expect(looped.status == 508 || looped.status == 403, "\(looped.status)")
        #expect(!looped.text.contains("larder_build_info"))
    }

    @Test("/readyz gives 503 while Larder waits for requests in flight before it stops")
    func isNotReadyWhileStopping() throws {
        let asked = Gate()
        let release = Gate()
        let origin = ScriptedOrigin.answering { _, connection in
            asked.open()
            release.wait()
            return connection.respond(body: "late")
        }
        defer { origin.stop() }
        let served = try Served(yaml)
        let metrics = try port(of: served)
        let client = try RawClient(port: UInt16(try #require(try served.ports().first)))
        client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        asked.wait()
        served.signal(SIGTERM)
        try eventually { try get("/readyz", by: RawClient(port: metrics)).status == 503 }
        #expect(try get("/readyz", by: RawClient(port: metrics)).text == "Larder is stopping\n")
        #expect(try get("/livez", by: RawClient(port: metrics)).status == 200)
        release.open()
        #expect(try client.readResponse().text == "late")
        client.close()
        #expect(served.hasEnded())
    }

    @Test("An address in use ends the start with a message that names the setting")
    func namesTakenAddresses() throws {
        let taken = ScriptedOrigin.answering { _, connection in connection.respond(body: "") }
        defer { taken.stop() }
        let served = try Served("metrics: {listen: '127.0.0.1:\(taken.port)'}")
        #expect(served.says("cannot listen on metrics.listen, 127.0.0.1:\(taken.port): Address already in use"))
        #expect(served.hasEnded() && served.process.terminationStatus == 1)
    }
}
