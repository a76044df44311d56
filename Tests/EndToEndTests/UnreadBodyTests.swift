import ProxyCore
import Testing
import TestSupport

@Suite("T13 An unread body is never read as the next request")
struct UnreadBodyTests {
    private static let smuggled = "GET http://smuggled.test/ HTTP/1.1\r\nHost: smuggled.test\r\n\r\n"

    @Test("T13 after a denial the body is read and discarded, and the connection stays usable", arguments: [false, true])
    func afterDenial(isChunked: Bool) throws {
        let stage = try Stage("rules: [{name: no, match: {path: /no}, deny: {reason: no}}]") { _, connection in
            connection.respond(body: "next")
        }
        try check(stage, path: "/no", status: 403, isChunked: isChunked)
    }

    @Test("T13 after a body that is too long the connection ends", arguments: [false, true])
    func afterTooLong(isChunked: Bool) throws {
        let stage = try Stage("limits: {request_body: 10B}") { _, connection in connection.respond(body: "next") }
        try check(stage, path: "/long", status: 413, isChunked: isChunked, closes: true)
    }

    @Test("T13 after an early response of the origin the rest of the body is discarded", arguments: [false, true])
    func afterEarlyAnswer(isChunked: Bool) throws {
        let stage = try Stage { request, connection in
            if request.method == "GET" { return connection.respond(body: "next") }
            connection.respond("401 Unauthorized", body: "no")
            // A close with unread content would reset the connection, and the reset could overtake the response.
            connection.shutDownSending()
            _ = connection.readToEnd()
            return false
        }
        try check(stage, path: "/early", status: 401, isChunked: isChunked)
    }

    @Test(
        "T13 a GET with a body is not answered from the store, and its body is not read as a request", arguments: [false, true])
    func onStored(isChunked: Bool) throws {
        let stage = try Stage { request, connection in
            guard connection.readBody(of: request) != nil else { return false }
            return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "x")
        }
        _ = try stage.fetch("/s")
        let client = try stage.client()
        client.send(withBody(stage, "GET", "/s", isChunked: isChunked) + stage.head("GET", "/after"))
        #expect(try client.readResponse().status == 200)
        #expect(try client.readResponse().status == 200)
        #expect(stage.origin.requestHeads.count == 3)
        #expect(stage.requestCount("/after") == 1)
    }

    @Test(
        "T13 a body is discarded up to a limit; above it the connection ends, and the response still arrives",
        arguments: [false, true], [0, 1, 5_000_000])
    func drainsWithin(isChunked: Bool, excess: Int) throws {
        let limit = Int(ProxyLimits().drainedBodyLength)
        let stage = try Stage("rules: [{name: no, match: {path: /no}, deny: {reason: no}}]") { _, connection in
            connection.respond(body: "next")
        }
        let client = try stage.client()
        let body = [UInt8](repeating: 0x62, count: limit + excess)
        let size = isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(body.count)\r\n"
        client.send(stage.head("POST", "/no", fields: size) + (isChunked ? String(body.count, radix: 16) + "\r\n" : ""))
        client.send(bytes: body)
        client.send((isChunked ? "\r\n0\r\n\r\n" : "") + stage.head("GET", "/after"))
        let response = try client.readResponse()
        #expect(response.status == 403 && response.code == "denied_by_rule")
        if excess == 0 {
            #expect(try client.readResponse().text == "next")
        } else {
            #expect(isChunked || response["Connection"] == "close")
            #expect(client.isClosedByPeer())
            #expect(stage.requestCount() == 0)
        }
    }

    @Test("T13 a body that its client holds back for a 100 is not waited for: the connection ends with the response")
    func endsUnfulfilledExpectation() throws {
        let stage = try Stage("rules: [{name: no, match: {path: /no}, deny: {reason: no}}]") { _, connection in
            connection.respond(body: "next")
        }
        let client = try stage.client()
        client.send(stage.head("POST", "/no", fields: "Content-Length: 5\r\nExpect: 100-continue\r\n"))
        let response = try client.readResponse()
        #expect(response.status == 403 && response["Connection"] == "close")
        client.send(stage.head("GET", "/after"))
        #expect(client.isClosedByPeer())
        #expect(stage.requestCount() == 0)
    }

    @Test("T13 a discarded body that stops arriving or is malformed ends the connection", arguments: [false, true])
    func stopsDraining(isMalformed: Bool) throws {
        let stage = try Stage(
            "rules: [{name: no, match: {path: /no}, deny: {reason: no}}]", change: { $0.timeouts.clientBody = 100 }
        ) { _, connection in connection.respond(body: "next") }
        let client = try stage.client()
        client.send(stage.head("POST", "/no", fields: "Transfer-Encoding: chunked\r\n") + (isMalformed ? "zz\r\n" : "5\r\nab"))
        #expect(try client.readResponse().status == 403)
        #expect(client.isClosedByPeer())
        #expect(try stage.fetch("/after").text == "next")
    }

    private func withBody(_ stage: Stage, _ method: String, _ path: String, isChunked: Bool) -> String {
        let body = Self.smuggled
        let size = String(body.utf8.count, radix: 16)
        return isChunked
            ? stage.head(method, path, fields: "Transfer-Encoding: chunked\r\n") + "\(size)\r\n\(body)\r\n0\r\n\r\n"
            : stage.head(method, path, fields: "Content-Length: \(body.utf8.count)\r\n") + body
    }

    private func check(_ stage: Stage, path: String, status: Int, isChunked: Bool, closes: Bool = false) throws {
        let client = try stage.client()
        client.send(withBody(stage, "POST", path, isChunked: isChunked) + stage.head("GET", "/after"))
        let response = try client.readResponse()
        #expect(response.status == status)
        if closes {
            #expect(response["Connection"] == "close")
            #expect(client.isClosedByPeer())
        } else {
            #expect(response["Connection"] == nil)
            #expect(try client.readResponse().text == "next")
        }
        #expect(!stage.origin.requestHeads.contains { $0.contains("smuggled") })
    }
}
