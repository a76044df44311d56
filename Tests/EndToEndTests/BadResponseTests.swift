import Testing
import TestSupport

/// An origin's response, and the error that the client gets.
struct BadResponse: Sendable, CustomTestStringConvertible {
    let what: String
    let response: String
    let code: String
    let detail: String?

    init(_ what: String, _ response: String, _ detail: String? = nil, code: String = "response_malformed") {
        self.what = what
        self.response = response
        self.detail = detail
        self.code = code
    }

    var testDescription: String { what }
}

@Suite("Invalid responses (RFC 9112 §5.1, §6.3)")
struct BadResponseTests {
    private static let store = "Cache-Control: max-age=60\r\n"

    private static let bad = [
        BadResponse(
            "both lengths", ok("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n",
            "content_length_and_transfer_encoding"),
        BadResponse("two lengths", ok("Content-Length: 3\r\nContent-Length: 4\r\n") + "abcd", "conflicting_content_lengths"),
        BadResponse("a list of lengths", ok("Content-Length: 3, 4\r\n") + "abcd", "conflicting_content_lengths"),
        BadResponse("a length with a plus", ok("Content-Length: +3\r\n") + "abc", "malformed_content_length"),
        BadResponse("folded line", ok("X-A: 1\r\n 2\r\nContent-Length: 0\r\n"), "obs_fold"),
        BadResponse("bare CR", ok("X-A: 1\rSet-Cookie: x\r\nContent-Length: 0\r\n"), "bare_cr"),
        BadResponse("NUL", ok("X-A: 1\u{0}\r\nContent-Length: 0\r\n"), "nul"),
        BadResponse("HTTP/0.9", "<html>no head</html>", "not_http"),
        BadResponse("another protocol", "SSH-2.0-OpenSSH_9.6\r\n", "not_http"),
        BadResponse("malformed status line", "HTTP/1.1 two hundred\r\n\r\n", "malformed_status_line"),
        BadResponse("HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", "unsupported_version"),
        BadResponse("unknown coding", ok("Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n", "unsupported_transfer_coding"),
        BadResponse(
            "a flood of 1xx", String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 200), "too_many_informational_responses"
        ),
        BadResponse("101 unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", code: "unexpected_upgrade"),
        BadResponse(
            "304 unasked", "HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\n\r\n", code: "unexpected_not_modified"),
        BadResponse(
            "a head without end", "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 100_000))\r\n",
            code: "response_fields_too_large"),
        BadResponse(
            "fields without end", "HTTP/1.1 200 OK\r\n\(String(repeating: "X: y\r\n", count: 2000))\r\n",
            code: "response_fields_too_large"),
        BadResponse("the end of the connection", "", code: "connection_terminated"),
        BadResponse("the end within the head", "HTTP/1.1 200 OK\r\nX-A", code: "connection_terminated"),
    ]

    private static func ok(_ fields: String) -> String { "HTTP/1.1 200 OK\r\n\(store)\(fields)\r\n" }

    @Test(
        "T39 an unreadable response is a 502 with its own reason; nothing is stored, and the next exchange is not affected",
        arguments: bad)
    func refuses(bad: BadResponse) throws {
        let stage = try Stage { request, connection in
            if request.target == "/next" { return connection.respond(body: "clean") }
            connection.send(bad.response)
            return false
        }
        let client = try stage.client()
        for _ in 0..<2 {
            client.send(stage.head("GET", "/bad"))
            let response = try client.readResponse()
            #expect(response.status == 502)
            #expect(response.code == bad.code)
            if let detail = bad.detail { #expect(response.detail == detail) }
            #expect(response["Proxy-Status"]?.contains("error=") == true)
        }
        #expect(stage.requestCount("/bad") >= 2)
        client.send(stage.head("GET", "/next"))
        #expect(try client.readResponse().text == "clean")
    }

    @Test(
        "T39 an incomplete body never looks complete, and is not stored",
        arguments: [
            "Content-Length: 100\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nXYZ\r\n", "Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: 1\r\n 2\r\n\r\n",
        ])
    func cutsOff(rest: String) throws {
        let stage = try Stage { request, connection in
            connection.send("HTTP/1.1 200 OK\r\n\(Self.store)\(rest)")
            return false
        }
        for _ in 0..<2 {
            let client = try stage.client()
            client.send(stage.head("GET", "/cut"))
            #expect(throws: ClientFault.self) {
                let response = try client.readResponse()
                // If no byte was sent to the client, it gets a complete error response.
                if response.status == 502 { throw client.fault(.closed) }
            }
        }
        #expect(stage.requestCount("/cut") >= 2)
    }

    @Test("An incomplete body is counted once as not stored, short or long", arguments: [100, 100_000])
    func countsBrokenBodies(length: Int) throws {
        let stage = try Stage { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\n\(Self.store)Content-Length: \(2 * length)\r\n\r\n" + String(repeating: "a", count: length))
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/cut"))
        #expect(throws: ClientFault.self) { try client.readResponse() }
        try eventually { stage.proxy.store.statistics.unstored == [.bodyIncomplete: 1] }
    }

    @Test("A short response whose client leaves before its end is counted once as not stored")
    func countsAbandonedBodies() throws {
        let release = Gate()
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n\(Self.store)Content-Length: 100\r\n\r\nabc")
            _ = release.wait()
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/left"))
        #expect(try client.readHead().status == 200)
        client.reset()
        try eventually { stage.proxy.store.statistics.unstored == [.bodyIncomplete: 1] }
        release.open()
    }

    @Test(
        "T39 bytes after a 204, a 304 or a response to HEAD are never read as the next response",
        arguments: ["204 No Content", "304 Not Modified", "HEAD"])
    func dropsWhatFollows(kind: String) throws {
        let stage = try Stage { request, connection in
            if request.target == "/next" { return connection.respond(body: "clean") }
            let status = kind == "HEAD" ? "200 OK" : kind
            return connection.send(
                "HTTP/1.1 \(status)\r\nContent-Length: 40\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!")
        }
        let client = try stage.client()
        let method = kind == "HEAD" ? "HEAD" : "GET"
        client.send(stage.head(method, "/none", fields: "If-None-Match: \"v\"\r\n"))
        #expect(try client.readResponse(to: method).body.isEmpty)
        client.send(stage.head("GET", "/next"))
        #expect(try client.readResponse().text == "clean")
    }

    @Test("T39 a 304 to an unconditional request does not change the stored response")
    func ignoresUnaskedNotModified() throws {
        let stage = try Stage { request, connection in
            request["Cache-Control"] == "no-cache"
                ? connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"w\"\r\n\r\n")
                : connection.respond(fields: "ETag: \"v\"\r\n\(Self.store)", body: "kept")
        }
        #expect(try stage.fetch("/m").text == "kept")
        let unasked = try stage.fetch("/m", fields: "Cache-Control: no-cache\r\n")
        #expect(stage.requestCount() == 3 && unasked.code == "unexpected_not_modified")
        let response = try stage.fetch("/m")
        #expect(response.status == 200 && response.text == "kept" && response["ETag"] == "\"v\"")
    }

    @Test(
        "T39 a 206 to a request without Range is passed on and never stored",
        arguments: ["bytes 0-2/3", "bytes 5-1/3", "bytes */3", "nonsense", ""])
    func doesNotKeepParts(range: String) throws {
        let stage = try Stage { request, connection in
            connection.respond("206 Partial Content", fields: "Content-Range: \(range)\r\n\(Self.store)", body: "abc")
        }
        for _ in 0..<2 { #expect(try stage.fetch("/p").cacheStatus.contains("fwd=uri-miss")) }
        #expect(stage.requestCount() == 2)
    }

    @Test("Whitespace before a colon is removed from a response's field line (RFC 9112 §5.1)")
    func removesBlanks() throws {
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length \t: 2\r\n\r\nok")
        }
        let response = try stage.fetch("/b")
        #expect(response.text == "ok" && response["X-A"] == "1")
    }

    @Test("T16 control characters of a reason phrase are not passed on")
    func cleansReason() throws {
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 200 O\u{1b}[31mK\r\nContent-Length: 0\r\n\r\n")
        }
        let response = try stage.fetch("/b")
        #expect(!response.statusLine.contains("\u{1b}"))
    }
}
