import Testing
import TestSupport

@Suite("Forwarding, over real sockets (RFC 9110 §7, RFC 9112 §9)")
struct ForwardingTests {
    @Test("A miss, and then a hit with Age and Cache-Status; the origin gets one request", arguments: [1, 4])
    func missThenHit(loops: Int) throws {
        let stage = try Stage(loops: loops) { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n", body: "jam")
        }
        let miss = try stage.fetch("/jam")
        #expect(miss.status == 200 && miss.text == "jam")
        #expect(miss["Age"] == nil)
        #expect(miss.cacheStatus.hasPrefix("Larder; fwd=uri-miss; stored"))
        let hit = try stage.fetch("/jam")
        #expect(hit.status == 200 && hit.text == "jam")
        #expect(hit["Age"].flatMap { Int($0) } != nil)
        #expect(hit.cacheStatus.hasPrefix("Larder; hit; ttl="))
        #expect(hit["Content-Type"] == "text/plain")
        #expect(stage.requestCount() == 1)
    }

    @Test("Via names the proxy both ways, and Host is made from the target")
    func signsVia() throws {
        let stage = try Stage { _, connection in connection.respond(body: "x") }
        let response = try stage.fetch("/via", fields: "Via: 1.0 first\r\n")
        let request = try #require(stage.origin.requestHeads.first.map { OriginRequest(head: $0) })
        #expect(request["Via"] == "1.0 first, 1.1 larder")
        #expect(request["Host"] == "127.0.0.1:\(stage.origin.port)")
        #expect(request.target == "/via")
        #expect(response["Via"] == "1.1 larder")
    }

    @Test("Pipelined requests are answered in order, hits among misses")
    func pipelines() throws {
        let stage = try Stage { request, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: request.target)
        }
        _ = try stage.fetch("/hit")
        let client = try stage.client()
        let paths = ["/a", "/hit", "/b", "/hit", "/hit", "/c"]
        client.send(paths.map { stage.head("GET", $0) }.joined())
        for path in paths { #expect(try client.readResponse().text == path) }
    }

    @Test("A thousand pipelined hits are all answered")
    func pipelinesManyHits() throws {
        let stage = try Stage { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: String(repeating: "h", count: 2000))
        }
        _ = try stage.fetch("/hit")
        let client = try stage.client()
        client.send(String(repeating: stage.head("GET", "/hit"), count: 1000))
        for _ in 0..<1000 { #expect(try client.readResponse().body.count == 2000) }
    }

    @Test("A request that arrives byte by byte is answered, and the connection stays open")
    func readsSingleOctets() throws {
        let stage = try Stage { _, connection in connection.respond(body: "x") }
        let client = try stage.client()
        for _ in 0..<2 {
            client.sendByteByByte(stage.head("GET", "/slow"))
            #expect(try client.readResponse().text == "x")
        }
    }

    @Test("Connection: close is obeyed")
    func closes() throws {
        let stage = try Stage { _, connection in connection.respond(body: "x") }
        let client = try stage.client()
        client.send(stage.head("GET", "/", fields: "Connection: close\r\n"))
        let response = try client.readResponse()
        #expect(response["Connection"] == "close")
        #expect(client.isClosedByPeer())
    }

    @Test("An HTTP/1.0 client gets its response without chunks, and the end of the connection")
    func servesHTTP10() throws {
        let stage = try Stage { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        }
        let client = try stage.client()
        client.send("GET \(stage.url("/")) HTTP/1.0\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.text == "abcde")
        #expect(response["Transfer-Encoding"] == nil)
        #expect(client.isClosedByPeer())
        #expect(stage.origin.requestHeads.first?.hasPrefix("GET / HTTP/1.1\r\n") == true)
    }

    @Test("A client that has closed its sending side gets its response", arguments: [false, true])
    func servesHalfClosed(isSlow: Bool) throws {
        let asked = Gate()
        let ended = Gate()
        let stage = try Stage { _, connection in
            asked.open()
            if isSlow { ended.wait() }
            return connection.respond(body: "late")
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/"))
        if isSlow { asked.wait() }
        client.endSending()
        ended.open()
        #expect(try client.readResponse().text == "late")
        #expect(client.isClosedByPeer())
    }

    @Test("A HEAD response with contradictory lengths is passed on without a length (RFC 9112 §6.3)")
    func dropsContradictedLength() throws {
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n")
        }
        let client = try stage.client()
        client.send(stage.head("HEAD", "/h"))
        let response = try client.readResponse(to: "HEAD")
        #expect(response.status == 200)
        #expect(response["Content-Length"] == nil && response["Transfer-Encoding"] == nil)
    }

    @Test("HEAD gets only the head, from the origin and from the store")
    func servesHead() throws {
        let stage = try Stage { request, connection in
            if request.method == "HEAD" { return connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n") }
            return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "hello")
        }
        let client = try stage.client()
        client.send(stage.head("HEAD", "/h"))
        #expect(try client.readResponse(to: "HEAD")["Content-Length"] == "5")
        client.send(stage.head("GET", "/h"))
        #expect(try client.readResponse().text == "hello")
        client.send(stage.head("HEAD", "/h"))
        let stored = try client.readResponse(to: "HEAD")
        #expect(stored["Content-Length"] == "5")
        #expect(stored.cacheStatus.hasPrefix("Larder; hit"))
        client.send(stage.head("GET", "/h"))
        #expect(try client.readResponse().text == "hello")
        #expect(stage.requestCount() == 2)
    }

    @Test("Larder answers OPTIONS *; OPTIONS for an origin without a path is forwarded as *")
    func answersOptions() throws {
        let stage = try Stage { _, connection in connection.respond("204 No Content", fields: "Allow: GET\r\n") }
        let client = try stage.client()
        client.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse(to: "OPTIONS")["Allow"]?.contains("CONNECT") == true)
        #expect(stage.requestCount() == 0)
        client.send("OPTIONS http://127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse(to: "OPTIONS").status == 204)
        #expect(stage.origin.requestHeads.first?.hasPrefix("OPTIONS * HTTP/1.1\r\n") == true)
    }

    @Test("Max-Forwards is decremented, and at 0 Larder answers", arguments: ["OPTIONS", "TRACE"])
    func countsForwards(method: String) throws {
        let stage = try Stage { _, connection in connection.respond() }
        #expect(try stage.fetch("/x", method: method, fields: "Max-Forwards: 0\r\n").status == 200)
        #expect(stage.requestCount() == 0)
        #expect(try stage.fetch("/x", method: method, fields: "Max-Forwards: 3\r\n").status == 200)
        let request = try #require(stage.origin.requestHeads.first.map { OriginRequest(head: $0) })
        #expect(request["Max-Forwards"] == "2")
    }

    @Test("TRACE at its last hop returns the request without credentials")
    func traces() throws {
        let stage = try Stage { _, connection in connection.respond() }
        let response = try stage.fetch(
            "/x", method: "TRACE", fields: "Max-Forwards: 0\r\nCookie: secret\r\nAuthorization: Basic x\r\nX-Trace: 7\r\n")
        #expect(response["Content-Type"] == "message/http")
        #expect(response.text.contains("X-Trace: 7"))
        #expect(!response.text.contains("secret") && !response.text.contains("Basic"))
    }

    @Test("An origin-form request gets an error that says that this is a proxy")
    func refusesOriginForm() throws {
        let stage = try Stage { _, connection in connection.respond() }
        let client = try stage.client()
        client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 400 && response.code == "not_a_proxy_request")
    }

    @Test("Connections to the origin are reused")
    func reusesConnections() throws {
        let stage = try Stage { _, connection in connection.respond(body: "x") }
        let client = try stage.client()
        for _ in 0..<5 {
            client.send(stage.head("GET", "/"))
            _ = try client.readResponse()
        }
        #expect(stage.origin.connectionCount == 1)
    }
}
