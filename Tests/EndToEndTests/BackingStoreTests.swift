import TestSupport
import Testing

@Suite("Two proxies with one store file")
struct BackingStoreTests {
    @Test("The second proxy serves the first one's responses, and does not write its own to the file", arguments: [1, 4])
    func servesBackingStore(loops: Int) throws {
        let large = PatternBytes.make(6 << 20, seed: 1)
        let stage = try Stage(loops: loops, storePath: nil) { request, connection in
            guard request.target == "/large" else {
                return connection.respond(fields: "Cache-Control: max-age=600\r\n", body: request.target)
            }
            connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nETag: \"l\"\r\nContent-Length: \(large.count)\r\n\r\n")
            return connection.send(bytes: large)
        }
        for path in ["/small", "/large"] { _ = try stage.fetch(path) }
        let second = try TestProxy(
            "", loops: loops, storePath: "\(stage.proxy.folder.path)/store.sqlite", store: { $0.access = .readOnlyBackingStore })
        defer { second.stop() }
        func fetch(_ path: String, method: String = "GET", fields: String = "") throws -> ReceivedResponse {
            let client = try RawClient(port: second.port)
            client.send(stage.head(method, path, fields: fields))
            return try client.readResponse(to: method)
        }
        // The first proxy writes its responses in the background.
        try eventually {
            try fetch("/small").cacheStatus.contains("; hit") && fetch("/large").cacheStatus.contains("; hit")
        }
        let asked = stage.requestCount("/large")
        let whole = try fetch("/large")
        #expect(whole.body == large && whole.cacheStatus.contains("; hit"))
        let part = try fetch("/large", fields: "Range: bytes=5000000-5000009\r\n")
        #expect(part.status == 206 && part.body == Array(large[5_000_000...5_000_009]))
        #expect(stage.requestCount("/large") == asked)

        #expect(try fetch("/new").cacheStatus.contains("fwd=uri-miss"))
        #expect(try fetch("/new").cacheStatus.contains("; hit"))
        #expect(try stage.fetch("/new").cacheStatus.contains("fwd=uri-miss"))

        // A write through the second proxy invalidates its responses, and none from the file replaces them (RFC 9111 §4.4).
        #expect(try fetch("/small", method: "DELETE").status == 200)
        #expect(try fetch("/small").cacheStatus.contains("fwd=uri-miss"))
        #expect(try stage.fetch("/small").cacheStatus.contains("; hit"))
    }

    @Test("A 304 updates a response whose body is only in the file, to allow or to forbid its reuse", arguments: [10, 6 << 20])
    func freshens(length: Int) throws {
        let body = PatternBytes.make(length, seed: 2)
        let stage = try Stage(storePath: nil) { request, connection in
            let (before, after) =
                request.target == "/forbids" ? ("max-age=600", "no-cache") : ("max-age=100", "max-age=600")
            guard request["If-None-Match"] == nil else {
                connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nCache-Control: \(after)\r\nX-New: yes\r\n\r\n")
                return true
            }
            connection.send(
                "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nCache-Control: \(before)\r\nContent-Length: \(body.count)\r\n\r\n")
            return connection.send(bytes: body)
        }
        for path in ["/forbids", "/permits"] { _ = try stage.fetch(path) }
        let second = try SecondProxy(stage)
        for path in ["/forbids", "/permits"] {
            try eventually { try second.fetch(path, fields: "Cache-Control: only-if-cached\r\n").status == 200 }
        }
        second.proxy.pass(seconds: 200)
        for path in ["/forbids", "/permits"] {
            let asked = stage.requestCount(path)
            for fields in ["Cache-Control: no-cache\r\n", "", ""] {
                let response = try second.fetch(path, fields: fields)
                #expect(response.body == body && response["X-New"] == "yes")
            }
            #expect(stage.requestCount(path) == asked + (path == "/forbids" ? 3 : 1))
        }
    }

    @Test("Offline, the second proxy serves the first one's responses")
    func servesOffline() throws {
        let stage = try Stage(storePath: nil) { _, connection in
            connection.respond(fields: "Cache-Control: max-age=1\r\n", body: "kept")
        }
        _ = try stage.fetch("/x")
        stage.proxy.stop()
        let second = try TestProxy(
            "mode: offline", storePath: "\(stage.proxy.folder.path)/store.sqlite", store: { $0.access = .readOnlyBackingStore })
        defer { second.stop() }
        second.pass(seconds: 3600)
        let client = try RawClient(port: second.port)
        client.send(stage.head("GET", "/x"))
        let response = try client.readResponse()
        #expect(response.text == "kept" && response.cacheStatus.hasSuffix("detail=offline"))
    }
}

/// A proxy that reads the store file of a stage.
struct SecondProxy {
    let stage: Stage
    let proxy: TestProxy

    init(_ stage: Stage) throws {
        self.stage = stage
        proxy = try TestProxy(
            "", storePath: "\(stage.proxy.folder.path)/store.sqlite", store: { $0.access = .readOnlyBackingStore })
    }

    func fetch(_ path: String, fields: String = "") throws -> ReceivedResponse {
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send(stage.head("GET", path, fields: fields))
        return try client.readResponse()
    }
}
