import HTTPMessage
import Snapshots
import TestSupport
import Testing

@Suite("103 (Early Hints) from a recording (RFC 8297, RFC 9110 §15.2)")
struct EarlyHintsTests {
    /// A secret without a known format.
    private static let secret = "Zq83-kLmw02_TTop9"

    private static let hints =
        "HTTP/1.1 102 Processing\r\nX-Step: 1\r\n\r\n"
        + "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-Empty:\r\n\r\n"
        + "HTTP/1.1 103 Early Hints\r\n\r\n"
        + "HTTP/1.1 103 Early Hints\r\nLink: </b.js>; rel=preload\r\nX-Api-Key: \(secret)\r\n\r\n"

    /// The lines of each interim response, and the final status.
    private static func lines(_ response: ReceivedResponse) -> [String] {
        response.informational.map { hint in
            ([hint.statusLine] + hint.lines.map { "\($0.name): \($0.value)" }).joined(separator: "|")
        } + ["\(response.status)"]
    }

    private func stage(length: Int = 3, hints: String = Self.hints) throws -> RecordedStage {
        try RecordedStage { _, _, connection in
            connection.send(hints) && connection.respond(fields: "ETag: \"e\"\r\n", octets: [UInt8](repeating: 98, count: length))
        }
    }

    @Test("A replayed response follows its recorded 103s, in order", arguments: [3, 300_000])
    func replaysThem(length: Int) throws {
        let stage = try stage(length: length)
        try stage.record { proxy in
            let response = try stage.ask(proxy, "/a")
            #expect(response.informational.map(\.status) == [102, 103, 103, 103])
        }
        stage.origin.stop()
        let proxy = try stage.replaying()
        // The loop answers the second request from memory.
        for _ in 0..<2 {
            let response = try stage.ask(proxy, "/a")
            let lines = Self.lines(response)
            #expect(lines.count == 4 && response.body.count == length)
            #expect(lines[0] == "HTTP/1.1 103 Early Hints|Link: </a.css>; rel=preload|X-Empty: ")
            #expect(lines[1] == "HTTP/1.1 103 Early Hints" && lines[3] == "200")
            #expect(lines[2].hasPrefix("HTTP/1.1 103 Early Hints|Link: </b.js>; rel=preload|X-Api-Key: larderSecret"))
        }
        let unmodified = try stage.ask(proxy, "/a", fields: "If-None-Match: \"e\"\r\n")
        #expect(unmodified.status == 304 && unmodified.informational.count == 3)
    }

    @Test("An HTTP/1.0 client gets only the final response, and its exchange is recorded with the 103s")
    func sparesHTTP10() throws {
        let stage = try stage()
        func ask(_ proxy: TestProxy) throws -> ReceivedResponse {
            let client = try RawClient(port: proxy.port)
            client.send("GET http://127.0.0.1:\(stage.origin.port)/a HTTP/1.0\r\n\r\n")
            return try client.readResponse()
        }
        try stage.record { proxy in
            let response = try ask(proxy)
            #expect(response.informational.isEmpty && response.text == "bbb")
        }
        let proxy = try stage.replaying()
        for _ in 0..<2 {
            let response = try ask(proxy)
            #expect(response.informational.isEmpty && response.status == 200 && response.text == "bbb")
        }
        #expect(try stage.ask(proxy, "/a").informational.count == 3)
    }

    @Test("A secret in a field of a 103 is a placeholder in the recording")
    func redactsSecrets() throws {
        let stage = try stage()
        try stage.record { proxy in _ = try stage.ask(proxy, "/a") }
        let recording = try Snapshot(path: stage.path).recording(at: 0)
        #expect(recording.isRedacted)
        let text = try #require(recording.response).earlyHints.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        #expect(text.contains("larderSecret") && !text.contains(Self.secret))
        #expect(try Snapshot(path: stage.path).secretPlaces().isEmpty)
    }

    @Test("A secret that becomes known later is a placeholder in the 103s recorded before")
    func redactsLater() throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nX-Note: \(Self.secret)\r\n\r\n"
        let stage = try stage(hints: hints)
        try stage.record { proxy in
            let response = try stage.ask(proxy, "/a")
            #expect(response.informational.count == 1)
            _ = try stage.ask(proxy, "/b", fields: "X-Api-Key: \(Self.secret)\r\n")
        }
        let proxy = try stage.replaying()
        for path in ["/a", "/b"] {
            let note = try #require(stage.ask(proxy, path).informational.first?["X-Note"])
            #expect(note.hasPrefix("larderSecret"), "\(path)")
        }
    }

    @Test("Beyond their length limit the first 103s are kept", arguments: [0, 1])
    func keepsTheFirst(excess: Int) throws {
        let quarter = SnapshotLimits.earlyHintsLength / 4
        // The field, its line feed and the empty line have `count` bytes. Short words are not secrets.
        let hint = { (count: Int) in
            let value = String(repeating: "ab ", count: count / 3).prefix(count - 7) + "d"
            return "HTTP/1.1 103 Early Hints\r\nX-A: \(value)\r\n\r\n"
        }
        let stage = try stage(hints: hint(quarter) + hint(quarter) + hint(quarter) + hint(quarter + excess))
        try stage.record { proxy in
            let response = try stage.ask(proxy, "/a")
            #expect(response.informational.count == 4)
        }
        let proxy = try stage.replaying()
        #expect(try stage.ask(proxy, "/a").informational.count == 4 - excess)
    }
}
