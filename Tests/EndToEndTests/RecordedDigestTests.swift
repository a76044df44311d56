import Foundation
import HTTPMessage
import ProxyServer
import ServerTrust
import TestSupport
import Testing

@Suite("The digest of a recorded response in the access log")
struct RecordedDigestTests {
    /// The members of a log line that these tests compare.
    private struct Told: Hashable {
        let method: String
        let url: String
        let status: Int
        let digest: String?
    }

    private func told(_ proxy: TestProxy) throws -> [Told: Int] {
        var told: [Told: Int] = [:]
        for line in try proxy.logLines() {
            let members = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let answer = Told(
                method: try #require(members["method"] as? String), url: try #require(members["url"] as? String),
                status: try #require(members["status"] as? Int), digest: members["body_digest"] as? String)
            told[answer, default: 0] += 1
        }
        return told
    }

    private func digest(_ text: String) -> String { "sha256:" + Hexadecimal.encode(SHA256Digest(of: Array(text.utf8)).octets) }

    private func recording(_ stage: RecordedStage, _ mode: String, _ ask: (TestProxy) throws -> Void) throws -> [Told: Int] {
        let isRefresh = mode == "refresh"
        let file = try Recorder.file(stage.path) { terms in
            if isRefresh { (terms.purpose, terms.existing) = (.refresh, .append) }
        }
        let proxy = try TestProxy("mode: \(mode)\nrecord: {file: x}", change: { $0.recording = file })
        try ask(proxy)
        proxy.stop()
        try Recorder.finish(file)
        return try told(proxy)
    }

    @Test("The digest is that of the complete body, whatever part the client received, both when recorded and when replayed")
    func isTheSameInBoth() throws {
        let large = String(repeating: "0123456789", count: 300_000)
        let stage = try RecordedStage { request, body, connection in
            switch request.target {
            case "/none": return connection.send("HTTP/1.1 204 No Content\r\n\r\n")
            case "/cut":
                _ = connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                return false
            case "/large": return connection.respond(body: large)
            default:
                return connection.respond(
                    fields: "ETag: \"e\"\r\n", body: "\(request.target) \(String(decoding: body, as: UTF8.self))")
            }
        }
        func ask(_ proxy: TestProxy) throws {
            for fields in ["", "Range: bytes=1-2\r\n", "If-None-Match: \"e\"\r\n"] {
                _ = try stage.ask(proxy, "/a", fields: fields)
            }
            for body in ["x", "yy"] { _ = try stage.ask(proxy, "/b", method: "POST", body: body) }
            for path in ["/large", "/none"] { _ = try stage.ask(proxy, path) }
            let client = try RawClient(port: proxy.port)
            client.send(stage.head("GET", "/cut"))
            #expect(try client.readHead().status == 200)
            _ = try? client.readToEnd()  // the response ends early
        }
        let recorded = try recording(stage, "record", ask)
        stage.origin.stop()
        let replaying = try stage.replaying()
        try ask(replaying)
        // Larder makes the response from the GET's recording, so the digest is the same.
        _ = try stage.ask(replaying, "/a", method: "HEAD")
        var replayed = try told(replaying)
        func answer(_ path: String, _ status: Int, _ text: String?, method: String = "GET") -> Told {
            Told(
                method: method, url: "http://127.0.0.1:\(stage.origin.port)\(path)", status: status, digest: text.map(digest))
        }
        #expect(replayed.removeValue(forKey: answer("/a", 200, "/a ", method: "HEAD")) == 1)
        #expect(recorded == replayed)
        let expected = [
            answer("/a", 200, "/a "), answer("/a", 206, "/a "), answer("/a", 304, "/a "),
            answer("/b", 200, "/b x", method: "POST"),
            answer("/b", 200, "/b yy", method: "POST"), answer("/large", 200, large), answer("/none", 204, nil),
            answer("/cut", 200, "half"),
        ]
        #expect(recorded == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
    }

    @Test("If a secret was removed from the body, the digest is that of the body in the file")
    func isOfWhatStandsThere() throws {
        let secret = #"{"access_token": "planted-secret-planted-secret"}"#
        let stage = try RecordedStage { _, _, connection in
            connection.respond(fields: "Content-Type: application/json\r\n", body: secret)
        }
        let recorded = try recording(stage, "record") { _ = try stage.ask($0, "/a") }
        let replaying = try stage.replaying()
        let text = try stage.ask(replaying, "/a").text
        #expect(text.contains("larderSecret") && recorded.keys.first?.digest == digest(text))
        #expect(try told(replaying) == recorded)
    }

    @Test("A repeated request logs the digest too; refresh logs the digest of the recording that remains or is made")
    func isRemembered() throws {
        let says = Counter()
        let stage = try RecordedStage { request, _, connection in
            connection.respond(body: request.target == "/same" ? "same" : "\(says.next())")
        }
        func ask(_ proxy: TestProxy) throws { for path in ["/same", "/other"] { _ = try stage.ask(proxy, path) } }
        _ = try recording(stage, "record", ask)
        let refreshed = try recording(stage, "refresh", ask)
        #expect(Set(refreshed.keys.map(\.digest)) == [digest("same"), digest("2")])
        let replaying = try stage.replaying()
        for _ in 0..<3 { try ask(replaying) }
        #expect(try told(replaying) == refreshed.mapValues { $0 * 3 })
    }

    @Test("The log line waits for a recording that continues after its client left, and has no digest if nothing is recorded")
    func waits() throws {
        let body = PatternBytes.make(3_000_000, seed: 3)
        let stage = try RecordedStage { request, _, connection in
            if request.target == "/large" { return connection.respond(octets: body) }
            return connection.respond(fields: "Content-Type: application/json\r\nContent-Encoding: unknown\r\n", body: "sealed")
        }
        let file = try Recorder.file(stage.path)
        let proxy = try TestProxy("mode: record\nrecord: {file: x}", change: { $0.recording = file })
        var client: RawClient? = try RawClient(port: proxy.port)
        client?.send(stage.head("GET", "/large"))
        #expect(try client?.readHead().status == 200)
        client = nil
        #expect(try stage.ask(proxy, "/sealed").text == "sealed")
        try eventually { file.summary.counts.recorded > 0 }
        let told = try told(proxy).keys.sorted { $0.url < $1.url }
        #expect(told.map(\.digest) == ["sha256:" + Hexadecimal.encode(SHA256Digest(of: body).octets), nil])
        try Recorder.finish(file)
    }

    @Test("Live responses and misses have no digest")
    func isOfRecordingsAlone() throws {
        let stage = try RecordedStage()
        let live = try TestProxy()
        _ = try stage.ask(live, "/a")
        #expect(try told(live).keys.allSatisfy { $0.digest == nil })
        try stage.record { _ = try stage.ask($0, "/a") }
        let replaying = try stage.replaying()
        _ = try stage.ask(replaying, "/b")
        #expect(try told(replaying).keys.allSatisfy { $0.status == 504 && $0.digest == nil })
    }
}
