import Testing
import TestSupport

@Suite("Bodies in transit (RFC 9110 §10.1.1, RFC 9112 §6, §7)")
struct BodyTests {
    @Test("A POST of 1 MiB arrives complete, with a Content-Length or in chunks", arguments: [false, true])
    func postsWhole(isChunked: Bool) throws {
        let body = PatternedBody(length: 1 << 20)
        let stage = try Stage { request, connection in
            guard let received = connection.readBody(of: request) else { return false }
            let isWhole = received.count == body.length && received.withUnsafeBytes { body.matches($0, at: 0) }
            return connection.respond(body: isWhole ? "whole" : "wrong")
        }
        let client = try stage.client()
        client.send(
            stage.head("POST", "/p", fields: isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(1 << 20)\r\n"))
        for piece in stride(from: 0, to: body.length, by: 100_000) {
            let range = piece..<min(piece + 100_000, body.length)
            if isChunked { client.send(String(range.count, radix: 16) + "\r\n") }
            client.send(bytes: body.bytes(range))
            if isChunked { client.send("\r\n") }
        }
        if isChunked { client.send("0\r\n\r\n") }
        #expect(try client.readResponse().text == "whole")
        client.send(stage.head("POST", "/p", fields: "Content-Length: 0\r\n"))
        #expect(try client.readResponse().text == "wrong")
    }

    @Test("Trailers pass both ways")
    func passesTrailers() throws {
        let stage = try Stage { request, connection in
            guard let (body, trailers) = connection.readChunks() else { return false }
            let text = String(decoding: body, as: UTF8.self) + "|" + trailers.joined(separator: ",")
            return connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n"
                    + "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\nX-End: down\r\n\r\n")
        }
        let client = try stage.client()
        client.send(
            stage.head("POST", "/t", fields: "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\nX-Sum: up\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.text == "abc|X-Sum: up")
        #expect(response.trailers.map { "\($0.name): \($0.value)" } == ["X-End: down"])
    }

    @Test("A trailer field that a rule for the host matches on or edits is not forwarded")
    func dropsJudgedTrailers() throws {
        let stage = try Stage(
            """
            rules:
              - {name: no, match: {host: 127.0.0.1, field: {X-Token: "*"}}, deny: {}}
              - {name: not, match: {not: {field: {X-Debug: "*"}}, path: /none}, deny: {}}
              - {name: edit, match: {host: 127.0.0.1}, request: {remove: X-Internal}}
              - {name: other, match: {host: other.test, field: {X-Sum: "*"}}, deny: {}}
            """
        ) { _, connection in
            guard let (_, trailers) = connection.readChunks() else { return false }
            return connection.respond(body: trailers.joined(separator: ","))
        }
        let trailers = "X-Token: 1\r\nx_token: 2\r\nX-Sum: up\r\nX-Debug: 1\r\nx-internal: 1\r\n"
        let client = try stage.client()
        client.send(stage.head("POST", "/t", fields: "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\n\(trailers)\r\n")
        #expect(try client.readResponse(to: "POST").text == "X-Sum: up")
        #expect(try stage.fetch("/t", method: "POST", fields: "x_token: 1\r\n", body: "x").code == "denied_by_rule")
    }

    @Test("Expect: 100-continue is forwarded, and the body follows the origin's 100")
    func passesExpectation() throws {
        let stage = try Stage { request, connection in
            guard request["Expect"] == "100-continue" else { return connection.respond("400 Bad Request") }
            connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            guard let body = connection.readBody(of: request) else { return false }
            return connection.respond(body: String(decoding: body, as: UTF8.self))
        }
        let client = try stage.client()
        client.send(stage.head("PUT", "/e", fields: "Expect: 100-continue\r\nContent-Length: 4\r\n"))
        #expect(try client.readHead().status == 100)
        client.send("body")
        #expect(try client.readResponse().text == "body")
    }

    @Test("If the origin refuses before the body, the client need not send it")
    func refusesExpectation() throws {
        let stage = try Stage { _, connection in
            connection.respond("417 Expectation Failed")
            return false
        }
        let client = try stage.client()
        client.send(stage.head("PUT", "/e", fields: "Expect: 100-continue\r\nContent-Length: 400000\r\n"))
        let response = try client.readResponse()
        #expect(response.status == 417)
        // It is unknown whether the client still sends the body, so the connection must end.
        #expect(response["Connection"] == "close")
        #expect(client.isClosedByPeer())
    }

    @Test(
        "An incomplete message never looks complete, and does not affect the response before it",
        arguments: ["Content-Length: 3000000", "Transfer-Encoding: chunked", "X-Until: close"])
    func breaksOffInOrder(framing: String) throws {
        let large = PatternedBody(length: 400_000)
        let seen = [Gate(), Gate()]
        let count = Counter()
        let stage = try Stage { request, connection in
            if request.target == "/large" {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(large.length)\r\n\r\n")
                return connection.send(large) == large.length
            }
            connection.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n" + (framing.hasPrefix("T") ? "5\r\nhello\r\n" : "hello"))
            seen[count.next() - 1].wait()
            connection.resetOnClose()
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/large") + stage.head("GET", "/cut"))
        #expect(try client.readHead().status == 200)
        #expect(try client.read(large, count: large.length) == large.length)
        #expect(try client.readHead().status == 200)
        seen[0].open()
        let rest = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(rest == (framing.hasPrefix("C") ? "hello" : "5\r\nhello\r\n"))
        // A message that ends with the connection must end with a reset if it is incomplete.
        let old = try stage.client()
        old.send("GET \(stage.url("/cut")) HTTP/1.0\r\n\r\n")
        let head = try old.readHead()
        seen[1].open()
        if head["Content-Length"] == nil {
            #expect(throws: ClientFault.self) { _ = try old.readToEnd() }
        } else {
            #expect(try old.readToEnd().count == 5)
        }
    }

    @Test("103 Early Hints passes before the final response")
    func passesEarlyHints() throws {
        let seen = Gate()
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
            seen.wait()
            return connection.respond(body: "page")
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/hints"))
        let hints = try client.readHead()
        #expect(hints.status == 103 && hints["Link"] == "</a.css>; rel=preload")
        seen.open()
        #expect(try client.readResponse().text == "page")
    }

    @Test("An HTTP/1.0 client gets no 1xx")
    func hidesInformationalFromHTTP10() throws {
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 103 Early Hints\r\n\r\n")
            return connection.respond(body: "page")
        }
        let client = try stage.client()
        client.send("GET \(stage.url("/")) HTTP/1.0\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.informational.isEmpty && response.text == "page")
    }

    @Test(
        "A body without a length is passed on as it arrives: the client gets an event before the origin sends the next one",
        arguments: ["no-cache", "max-age=60"], [true, false])
    func passesEvents(directive: String, isChunked: Bool) throws {
        let received = Gate()
        let stage = try Stage { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: \(directive)\r\n"
                    + (isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"))
            connection.send(isChunked ? "9\r\ndata: 1\n\n\r\n" : "data: 1\n\n")
            received.wait()
            connection.send(isChunked ? "9\r\ndata: 2\n\n\r\n0\r\n\r\n" : "data: 2\n\n")
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/events"))
        let head = try client.readHead()
        #expect(head["Transfer-Encoding"] == "chunked")
        #expect(try client.readChunk() == Array("data: 1\n\n".utf8))
        received.open()
        #expect(try client.readChunk() == Array("data: 2\n\n".utf8))
        #expect(try client.readChunk().isEmpty)
    }

    @Test("A response that the origin sends before it has read the request's body reaches the client")
    func passesEarlyResponse() throws {
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
            // A close with unread content would reset the connection, and the reset could overtake the response.
            connection.shutDownSending()
            _ = connection.readToEnd()
            return false
        }
        let client = try stage.client()
        client.send(stage.head("POST", "/big", fields: "Content-Length: 100000000\r\n") + "begun")
        let response = try client.readResponse()
        #expect(response.status == 413 && response.text == "big")
        #expect(client.isClosedByPeer())
    }

    @Test(
        "A 204 or 304 with a Content-Length has no body, and the next exchange is not affected",
        arguments: ["204 No Content", "304 Not Modified"])
    func hasNoContent(status: String) throws {
        let stage = try Stage { request, connection in
            if request.target == "/next" { return connection.respond(body: "clean") }
            return connection.send("HTTP/1.1 \(status)\r\nContent-Length: 5\r\n\r\n")
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/none", fields: "If-None-Match: \"v\"\r\n") + stage.head("GET", "/next"))
        let none = try client.readResponse()
        #expect(none.status == Int(status.prefix(3)))
        if none.status == 204 { #expect(none["Content-Length"] == nil) }
        #expect(try client.readResponse().text == "clean")
    }

    @Test("A response that ends with the origin's connection is complete for the client")
    func readsUntilClose() throws {
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n\r\nuntil the end")
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/") + stage.head("GET", "/"))
        for _ in 0..<2 { #expect(try client.readResponse().text == "until the end") }
    }
}
