import Testing
import TestSupport

/// Key rules over real sockets: which requests share a response, which do not, and what the origin receives.
@Suite("Cache keys by rule (T18 to T20)")
struct CacheKeyRuleTests {
    private static let fresh = "Cache-Control: max-age=600\r\n"
    private static let hosts = "resolve: {a.test: 127.0.0.1, b.test: 127.0.0.1, c.test: 127.0.0.1}\n"

    /// Each response has the number of the request at the origin, with its target and content.
    private func stage(_ rule: String, loops: Int = 1, fields: String = fresh) throws -> Stage {
        let counter = Counter()
        return try Stage(Self.hosts + "rules: [{name: key, \(rule)}]", loops: loops) { request, connection in
            guard let content = connection.readBody(of: request) else { return false }
            let text = String(decoding: content, as: UTF8.self)
            return connection.respond(fields: fields, body: "\(counter.next()) \(request.target) \(text)")
        }
    }

    private func number(_ response: ReceivedResponse) -> Substring { response.text.prefix { $0 != " " } }

    @Test("drop_query: URLs share a response, and the origin still gets the complete query")
    func dropsQuery() throws {
        let stage = try stage("cache: {key: {drop_query: [\"utm_*\"]}}")
        #expect(try stage.fetch("/a?id=1&utm_source=x").text == "1 /a?id=1&utm_source=x ")
        #expect(try number(stage.fetch("/a?utm_medium=y&id=1")) == "1")
        #expect(try number(stage.fetch("/a?id=1")) == "1")
        #expect(try number(stage.fetch("/a?id=2")) == "2")
    }

    @Test("keep_query and sort_query can be combined")
    func keepsAndSorts() throws {
        let stage = try stage("cache: {key: {keep_query: [id, page], sort_query: true}}")
        #expect(try number(stage.fetch("/a?page=2&x=9&id=1")) == "1")
        #expect(try number(stage.fetch("/a?id=1&page=2&y")) == "1")
        #expect(try number(stage.fetch("/a?id=1&page=3")) == "2")
    }

    @Test("canonical_host: mirrors share their responses, other ports do not")
    func sharesMirrors() throws {
        let stage = try stage("match: {host: [a.test, b.test]}, cache: {key: {canonical_host: a.test}}")
        #expect(try number(stage.fetch("/x", host: "b.test")) == "1")
        #expect(try number(stage.fetch("/x", host: "a.test")) == "1")
        #expect(stage.origin.requestHeads.first?.contains("\r\nHost: b.test:") == true)
        #expect(try number(stage.fetch("/x", host: "c.test")) == "2")
    }

    @Test("fields: each value has its own response, both in the store and for waiting requests", arguments: [1, 4])
    func keysFields(loops: Int) throws {
        let stage = try Stage("rules: [{name: key, cache: {key: {fields: [X-Tenant, X-Forwarded-Proto]}}}]", loops: loops) {
            connection in
            while let head = connection.readHead() {
                let request = OriginRequest(head: head)
                connection.pause(milliseconds: 30)
                let body = "\(request["X-Tenant"] ?? "none") \(request["X-Forwarded-Proto"] ?? "none")"
                guard connection.respond(fields: Self.fresh, body: body) else { return }
            }
        }
        let (port, head) = (stage.proxy.port, stage.url("/x"))
        for _ in 0..<2 {
            let texts = try concurrently(8) { index in
                let client = try RawClient(port: port)
                client.send("GET \(head) HTTP/1.1\r\nHost: x\r\nX-Tenant: \(index % 4)\r\nX-Forwarded-Proto: https\r\n\r\n")
                return try client.readResponse().text
            }
            #expect(texts == (0..<8).map { "\($0 % 4) https" })
        }
        let count = stage.requestCount()
        #expect(try stage.fetch("/x", fields: "X-Forwarded-Proto: https\r\nX-Tenant: 3\r\n").text == "3 https")
        #expect(stage.requestCount() == count)
        #expect(try stage.fetch("/x", fields: "X-Tenant: 3\r\n").text == "3 none")
    }

    @Test(
        "A write invalidates responses under keys of rules too, and those of its Location, whatever rule matches the write",
        arguments: [
            ("drop_query: [utm]", "/a?utm=1", "/a?utm=2"), ("canonical_host: c.test", "/a", "/a"),
            ("sort_query: true", "/a?b&a", "/a?a&b"), ("fields: [X-Own]", "/a", "/a"),
        ])
    func invalidates(word: String, first: String, second: String) throws {
        let stage = try stage("match: {method: [GET, HEAD]}, cache: {key: {\(word)}}")
        let field = "X-Own: 1\r\n"
        for turn in ["1", "1"] { #expect(try number(stage.fetch(first, fields: field)) == turn) }
        #expect(try stage.fetch(second, method: "DELETE").status == 200)
        #expect(try number(stage.fetch(first, fields: field)) == "3")
    }

    @Test("QUERY: one response for each content and type, and none for another method", arguments: [1, 4])
    func keysQueries(loops: Int) throws {
        let stage = try stage("cache: {key: {body: QUERY}}", loops: loops)
        let type = "Content-Type: text/plain\r\n"
        for _ in 0..<2 {
            #expect(try stage.fetch("/q", method: "QUERY", fields: type, body: "one").text == "1 /q one")
        }
        #expect(try stage.fetch("/q", method: "QUERY", fields: type, body: "two").text == "2 /q two")
        #expect(try number(stage.fetch("/q", method: "QUERY", fields: "Content-Type: text/html\r\n", body: "one")) == "3")
        #expect(try number(stage.fetch("/q")) == "4")
        #expect(try number(stage.fetch("/q", method: "QUERY")) == "5")
        #expect(try number(stage.fetch("/q", method: "QUERY")) == "5")
        for turn in ["6", "7"] { #expect(try number(stage.fetch("/q", method: "POST", body: "one")) == turn) }
        // The POST was a write, so it invalidated all of them.
        #expect(try number(stage.fetch("/q", method: "QUERY", fields: type, body: "one")) == "8")
    }

    @Test("POST: a rule with unsafe: true stores responses by content; a PUT invalidates them")
    func keysPosts() throws {
        let stage = try stage("match: {method: POST}, cache: {key: {body: POST}, unsafe: true}")
        for _ in 0..<2 { #expect(try stage.fetch("/g", method: "POST", body: "{a}").text == "1 /g {a}") }
        #expect(try number(stage.fetch("/g", method: "POST", body: "{b}")) == "2")
        #expect(try number(stage.fetch("/g", method: "POST", body: "{a}")) == "1")
        #expect(try number(stage.fetch("/g", method: "PUT", body: "x")) == "3")
        #expect(try number(stage.fetch("/g", method: "POST", body: "{a}")) == "4")
    }

    @Test("Content up to the limit is part of the key, and longer content is forwarded completely", arguments: [0, 1])
    func limitsContent(excess: Int) throws {
        let counter = Counter()
        let stage = try Stage(
            "rules: [{name: key, cache: {key: {body: QUERY}}}]", change: { $0.proxyLimits.keyedBodyLength = 1000 }
        ) { request, connection in
            guard let content = connection.readBody(of: request) else { return false }
            return connection.respond(fields: Self.fresh, body: "\(counter.next()) \(content.count)")
        }
        let body = String(repeating: "x", count: 1000 + excess)
        let chunked = "3e8\r\n\(body.prefix(1000))\r\n\(excess == 0 ? "" : "1\r\nx\r\n")0\r\n\r\n"
        for (turn, isChunked) in [(1, false), (2, true)] {
            let client = try stage.client()
            let framing = isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(body.count)\r\n"
            client.send(stage.head("QUERY", "/q", fields: framing) + (isChunked ? chunked : body))
            #expect(try client.readResponse().text == "\(excess == 0 ? 1 : turn) \(body.count)")
        }
    }

    @Test("Empty content is forwarded correctly, both chunked and with a length")
    func emptyContent() throws {
        let stage = try stage("cache: {key: {body: QUERY}}")
        for (framing, end) in [("Transfer-Encoding: chunked", "0\r\n\r\n"), ("Content-Length: 0", "")] {
            let client = try stage.client()
            client.send(stage.head("QUERY", "/q", fields: "\(framing)\r\n") + end)
            #expect(try client.readResponse().text == "1 /q ")
        }
    }

    @Test("Larder sends 100 Continue itself and does not forward Expect")
    func saysContinue() throws {
        let stage = try stage("cache: {key: {body: QUERY}}")
        for _ in 0..<2 {
            let client = try stage.client()
            client.send(stage.head("QUERY", "/q", fields: "Expect: 100-continue\r\nContent-Length: 3\r\n"))
            #expect(try client.readLine().hasPrefix("HTTP/1.1 100 "))
            _ = try client.readLine()
            client.send("abc")
            #expect(try client.readResponse().text == "1 /q abc")
        }
        #expect(stage.origin.requestHeads.count == 1 && stage.origin.requestHeads[0].contains("Expect") == false)
    }

    @Test("Incomplete content is a 400, and nothing is forwarded")
    func cutContent() throws {
        let stage = try stage("cache: {key: {body: QUERY}}")
        let client = try stage.client()
        client.send(stage.head("QUERY", "/q", fields: "Content-Length: 10\r\n") + "abc")
        client.endSending()
        #expect(try client.readResponse().status == 400)
        #expect(stage.requestCount() == 0)
    }
}
