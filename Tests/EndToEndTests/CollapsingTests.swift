import Testing
import TestSupport

@Suite("Many clients at once for a response that is not stored yet (T24)")
struct CollapsingTests {
    private static let count = 50

    /// Many clients send the same request at the same time.
    private func askTogether(_ stage: Stage, fields: @escaping @Sendable (Int) -> String = { _ in "" }) throws
        -> [ReceivedResponse]
    {
        let port = stage.proxy.port
        let head: @Sendable (String) -> String = { [url = stage.url("/slow")] fields in
            "GET \(url) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
        }
        return try concurrently(Self.count) { index in
            let client = try RawClient(port: port)
            client.send(head(fields(index)))
            return try client.readResponse()
        }
    }

    @Test(
        "50 clients for one slow URL are one request and 50 equal responses", arguments: [1, 4],
        [1_000, 16_384, 3_000_000])
    func shares(loops: Int, length: Int) throws {
        let body = PatternedBody(length: length)
        let stage = try Stage(loops: loops) { _, connection in
            // The origin pauses in the middle, so that most clients join the fetch. Later clients get the same result.
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(length)\r\n\r\n")
            connection.send(body, upTo: length / 2)
            connection.pause(milliseconds: 100)
            return connection.send(bytes: body.bytes(length / 2..<length))
        }
        let responses = try askTogether(stage)
        for response in responses {
            #expect(response.status == 200 && response.body.count == length)
            #expect(response.body.withUnsafeBytes { body.matches($0, at: 0) })
        }
        #expect(stage.requestCount() == 1)
    }

    @Test("However fast the origin responds, a URL is fetched once", arguments: [1, 4])
    func sharesQuickAnswers(loops: Int) throws {
        let stage = try Stage(loops: loops) { request, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: request.target)
        }
        let port = stage.proxy.port
        let heads = (0..<200).map { stage.head("GET", "/\($0)") }
        _ = try concurrently(8) { _ in
            let client = try RawClient(port: port)
            for (index, head) in heads.enumerated() {
                client.send(head)
                if try client.readResponse().text != "/\(index)" { throw client.fault(.malformed) }
            }
        }
        #expect(stage.requestCount() == heads.count)
    }

    @Test(
        "T24 a response that must not be shared is fetched for each client",
        arguments: [1, 4],
        [
            "Cache-Control: no-store\r\n", "Cache-Control: private\r\n", "Vary: Cookie\r\nCache-Control: max-age=60\r\n",
            "Vary: *\r\n",
        ])
    func doesNotShare(loops: Int, fields: String) throws {
        let stage = try Stage(loops: loops) { request, connection in
            connection.respond(fields: fields, body: request["Cookie"] ?? "none")
        }
        let responses = try askTogether(stage) { "Cookie: id=\($0)\r\n" }
        for (index, response) in responses.enumerated() { #expect(response.text == "id=\(index)") }
        #expect(stage.requestCount() == Self.count)
    }

    @Test("T23 T24 a cookie without an explicit lifetime reaches no other client", arguments: [1, 4])
    func doesNotShareCookies(loops: Int) throws {
        let stage = try Stage(loops: loops) { request, connection in
            let id = request["X-Client"] ?? ""
            return connection.respond(
                fields: "Set-Cookie: session=\(id)\r\nLast-Modified: Mon, 06 Jul 2020 10:00:00 GMT\r\n", body: id)
        }
        let responses = try askTogether(stage) { "X-Client: \($0)\r\n" }
        for (index, response) in responses.enumerated() {
            #expect(response.text == "\(index)" && response["Set-Cookie"] == "session=\(index)")
        }
    }

    @Test("T24 requests with Authorization do not wait for each other", arguments: [1, 4])
    func doesNotShareAuthorized(loops: Int) throws {
        let stage = try Stage(loops: loops) { request, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: request["Authorization"] ?? "")
        }
        let responses = try askTogether(stage) { "Authorization: Basic \($0)\r\n" }
        for (index, response) in responses.enumerated() { #expect(response.text == "Basic \(index)") }
        #expect(stage.requestCount() == Self.count)
    }

    @Test("If the client of the fetch leaves before the head, the others get their responses", arguments: [1, 4])
    func leaderLeavesBeforeHead(loops: Int) throws {
        let asked = Gate()
        let left = Gate()
        let stage = try Stage(loops: loops) { _, connection in
            asked.open()
            left.wait()
            return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "for all")
        }
        let leader = try stage.client()
        leader.send(stage.head("GET", "/slow"))
        asked.wait()
        let others = try (0..<4).map { _ in try stage.client() }
        for other in others { other.send(stage.head("GET", "/slow")) }
        // A completed exchange on the same loop shows that the requests before it were read.
        for _ in 0..<4 * loops { _ = try stage.fetch("/x", method: "OPTIONS", fields: "Max-Forwards: 0\r\n") }
        leader.reset()
        left.open()
        for other in others { #expect(try other.readResponse().text == "for all") }
        #expect(stage.requestCount() <= 2)
    }

    @Test(
        "If the client of the fetch leaves during the body, the others get it completely", arguments: [1, 4],
        [10_000, 3_000_000])
    func leaderLeavesInBody(loops: Int, length: Int) throws {
        let body = PatternedBody(length: length)
        let left = Gate()
        let stage = try Stage(loops: loops) { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(length)\r\n\r\n")
            connection.send(body, upTo: length / 2)
            left.wait()
            return connection.send(bytes: body.bytes(length / 2..<length))
        }
        let leader = try stage.client()
        leader.send(stage.head("GET", "/slow"))
        #expect(try leader.readHead().status == 200)
        let other = try stage.client()
        other.send(stage.head("GET", "/slow"))
        if length > 16_384 { #expect(try other.readHead().status == 200) }
        leader.reset()
        left.open()
        let count = length > 16_384 ? try other.read(body, count: length) : try other.readResponse().body.count
        #expect(count == length)
    }

    @Test(
        "When all clients have left, the origin's connection is closed, and the next client gets the complete body",
        arguments: [1, 4])
    func everyoneLeaves(loops: Int) throws {
        let length = 50_000_000
        let body = PatternedBody(length: length)
        let letGo = Gate()
        let stage = try Stage(loops: loops, storePath: nil) { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(length)\r\n\r\n")
            if request["X-Slow"] == nil { return connection.send(body) == length }
            connection.send(body, upTo: 1_000_000)
            // Byte by byte, so that the body never ends.
            for offset in 1_000_000..<length {
                connection.pause(milliseconds: 1)
                if !connection.send(bytes: body.bytes(offset..<offset + 1)) { break }
            }
            letGo.open()
            return false
        }
        let readers = try (0..<3).map { _ in try stage.client() }
        for reader in readers {
            reader.send(stage.head("GET", "/left", fields: "X-Slow: 1\r\n"))
            #expect(try reader.readHead().status == 200)
        }
        #expect(stage.requestCount() == 1)
        for reader in readers { reader.reset() }
        #expect(letGo.wait())
        let client = try stage.client()
        client.send(stage.head("GET", "/left"))
        #expect(try client.readHead().status == 200)
        #expect(try client.read(body, count: length) == length)
    }

    @Test("An incomplete fetch gives no client a short response that looks complete", arguments: [1, 4])
    func breaksOffForAll(loops: Int) throws {
        let length = 1_000_000
        let body = PatternedBody(length: length)
        let stage = try Stage(loops: loops) { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(length)\r\n\r\n")
            connection.send(body, upTo: length / 2)
            connection.pause(milliseconds: 50)
            return false
        }
        let port = stage.proxy.port
        let head = stage.head("GET", "/cut")
        let wholes = try concurrently(10) { _ in
            let client = try RawClient(port: port)
            client.send(head)
            do {
                return try client.readResponse().status == 200
            } catch is ClientFault {
                return false
            }
        }
        #expect(!wholes.contains(true))
    }
}
