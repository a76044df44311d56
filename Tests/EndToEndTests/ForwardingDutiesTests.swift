import Testing
import TestSupport

@Suite("Fields and content that a proxy passes unchanged, and fields that it removes (RFC 9110, RFC 9112)")
struct ForwardingDutiesTests {
    @Test("Field lines keep their order, and unknown fields pass, both ways (RFC 9110 §5.1, §5.3)")
    func keepsOrder() throws {
        let stage = try Stage { request, connection in
            connection.respond(fields: "X-B: 1\r\nX-A: 2\r\nX-B: 3\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n")
        }
        let response = try stage.fetch("/", fields: "X-B: 1\r\nX-A: 2\r\nX-B: 3\r\n")
        let request = OriginRequest(head: try #require(stage.origin.requestHeads.first))
        for lines in [request.lines, response.lines] {
            #expect(lines.filter { $0.name.hasPrefix("X-") }.map { $0.name + $0.value } == ["X-B1", "X-A2", "X-B3"])
        }
        #expect(response.values("Set-Cookie") == ["a=1", "b=2"])
    }

    @Test("Authorization, challenges and Allow pass unchanged (RFC 9110 §10.2.1, §11.6.1, §11.6.2)")
    func leavesAuthentication() throws {
        let stage = try Stage { _, connection in
            connection.respond(
                "401 Unauthorized",
                fields: "WWW-Authenticate: Basic realm=\"a, b\", Other x=1\r\nWWW-Authenticate: Third\r\nAllow: GET , FOO\r\n")
        }
        let response = try stage.fetch("/", fields: "Authorization: Basic  dTpw\r\n")
        #expect(response.values("WWW-Authenticate") == ["Basic realm=\"a, b\", Other x=1", "Third"])
        #expect(response["Allow"] == "GET , FOO")
        #expect(OriginRequest(head: try #require(stage.origin.requestHeads.first))["Authorization"] == "Basic  dTpw")
    }

    @Test(
        "Path and query pass byte by byte (RFC 9110 §7.7)",
        arguments: ["/a/../b//c/./", "/%7e%41?x=%2F&&y=;", "/a?b?c=http://x/", "/'()*!$,:@~"])
    func leavesTarget(target: String) throws {
        let stage = try Stage { request, connection in connection.respond(body: request.target) }
        #expect(try stage.fetch(target).text == target)
    }

    @Test("Content passes unchanged, with its coding and its no-transform (RFC 9110 §7.7)")
    func leavesContent() throws {
        let packed = Gzip.pack(Array("content".utf8))
        let stage = try Stage { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nCache-Control: no-transform, max-age=60\r\n"
                    + "Content-Length: \(packed.count)\r\n\r\n")
            return connection.send(bytes: packed)
        }
        for _ in 0..<2 {
            let response = try stage.fetch("/")
            #expect(response.body == packed && response["Content-Encoding"] == "gzip")
        }
    }

    @Test("T42 fields that Connection lists are removed from trailers too, both ways (RFC 9110 §7.6.1)")
    func takesOutNominatedTrailers() throws {
        let stage = try Stage { _, connection in
            guard let (_, trailers) = connection.readChunks() else { return false }
            return connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: X-Hop\r\nX-Got: \(trailers.joined(separator: ","))\r\n"
                    + "Cache-Control: max-age=60\r\n\r\n1\r\nx\r\n0\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n")
        }
        let client = try stage.client()
        client.send(
            stage.head("POST", "/", fields: "Transfer-Encoding: chunked\r\nConnection: X-Hop\r\n")
                + "1\r\nx\r\n0\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n")
        let response = try client.readResponse()
        #expect(response["X-Got"] == "X-End: 2")
        #expect(response.trailers.map(\.name) == ["X-End"])
    }

    @Test("The expectation of an HTTP/1.0 client is ignored (RFC 9110 §10.1.1)")
    func ignoresOldExpectation() throws {
        let stage = try Stage { request, connection in
            let body = connection.readBody(of: request) ?? []
            return connection.respond(body: "\(body.count) \(request["Expect"] ?? "none")")
        }
        for expectation in ["100-continue", "more"] {
            let client = try stage.client()
            client.send(
                "POST \(stage.url("/")) HTTP/1.0\r\nContent-Length: 3\r\nExpect: \(expectation)\r\n\r\nabc")
            #expect(try client.readResponse().text == "3 none")
        }
    }

    @Test("Max-Forwards is not added, and passes unchanged if the method does not use it (RFC 9110 §7.6.2, §9.3.7)")
    func addsNoMaxForwards() throws {
        let stage = try Stage { request, connection in connection.respond(body: request["Max-Forwards"] ?? "none") }
        #expect(try stage.fetch("/", method: "OPTIONS").text == "none")
        #expect(try stage.fetch("/a", fields: "Max-Forwards: 0\r\n").text == "0")
        #expect(try stage.fetch("/", method: "OPTIONS", fields: "Max-Forwards: 5\r\n").text == "4")
    }

    @Test("After a request with close nothing more is read; an HTTP/1.0 client's connection always ends (RFC 9112 §9.3, §9.6)")
    func readsNothingAfterClose() throws {
        let stage = try Stage { _, connection in connection.respond(body: "x") }
        for first in [
            stage.head("GET", "/close", fields: "Connection: close\r\n"),
            "GET \(stage.url("/old")) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        ] {
            let client = try stage.client()
            client.send(first + stage.head("GET", "/next"))
            let response = try client.readResponse()
            #expect(response.text == "x" && response["Connection"] == "close")
            #expect(client.isClosedByPeer())
        }
        #expect(stage.requestCount("/next") == 0)
    }

    @Test("A 2xx to CONNECT has no length and no coding (RFC 9110 §8.6, RFC 9112 §6.1)")
    func answersConnectBare() throws {
        let stage = try Stage("tunnel: {ports: any}") { _, connection in connection.respond(body: "through") }
        let client = try stage.client()
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.readResponse(to: "CONNECT")
        #expect(response.status == 200 && response["Content-Length"] == nil && response["Transfer-Encoding"] == nil)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().text == "through")
    }
}
