import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("larder serve with a collector for traces")
struct TelemetryTests {
    /// A collector: what it received, by path.
    private final class Collector: Sendable {
        let received = Guarded<[(path: String, body: [UInt8])]>([])
        let status: Int

        init(status: Int = 200) { self.status = status }

        func begin() -> ScriptedOrigin {
            ScriptedOrigin { [self] connection in
                while let head = connection.readHead() {
                    let request = OriginRequest(head: head)
                    guard let body = connection.readBody(of: request) else { return }
                    received.withLock { $0.append((request.target, body)) }
                    connection.send("HTTP/1.1 \(status) x\r\nContent-Length: 2\r\n\r\n{}")
                }
            }
        }

        func spans() throws -> [[String: Any]] {
            try received.withLock { $0 }.filter { $0.path == "/v1/traces" }.flatMap { _, body in
                let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
                let resources = object?["resourceSpans"] as? [[String: Any]]
                let scopes = resources?.first?["scopeSpans"] as? [[String: Any]]
                return scopes?.first?["spans"] as? [[String: Any]] ?? []
            }
        }
    }

    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func get(_ url: String, _ port: UInt16, _ fields: String = "") throws -> Int {
        let client = try RawClient(port: port)
        client.send("GET \(url) HTTP/1.1\r\nHost: a\r\n\(fields)Connection: close\r\n\r\n")
        return Int(try client.readResponse().status)
    }

    @Test(
        "A miss and a hit become spans of the client's trace, the origin gets Larder's span as its parent, and no query is sent")
    func traces() throws {
        let collector = Collector()
        let collecting = collector.begin()
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "x")
        }
        defer {
            collecting.stop()
            origin.stop()
        }
        let served = try ServeTests.Served("otlp: {endpoint: 'http://127.0.0.1:\(collecting.port)', sample: 0}\n")
        let port = UInt16(try #require(try served.ports().first))
        let url = "http://127.0.0.1:\(origin.port)/a?token=secret"
        #expect(try get(url, port, "traceparent: \(Self.parent)\r\n") == 200)
        #expect(try get(url, port, "traceparent: \(Self.parent)\r\n") == 200)
        // The sender decides against a trace, and for a request without a decision the share is 0.
        #expect(try get(url, port, "traceparent: \(Self.parent.dropLast(2))00\r\n") == 200)
        #expect(try get(url, port) == 200)
        served.signal(SIGTERM)
        #expect(served.hasEnded())

        let spans = try collector.spans()
        try #require(spans.map { $0["kind"] as? Int } == [2, 3, 2])
        #expect(spans.allSatisfy { $0["traceId"] as? String == "0af7651916cd43dd8448eb211c80319c" })
        #expect(spans[0]["parentSpanId"] as? String == "b7ad6b7169203331")
        let upstream = try #require(spans[1]["spanId"] as? String)
        #expect(spans[1]["parentSpanId"] as? String == spans[0]["spanId"] as? String)
        #expect(spans[2]["parentSpanId"] as? String == "b7ad6b7169203331")
        func texts(_ span: [String: Any]) -> [String: String] {
            let attributes = span["attributes"] as? [[String: Any]] ?? []
            return Dictionary(
                attributes.map { (($0["key"] as? String ?? ""), "\(($0["value"] as? [String: Any])?.values.first ?? "")") }
            ) { first, _ in first }
        }
        #expect(texts(spans[0])["larder.cache"] == "miss" && texts(spans[2])["larder.cache"] == "hit")
        #expect(texts(spans[0])["url.full"] == "http://127.0.0.1:\(origin.port)/a")
        #expect(texts(spans[1])["server.port"] == "\(origin.port)" && texts(spans[1])["http.response.status_code"] == "200")
        #expect(
            origin.requestHeads.first.map(OriginRequest.init)?["traceparent"]
                == "00-0af7651916cd43dd8448eb211c80319c-\(upstream)-01")
        let sent = collector.received.withLock { $0 }.map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(!sent.contains("secret") && sent.contains("\"service.name\",\"value\":{\"stringValue\":\"larder\"}"))
    }

    @Test("A collector that refuses or is absent costs no request, and causes one warning", arguments: [true, false])
    func survivesTheCollector(answers: Bool) throws {
        let collecting = Collector(status: 500).begin()
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "x") }
        defer { origin.stop() }
        let port = collecting.port
        if !answers { collecting.stop() }
        defer { if answers { collecting.stop() } }
        let served = try ServeTests.Served("otlp: {endpoint: 'http://127.0.0.1:\(port)'}\n")
        let larder = UInt16(try #require(try served.ports().first))
        for number in 0..<600 { #expect(try get("http://127.0.0.1:\(origin.port)/\(number)", larder) == 200) }
        #expect(served.says("did not accept traces or logs (\(answers ? "status 500" : "connection_refused"))"))
        served.signal(SIGTERM)
        #expect(served.hasEnded())
        #expect(served.said.split(separator: "\n").count { $0.contains("did not accept") } == 1)
    }
}
