import HTTPMessage
import TestSupport
import Testing

@Suite("Trailer fields of stored responses (RFC 9110 §6.5, RFC 9111 §3.1)")
struct TrailerTests {
    private static let fresh = "Cache-Control: max-age=600\r\n"

    private func stage(length: Int = 3, trailers: String = "X-Sum: 1\r\n", storePath: String? = ":memory:") throws -> Stage {
        try Stage(storePath: storePath) { _, connection in
            let body = String(repeating: "b", count: length)
            let chunk = length > 0 ? "\(String(length, radix: 16))\r\n\(body)\r\n" : ""
            return connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nETag: \"1\"\r\n\(Self.fresh)\r\n"
                    + "\(chunk)0\r\n\(trailers)\r\n")
        }
    }

    private func fetch(_ stage: Stage, _ fields: String = "", method: String = "GET") throws -> ReceivedResponse {
        try stage.fetch("/x", method: method, fields: fields)
    }

    @Test(
        "A stored response ends with its trailer fields, in chunks, whatever its length and its tier",
        arguments: [0, 3, 20_000, 300_000], [":memory:", nil])
    func sendsThem(length: Int, storePath: String?) throws {
        let stage = try stage(length: length, storePath: storePath)
        for number in 0..<3 {
            let response = try fetch(stage, number == 2 ? "TE: trailers\r\n" : "")
            #expect(response.trailers.map { "\($0.name): \($0.value)" } == ["X-Sum: 1"], "\(number)")
            #expect(response["Trailer"] == "X-Sum" && response["Transfer-Encoding"] == "chunked")
            #expect(response["Content-Length"] == nil && response.body.count == length)
        }
        #expect(stage.requestCount() == 1)
    }

    @Test("A response without chunked content has no Trailer field: a part, several parts, 304, 416 and HEAD")
    func dropsTheAnnouncement() throws {
        let stage = try stage(length: 100)
        _ = try fetch(stage)
        let requests = [
            ("Range: bytes=0-9\r\n", "GET", 206), ("Range: bytes=0-9,50-59\r\n", "GET", 206),
            ("Range: bytes=200-\r\n", "GET", 416),
            ("If-None-Match: \"1\"\r\n", "GET", 304), ("", "HEAD", 200),
        ]
        for (fields, method, status) in requests {
            let response = try fetch(stage, fields, method: method)
            #expect(response.status == status && response["Trailer"] == nil && response.trailers.isEmpty, "\(method) \(fields)")
        }
        #expect(stage.requestCount() == 1)
    }

    @Test("An HTTP/1.0 client gets neither chunks nor a Trailer field, from the origin and from the store")
    func sparesHTTP10() throws {
        let stage = try stage()
        for _ in 0..<2 {
            let client = try stage.client()
            client.send("GET \(stage.url("/x")) HTTP/1.0\r\n\r\n")
            let response = try client.readResponse()
            #expect(response["Trailer"] == nil && response["Transfer-Encoding"] == nil && response.text == "bbb")
        }
        #expect(try fetch(stage).trailers.count == 1)
    }

    @Test("If the origin announced trailer fields and sent none, the stored response has a length and no Trailer field")
    func announcesNothing() throws {
        let stage = try stage(trailers: "")
        _ = try fetch(stage)
        let stored = try fetch(stage)
        #expect(stored["Trailer"] == nil && stored["Content-Length"] == "3" && stored.text == "bbb")
    }

    @Test("The Trailer field of a stored response names the trailer fields that follow, not others that the origin announced")
    func announcesWhatFollows() throws {
        let stage = try Stage { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, X-Gone, Content-Type\r\n\(Self.fresh)\r\n"
                    + "3\r\nbbb\r\n0\r\nX-Sum: 1\r\nContent-Type: text/html\r\nX-More: 2\r\n\r\n")
        }
        _ = try fetch(stage)
        let stored = try fetch(stage)
        #expect(stored["Trailer"] == "X-Sum, X-More" && stored.trailers.map(\.name) == ["X-Sum", "X-More"], "\(stored)")
        let client = try HTTP2Client(stage.client())
        let second = try client.fetch(stage.url("/x"))
        #expect(second.value("trailer") == "X-Sum, X-More" && second.text == "bbb")
        #expect(second.trailers?.texts.map(\.name) == ["x-sum", "x-more"])
        #expect(stage.requestCount() == 1)
    }

    @Test("A client with HTTP/2 gets stored trailer fields, and no announcement of others", arguments: [true, false])
    func sendsThemInHTTP2(areSent: Bool) throws {
        let stage = try stage(trailers: areSent ? "X-Sum: 1\r\n" : "")
        let client = try HTTP2Client(stage.client())
        for number in 0..<2 {
            let response = try client.fetch(stage.url("/x"))
            #expect(response.text == "bbb" && response.trailers?.texts.map(\.value) ?? [] == (areSent ? ["1"] : []))
            // Whether the origin will send the fields that it announced is not known before the end.
            if number == 1 { #expect(response.value("trailer")?.lowercased() == (areSent ? "x-sum" : nil)) }
        }
        #expect(try client.fetch(stage.url("/x"), method: "HEAD").value("trailer") == nil)
        #expect(stage.requestCount() == 1)
    }

    @Test("A replayed response ends with its recorded trailer fields", arguments: [3, 300_000])
    func replaysThem(length: Int) throws {
        let stage = try RecordedStage { _, _, connection in
            let body = String(repeating: "b", count: length)
            return connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                    + "\(String(length, radix: 16))\r\n\(body)\r\n0\r\nX-Sum: 1\r\n\r\n")
        }
        try stage.record { proxy in
            let response = try stage.ask(proxy, "/a")
            #expect(response.trailers.count == 1)
        }
        stage.origin.stop()
        let proxy = try stage.replaying()
        // The loop answers the second request from memory.
        for _ in 0..<2 {
            let response = try stage.ask(proxy, "/a")
            #expect(response.trailers.map { "\($0.name): \($0.value)" } == ["X-Sum: 1"])
            #expect(response["Trailer"] == "X-Sum" && response.body.count == length)
        }
        #expect(try stage.ask(proxy, "/a", method: "HEAD")["Trailer"] == nil)
    }
}

extension Fields {
    fileprivate var texts: [(name: String, value: String)] { lines.map { (text(of: $0.name), text(of: $0.value)) } }
}
