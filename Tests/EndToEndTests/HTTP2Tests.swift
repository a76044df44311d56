import HTTP2Wire
import HTTPMessage
import ProxyServer
import TestSupport
import Testing

@Suite("Clients with HTTP/2: each stream is one exchange (RFC 9113)")
struct HTTP2Tests {
    private static let fresh = "Cache-Control: max-age=600\r\n"

    private func client(_ stage: Stage, limits: HTTP2Limits = HTTP2Limits()) throws -> HTTP2Client {
        try HTTP2Client(stage.client(), limits: limits)
    }

    @Test("A client with prior knowledge gets a response from the origin, then the stored one", arguments: [1, 4])
    func answers(loops: Int) throws {
        let stage = try Stage(loops: loops) { _, connection in connection.respond(fields: Self.fresh, body: "hello") }
        let client = try client(stage)
        let first = try client.fetch(stage.url("/a"))
        #expect(first.status == 200 && first.text == "hello" && first.value("cache-status") == "Larder; fwd=uri-miss; stored")
        let second = try client.fetch(stage.url("/a"))
        #expect(second.text == "hello" && second.value("cache-status")?.hasPrefix("Larder; hit") == true)
        #expect(second.value("content-length") == "5" && second.value("connection") == nil)
        // A client with HTTP/1.1 gets the same stored response.
        #expect(try stage.fetch("/a")["Cache-Status"]?.hasPrefix("Larder; hit") == true)
        let request = OriginRequest(head: try #require(stage.origin.requestHeads.first))
        #expect(request["Via"] == "2.0 larder" && request["Host"] == "127.0.0.1:\(stage.origin.port)")
        #expect(stage.requestCount() == 1)
    }

    @Test("A preface in pieces is accepted, and one after a request in HTTP/1 gets 505")
    func prefaces() throws {
        let stage = try Stage { _, connection in connection.respond(body: "hello") }
        let raw = try stage.client()
        let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        // The rest of the preface, and the client's frames, follow the first line.
        raw.send(String(preface.prefix(16)))
        raw.send(String(preface.dropFirst(16)))
        raw.send(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0])
        // SETTINGS of the server.
        #expect(try raw.read(count: 4)[3] == 4)
        let mixed = try stage.client()
        mixed.send(stage.head("GET", "/a"))
        #expect(try mixed.readResponse().status == 200)
        mixed.send(preface)
        #expect(try mixed.readResponse().status == 505)
    }

    @Test("A hundred requests at once are answered on their streams, whichever ends first")
    func multiplexes() throws {
        let stage = try Stage { request, connection in
            connection.respond(body: String(repeating: request.target, count: 2000))
        }
        let client = try client(stage)
        let streams = try (0..<100).map { try client.begin("GET", stage.url("/\($0)")) }
        for (number, stream) in streams.enumerated().reversed() {
            let response = try client.readResponse(on: stream)
            #expect(response.status == 200 && response.text == String(repeating: "/\(number)", count: 2000))
        }
        #expect(stage.requestCount() == 100)
    }

    @Test("Content and trailers pass both ways, with and without Content-Length")
    func passesContent() throws {
        let origin: ScriptedOrigin.Script = { connection in
            while let head = connection.readHead() {
                let request = OriginRequest(head: head)
                let (body, trailers) =
                    request["Transfer-Encoding"] == nil
                    ? (connection.readBody(of: request) ?? [], []) : connection.readChunks() ?? ([], [])
                let text = "\(request["Content-Length"] ?? "chunked") \(body.count) \(trailers)"
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n")
                connection.send("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\nX-Sum: 7\r\n\r\n")
            }
        }
        let stage = try Stage(script: origin)
        let client = try client(stage)
        let content = [UInt8](repeating: 1, count: 700_000)
        let chunked = try client.fetch(stage.url("/a"), method: "POST", content: content)
        #expect(chunked.text == "chunked 700000 []" && chunked.trailers?.combinedValue(of: .other) == "7")
        let counted = try client.fetch(stage.url("/b"), method: "PUT", [("content-length", "700000")], content: content)
        #expect(counted.text == "700000 700000 []")
        // A client's own trailers.
        let stream = try client.begin("POST", stage.url("/c"), hasContent: true)
        try client.send([1, 2, 3], on: stream)
        var trailers = Fields()
        trailers.append(name: Array("x-check".utf8).span, value: Array("9".utf8).span)
        try client.session.submitTrailers(stream, trailers)
        client.flush()
        #expect(try client.readResponse(on: stream).text.hasPrefix("chunked 3 [\"x-check: 9") == true)
    }

    @Test("HEAD has no content, 304 neither, and an early hint comes first")
    func sendsHeads() throws {
        let stage = try Stage { request, connection in
            if request.target == "/hint" { connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n") }
            if request.method == "HEAD" { return connection.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n") }
            return connection.respond(fields: "ETag: \"1\"\r\n" + Self.fresh, body: "hello")
        }
        let client = try client(stage)
        let head = try client.fetch(stage.url("/head"), method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head.value("content-length") == "12")
        #expect(try client.fetch(stage.url("/a")).status == 200)
        let unmodified = try client.fetch(stage.url("/a"), [("if-none-match", "\"1\"")])
        #expect(unmodified.status == 304 && unmodified.body.isEmpty)
        let hinted = try client.fetch(stage.url("/hint"))
        #expect(hinted.informational == [103] && hinted.status == 200 && hinted.text == "hello")
    }

    @Test("The crumbs of a cookie reach the origin in one field (RFC 9113 §8.2.3)")
    func joinsCookies() throws {
        let stage = try Stage { request, connection in connection.respond(body: request["Cookie"] ?? "none") }
        let client = try client(stage)
        #expect(try client.fetch(stage.url("/a"), [("cookie", "a=1"), ("cookie", "b=2")]).text == "a=1; b=2")
    }

    @Test("A response that the origin cuts off ends with a reset, and is not stored")
    func tellsOfCuts() throws {
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 10\r\n\r\nhello")
            return false
        }
        let client = try client(stage)
        for _ in 0..<2 {
            let response = try client.fetch(stage.url("/a"))
            #expect(response.reset == .internalError && !response.hasEnded)
        }
        #expect(stage.requestCount() == 2)
        // The connection goes on.
        #expect(try client.fetch(stage.url("/b")).reset == .internalError)
    }

    @Test("A client that resets its stream lets the origin's connection go, and keeps its other streams")
    func cancels() throws {
        let isLetGo = Gate()
        let stage = try Stage { request, connection in
            guard request.target == "/endless" else { return connection.respond(body: "hello") }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbegin")
            if connection.isLetGo() { isLetGo.open() }
            return false
        }
        let client = try client(stage)
        let stream = try client.begin("GET", stage.url("/endless"))
        #expect(try client.read(5, on: stream) == "begin")
        client.session.reset(stream, .cancel)
        client.flush()
        #expect(isLetGo.wait())
        #expect(try client.fetch(stage.url("/a")).text == "hello")
    }

    @Test("A stream whose content the client does not read delays no other stream")
    func isolatesSlowStreams() throws {
        let stage = try Stage { request, connection in
            connection.respond(body: String(repeating: "x", count: request.target == "/big" ? 4 << 20 : 100_000))
        }
        let client = try client(stage)
        client.releases = false
        let slow = try client.begin("GET", stage.url("/big"))
        // As much as the stream's window allows.
        _ = try client.read(client.session.limits.streamWindow, on: slow)
        for number in 0..<3 {
            #expect(try client.fetch(stage.url("/\(number)")).body.count == 100_000)
        }
        #expect(client.response(on: slow).body.count == client.session.limits.streamWindow)
        // The client reads on.
        client.session.consumed(slow, client.response(on: slow).body.count)
        client.releases = true
        client.flush()
        #expect(try client.readResponse(on: slow).body.count == 4 << 20)
    }

    @Test("Many uploads at once on one connection all arrive, although only a few may be sent to the origin at a time")
    func passesManyUploads() throws {
        let stage = try Stage("upstream: {connections_per_origin: 2}") { request, connection in
            let content = connection.readChunks()?.body ?? []
            return connection.respond(body: "\(content.count)")
        }
        let client = try client(stage)
        let streams = try (0..<40).map { try client.begin("POST", stage.url("/\($0)"), hasContent: true) }
        let content = [UInt8](repeating: 3, count: 200_000)
        var rests = Dictionary(uniqueKeysWithValues: streams.map { ($0, content[...]) })
        // All of them send as much as their windows permit.
        while !rests.isEmpty {
            var hasSent = false
            for (stream, rest) in rests {
                let taken = try rest.withUnsafeBytes { try client.session.submitData(stream, $0, end: true) }
                hasSent = hasSent || taken > 0
                rests[stream] = taken == rest.count ? nil : rest.dropFirst(taken)
            }
            client.flush()
            if !hasSent { try client.receive() }
        }
        for stream in streams { #expect(try client.readResponse(on: stream).text == "200000") }
    }

    @Test("A request with too much content gets the whole 413, then a reset without an error (RFC 9113 §8.1)")
    func stopsUploads() throws {
        let stage = try Stage("limits: {request_body: 100000}") { _, connection in connection.respond() }
        let client = try client(stage)
        let stream = try client.begin("POST", stage.url("/a"), [("content-length", "200000")], hasContent: true)
        let response = try client.readResponse(on: stream)
        #expect(response.status == 413 && response.text.contains("\"code\":\"request_body_too_large\""))
        while client.response(on: stream).reset == nil { try client.receive() }
        #expect(client.response(on: stream).reset == .noError)
        #expect(try client.fetch(stage.url("/b")).status == 200)
    }

    @Test("A client may send the little content of a request that is denied, and its stream ends without a reset")
    func readsDeniedContent() throws {
        let stage = try Stage("rules: [{name: no, deny: {}}]") { _, connection in connection.respond() }
        let client = try client(stage)
        let stream = try client.begin("POST", stage.url("/a"), [("content-length", "8")], hasContent: true)
        #expect(try client.readResponse(on: stream).status == 403)
        try client.send(Array("upload=1".utf8), on: stream, end: true)
        #expect(try client.fetch(stage.url("/b")).status == 403)
        #expect(client.response(on: stream).reset == nil)
        // One that sends without end has no more space after a while.
        let endless = try client.begin("POST", stage.url("/c"), hasContent: true)
        #expect(try client.readResponse(on: endless).status == 403)
        while client.response(on: endless).reset == nil {
            _ = try? [UInt8](repeating: 1, count: 10_000).withUnsafeBytes {
                try client.session.submitData(endless, $0, end: false)
            }
            client.flush()
            if client.session.capacity(of: endless) == 0 { try client.receive() }
        }
        #expect(client.response(on: endless).reset == .noError)
    }

    @Test("A head above the limit gets 431, and the connection goes on")
    func limitsHeads() throws {
        let stage = try Stage("limits: {head: 4KiB}") { _, connection in connection.respond() }
        let client = try client(stage)
        #expect(try client.fetch(stage.url("/a"), [("x-long", String(repeating: "y", count: 5000))]).status == 431)
        #expect(try client.fetch(stage.url("/a")).status == 200)
    }

    @Test("Streams that are reset again and again end the connection, and other clients are served (CVE-2023-44487)")
    func limitsResets() throws {
        let stage = try Stage("limits: {http2: {resets: 50}}") { _, connection in
            connection.respond(fields: Self.fresh, body: "a")
        }
        let client = try client(stage)
        for number in 0...60 {
            let stream = try client.begin("GET", stage.url("/\(number)"))
            client.session.reset(stream, .cancel)
            client.flush()
        }
        #expect(try client.readGoAway() == .enhanceYourCalm)
        #expect(client.client.isClosedByPeer())
        let other = try self.client(stage)
        #expect(try other.fetch(stage.url("/a")).status == 200)
    }

    @Test("A client that opens new connections for its resets exceeds the limit of its address", arguments: [1, 4])
    func limitsResetsOfAllConnections(loops: Int) throws {
        let stage = try Stage(
            "limits: {http2: {resets: 50, resets_per_client: 70}}", loops: loops,
            change: { $0.http2Limits.rateWindow = .seconds(3600) }
        ) { _, connection in
            connection.respond(fields: Self.fresh, body: "a")
        }
        func reset(_ count: Int) throws -> HTTP2Client {
            let client = try client(stage)
            for number in 0..<count {
                let stream = try client.begin("GET", stage.url("/\(number)"))
                client.session.reset(stream, .cancel)
                client.flush()
            }
            return client
        }
        let first = try reset(50)
        #expect(try first.fetch(stage.url("/a")).status == 200)
        let second = try reset(20)
        #expect(try second.fetch(stage.url("/a")).status == 200)
        let last = try second.begin("GET", stage.url("/b"))
        second.session.reset(last, .cancel)
        second.flush()
        #expect(try second.readGoAway() == .enhanceYourCalm)
        // A new connection is closed before its first request.
        #expect(try client(stage).readGoAway() == .enhanceYourCalm)
        // HTTP/1.1, and connections without resets, are not concerned.
        #expect(try stage.fetch("/a").status == 200)
        #expect(try first.fetch(stage.url("/a")).status == 200)
    }

    @Test("A client may have as many requests open as the settings say")
    func limitsStreams() throws {
        let goesOn = Gate()
        let stage = try Stage("limits: {http2: {streams: 5}}") { _, connection in
            goesOn.wait()
            return connection.respond(body: "a")
        }
        let client = try client(stage)
        while client.session.peerConcurrentStreams > 5 { try client.receive() }
        let streams = try (0..<8).map { try client.begin("GET", stage.url("/\($0)")) }
        try eventually { stage.requestCount() == 5 }
        goesOn.open()
        for stream in streams { #expect(try client.readResponse(on: stream).text == "a") }
    }

    @Test("A proxy that stops says so by GOAWAY, and answers the requests that it has")
    func drains() throws {
        let arrived = Gate()
        let goesOn = Gate()
        let stage = try Stage { _, connection in
            arrived.open()
            goesOn.wait()
            return connection.respond(body: "hello")
        }
        let busy = try client(stage)
        let idle = try client(stage)
        let stream = try busy.begin("GET", stage.url("/a"))
        #expect(arrived.wait())
        while idle.session.peerConcurrentStreams > 100 { try idle.receive() }
        let drained = Gate()
        stage.proxy.server.drain { drained.open() }
        #expect(try idle.readGoAway() == .noError)
        #expect(idle.client.isClosedByPeer())
        #expect(try busy.readGoAway() == .noError)
        goesOn.open()
        #expect(try busy.readResponse(on: stream).text == "hello")
        #expect(drained.wait())
        #expect(busy.client.isClosedByPeer())
    }

    @Test("Larder's own pages are served, and the log names the version")
    func servesOwnPages() throws {
        let stage = try Stage("log: {access: {format: combined}}") { _, connection in connection.respond(body: "a") }
        let client = try client(stage)
        let script = try client.fetch("http://127.0.0.1:\(stage.proxy.port)/proxy.pac")
        #expect(script.status == 200 && script.text.contains("FindProxyForURL"))
        #expect(try client.fetch("http://127.0.0.1:\(stage.proxy.port)/none").status == 400)
        #expect(try client.fetch(stage.url("/a")).status == 200)
        let lines = try stage.proxy.logLines()
        #expect(lines.contains { $0.contains("\(stage.url("/a")) HTTP/2.0") }, "\(lines)")
    }

    @Test("Rules judge each stream: an edit, a denial, and the others")
    func obeysRules() throws {
        let yaml = """
            rules:
              - {name: no-admin, match: {path: "/admin/*"}, deny: {}}
              - {name: mark, match: {path: "/marked"}, request: {set: {X-Mark: "yes"}}}
            """
        let stage = try Stage(yaml) { request, connection in connection.respond(body: request["X-Mark"] ?? "no") }
        let client = try client(stage)
        let denied = try client.fetch(stage.url("/admin/x"))
        #expect(denied.status == 403 && denied.text.contains("\"code\":\"denied_by_rule\""))
        #expect(try client.fetch(stage.url("/marked")).text == "yes")
        #expect(try client.fetch(stage.url("/other")).text == "no")
        #expect(stage.requestCount() == 2)
    }
}
