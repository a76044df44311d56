import Testing
import TestSupport

@Suite("T37 T38 Limits on what a peer can send")
struct LimitTests {
    @Test("T37 a head at its limits is served, and one above them gets 431")
    func limitsHead() throws {
        let stage = try Stage { _, connection in connection.respond(body: "served") }
        let own = stage.head("GET", "/").utf8.count
        let fits = String(repeating: "x", count: 65_536 - own - "X: \r\n".utf8.count)
        #expect(try stage.fetch("/", fields: "X: \(fits)\r\n").status == 200)
        let tooLarge = try stage.fetch("/", fields: "X: \(fits)x\r\n")
        #expect(tooLarge.status == 431 && tooLarge.detail == "head_too_large")
        #expect(try stage.fetch("/", fields: String(repeating: "X: y\r\n", count: 99)).status == 200)
        let tooMany = try stage.fetch("/", fields: String(repeating: "X: y\r\n", count: 100))
        #expect(tooMany.status == 431 && tooMany.detail == "too_many_fields")
    }

    @Test("T37 a request line that is too long gets 414")
    func limitsLine() throws {
        let stage = try Stage { _, connection in connection.respond(body: "served") }
        #expect(try stage.fetch("/" + String(repeating: "a", count: 15_000)).status == 200)
        let response = try stage.fetch("/" + String(repeating: "a", count: 17_000))
        #expect(response.status == 414 && response.code == "target_too_long")
    }

    @Test(
        "T37 a body above the limit gets 413: at once by its length, or in chunks once it reaches the limit",
        arguments: [false, true])
    func limitsBody(isChunked: Bool) throws {
        let stage = try Stage("limits: {request_body: 1KiB}") { request, connection in
            connection.readBody(of: request) != nil && connection.respond(body: "served")
        }
        for (length, status) in [(1024, 200), (1025, 413)] {
            let client = try stage.client()
            let body = String(repeating: "b", count: length)
            client.send(
                isChunked
                    ? stage.head("POST", "/", fields: "Transfer-Encoding: chunked\r\n")
                        + "\(String(length, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                    : stage.head("POST", "/", fields: "Content-Length: \(length)\r\n") + body)
            #expect(try client.readResponse().status == status)
        }
    }

    @Test("T37 a body of a hundred thousand chunks of one byte passes")
    func passesManyChunks() throws {
        let stage = try Stage { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            return connection.respond(body: "\(body.count)")
        }
        let client = try stage.client()
        client.send(stage.head("POST", "/", fields: "Transfer-Encoding: chunked\r\n"))
        client.send(String(repeating: "1\r\nx\r\n", count: 100_000) + "0\r\n\r\n")
        #expect(try client.readResponse().text == "100000")
    }

    @Test("T37 a stored head near the limit is served complete")
    func servesLargeStoredHead() throws {
        let value = String(repeating: "v", count: 60_000)
        let stage = try Stage { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\nX-Large: \(value)\r\n", body: "x")
        }
        for _ in 0..<2 { #expect(try stage.fetch("/")["X-Large"] == value) }
        #expect(stage.requestCount() == 1)
    }

    @Test("T38 crafted field names and queries are served like any other")
    func servesManyKeys() throws {
        let stage = try Stage { request, connection in connection.respond(fields: "Cache-Control: max-age=60\r\n") }
        let names = (0..<90).map { "X-\(String($0, radix: 2)): y\r\n" }.joined()
        let client = try stage.client()
        for index in 0..<300 {
            client.send(
                stage.head(
                    "GET", "/?\(String(repeating: "Aa", count: index % 7))\(String(repeating: "BB", count: index / 7))",
                    fields: names))
            #expect(try client.readResponse().status == 200)
        }
    }
}
