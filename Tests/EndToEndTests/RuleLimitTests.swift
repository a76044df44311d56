import Foundation
import TestSupport
import Testing

@Suite("Limits of rules")
struct RuleLimitTests {
    private static let answers: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        guard connection.readBody(of: request) != nil else { return false }
        return connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "0123456789")
    }

    private func rule(_ limit: String) -> String { "rules: [{name: limited, limit: {\(limit)}}]" }

    private func logged(_ stage: Stage) throws -> [[String: Any]] {
        try stage.proxy.logLines().map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
    }

    @Test("A quota of requests is exact to one request under 50 clients on 4 loops, hits included")
    func isExact() throws {
        let stage = try Stage(rule("requests: 777, within: run"), loops: 4, answer: Self.answers)
        let head = stage.head("GET", "/a")
        let port = stage.proxy.port
        let counts = try concurrently(50) { _ in
            let client = try RawClient(port: port)
            var statuses: [Int: Int] = [:]
            for _ in 0..<20 {
                client.send(head)
                statuses[try client.readResponse().status, default: 0] += 1
            }
            return statuses
        }
        let served: Int = counts.reduce(0) { $0 + ($1[200] ?? 0) }
        let refused: Int = counts.reduce(0) { $0 + ($1[429] ?? 0) }
        #expect(served == 777)
        #expect(refused == 223)
    }

    @Test("A request beyond a quota gets 429 with the time to wait, the rule and the limit, and nothing is sent")
    func refusesBeyondQuota() throws {
        let stage = try Stage(rule("requests: 1, within: 1h, per: host"), answer: Self.answers)
        #expect(try stage.fetch("/a").status == 200)
        let refused = try stage.fetch("/b")
        #expect(refused.status == 429 && refused.code == "quota_exceeded" && refused.detail == "requests")
        #expect(try refused.json["rule"] as? String == "limited")
        #expect(try refused.json["reason"] as? String == "limit: {requests: 1, within: 1h, per: host}")
        let seconds = try #require(refused["Retry-After"].flatMap { Int($0) })
        #expect(seconds >= 1 && seconds <= 3600)
        let status = try #require(refused["Proxy-Status"])
        #expect(
            status.contains("details=\"quota_exceeded: requests; rule limited, limit: {requests: 1, within: 1h, per: host}\""))
        #expect(stage.requestCount() == 1)
        let line = try #require(try logged(stage).last)
        #expect(line["error"] as? String == "quota_exceeded" && line["detail"] as? String == "requests")
        #expect(line["rule"] as? String == "limited" && line["cache"] as? String == "denied")
    }

    @Test("A rate refuses requests for which its bucket has no token")
    func limitsRate() throws {
        let stage = try Stage(rule("rate: 2/h"), answer: Self.answers)
        let responses = try (0..<3).map { _ in try stage.fetch("/a") }
        #expect(responses.map(\.status) == [200, 200, 429])
        #expect(responses[2].code == "rate_limited" && responses[2]["Retry-After"] != nil)
    }

    @Test("A count survives a reload that keeps the rule's limit")
    func survivesReload() throws {
        let stage = try Stage(rule("requests: 1, within: run"), answer: Self.answers)
        #expect(try stage.fetch("/a").status == 200)
        try stage.proxy.reload("mode: live\n" + rule("requests: 1, within: run"))
        let refused = try stage.fetch("/a")
        #expect(refused.status == 429 && refused["Retry-After"] == nil)
        try stage.proxy.reload(rule("requests: 2, within: run"))
        #expect(try stage.fetch("/a").status == 200)
    }

    @Test("A request body beyond the limit gets 413: by its length before anything is sent, in chunks while it is sent")
    func limitsRequestBodies() throws {
        let stage = try Stage(rule("request_body: 100"), answer: Self.answers)
        #expect(try stage.fetch("/a", method: "POST", body: String(repeating: "x", count: 100)).status == 200)
        let long = try stage.fetch("/a", method: "POST", body: String(repeating: "x", count: 101))
        #expect(long.status == 413 && long.code == "request_too_large")
        #expect(try long.json["reason"] as? String == "limit: {request_body: 100}")
        #expect(stage.requestCount() == 1)
        let client = try stage.client()
        client.send(
            stage.head("POST", "/a", fields: "Transfer-Encoding: chunked\r\n") + "64\r\n" + String(repeating: "x", count: 100)
                + "\r\n")
        client.send("1\r\nx\r\n")
        let cut = try client.readResponse(to: "POST")
        #expect(cut.status == 413 && cut.code == "request_too_large")
        #expect(client.isClosedByPeer())
    }

    @Test("bytes_out counts the content of requests, in chunks too")
    func countsUploads() throws {
        let stage = try Stage(rule("bytes_out: 100, within: run"), answer: Self.answers)
        #expect(try stage.fetch("/a", method: "POST", body: String(repeating: "x", count: 60)).status == 200)
        #expect(try stage.fetch("/a", method: "POST", body: String(repeating: "x", count: 41)).code == "quota_exceeded")
        let client = try stage.client()
        client.send(
            stage.head("POST", "/a", fields: "Transfer-Encoding: chunked\r\n") + "28\r\n" + String(repeating: "x", count: 40)
                + "\r\n0\r\n\r\n")
        #expect(try client.readResponse(to: "POST").status == 200)
        client.send(stage.head("POST", "/a", fields: "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n")
        let refused = try client.readResponse(to: "POST")
        #expect(refused.status == 429 && refused.detail == "bytes_out")
        #expect(try stage.fetch("/b").status == 200)
    }

    @Test("If the Content-Length of a response exceeds the limit, the client gets 502, also for a stored response")
    func limitsResponses() throws {
        let stage = try Stage(rule("response_body: 9"), answer: Self.answers)
        let refused = try stage.fetch("/a")
        #expect(refused.status == 502 && refused.code == "response_too_large")
        #expect(refused["Proxy-Status"]?.contains("error=http_response_body_size") == true)
        #expect(try stage.fetch("/a", method: "HEAD").status == 200)
        try stage.proxy.reload("")
        #expect(try stage.fetch("/b").text == "0123456789")
        #expect(try stage.fetch("/b").cacheStatus.contains("hit"))
        try stage.proxy.reload(rule("response_body: 9"))
        #expect(try stage.fetch("/b").code == "response_too_large")
        #expect(stage.requestCount() == 3)
    }

    @Test(
        "A response of unknown length is cut at the limit, the client sees that it is incomplete, and it is not stored",
        arguments: ["response_body: 20000", "bytes_in: 20000, within: run"])
    func cutsResponses(limit: String) throws {
        let stage = try Stage(rule(limit)) { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<30 { connection.send("3e8\r\n" + String(repeating: "z", count: 1000) + "\r\n") }
            return connection.send("0\r\n\r\n")
        }
        // Beyond the quota the next request is refused at once.
        for count in 1...(limit.hasPrefix("response") ? 2 : 1) {
            let client = try stage.client()
            client.send(stage.head("GET", "/a"))
            let received = String(decoding: try client.readToEnd(), as: UTF8.self)
            #expect(!received.hasSuffix("0\r\n\r\n"))
            #expect(received.count { $0 == "z" } <= 20_000)
            if limit.hasPrefix("response") { #expect(stage.requestCount() == count) }
        }
        let line = try #require(try logged(stage).first)
        #expect(line["error"] as? String == (limit.hasPrefix("response") ? "response_too_large" : "quota_exceeded"))
        #expect(line["rule"] as? String == "limited")
    }

    @Test("bytes_in counts content from origins, not from the store")
    func countsDownloads() throws {
        let stage = try Stage(rule("bytes_in: 25, within: run"), answer: Self.answers)
        #expect(try stage.fetch("/a").status == 200)
        for _ in 0..<5 { #expect(try stage.fetch("/a").status == 200) }
        #expect(try stage.fetch("/b").status == 200)
        let refused = try stage.fetch("/c")
        #expect(refused.status == 429 && refused.detail == "bytes_in")
    }

    @Test("Beyond bytes_in, fresh stored responses are served, and nothing is sent to the origin")
    func servesStoredBeyondQuota() throws {
        let stage = try Stage(rule("bytes_in: 10, within: run"), answer: Self.answers)
        #expect(try stage.fetch("/a").status == 200)
        #expect(try stage.fetch("/a").cacheStatus.contains("; hit"))
        let refused = try stage.fetch("/b")
        #expect(refused.status == 429 && refused.code == "quota_exceeded" && refused.detail == "bytes_in")
        #expect(try refused.json["rule"] as? String == "limited")
        stage.proxy.pass(seconds: 3600)
        #expect(try stage.fetch("/a").code == "quota_exceeded")
        #expect(stage.requestCount() == 1)
    }

    /// An origin whose responses may be served stale while Larder validates them.
    private static let stale: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { _, connection in
        connection.respond(fields: "Cache-Control: max-age=60, stale-while-revalidate=600\r\n", body: "0123456789")
    }
    /// A request with this directive accepts no stale response, so it waits for a validation in flight.
    private static let demand = "Cache-Control: max-age=30\r\n"

    @Test("A background validation counts once, as a request and with its content", arguments: ["requests: 4", "bytes_in: 20"])
    func countsBackgroundFetches(limit: String) throws {
        let stage = try Stage(rule("\(limit), within: run, per: client"), answer: Self.stale)
        #expect(try stage.fetch("/a").status == 200)
        stage.proxy.pass(seconds: 100)
        #expect(try stage.fetch("/a").cacheStatus.contains("stale_while_revalidate"))
        #expect(try stage.fetch("/a", fields: Self.demand).text == "0123456789")
        #expect(stage.requestCount() == 2)
        let refused = try stage.fetch("/b")
        #expect(refused.status == 429 && refused.code == "quota_exceeded", "\(refused.text)")
    }

    @Test("Beyond a quota no background validation is sent, and the log says why")
    func refusesBackgroundFetches() throws {
        let stage = try Stage(rule("requests: 2, within: run"), answer: Self.stale)
        #expect(try stage.fetch("/a").status == 200)
        stage.proxy.pass(seconds: 100)
        #expect(try stage.fetch("/a").text == "0123456789")
        #expect(try stage.fetch("/a").code == "quota_exceeded")
        #expect(stage.requestCount() == 1)
        let line = try #require(try logged(stage).first { $0["status"] as? Int == 0 })
        #expect(line["cache"] as? String == "failed" && line["error"] as? String == "quota_exceeded")
        #expect(line["rule"] as? String == "limited")
    }

    @Test("Larder opens no tunnel whose content it would have to count, and counts a CONNECT as one request")
    func refusesHiddenContent() throws {
        let stage = try Stage("tunnel: {ports: any}\n" + rule("request_body: 100")) { connection in
            connection.send(bytes: connection.readToEnd())
        }
        func connect() throws -> ReceivedResponse {
            let client = try stage.client()
            client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.readResponse(to: "CONNECT")
        }
        #expect(try connect().code == "content_hidden")
        #expect(stage.origin.connectionCount == 0)
        try stage.proxy.reload("tunnel: {ports: any}\n" + rule("requests: 1, within: run"))
        #expect(try connect().status == 200)
        #expect(try connect().code == "quota_exceeded")
    }
}
