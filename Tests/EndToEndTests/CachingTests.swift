import Foundation
import TestSupport
import Testing

@Suite("The store behind the proxy (RFC 9111), over real sockets")
struct CachingTests {
    private static let fresh = "Cache-Control: max-age=60\r\n"

    @Test(
        "A range on a hit gets the part, counted from either end",
        arguments: [
            ("bytes=0-3", "0123", "0-3"), ("bytes=6-", "6789", "6-9"), ("bytes=-2", "89", "8-9"), ("bytes=8-99", "89", "8-9"),
        ])
    func servesRanges(range: String, part: String, sent: String) throws {
        let stage = try Stage { _, connection in
            connection.respond(fields: Self.fresh + "ETag: \"v\"\r\n", body: "0123456789")
        }
        _ = try stage.fetch("/r")
        let response = try stage.fetch("/r", fields: "Range: \(range)\r\n")
        #expect(response.status == 206 && response.text == part)
        #expect(response["Content-Range"] == "bytes \(sent)/10")
        #expect(response.cacheStatus.hasPrefix("Larder; hit"))
        #expect(stage.requestCount() == 1)
    }

    @Test("A range past the end of a hit is a 416 with the length; If-Range with another entity tag gets the complete body")
    func refusesRanges() throws {
        let stage = try Stage { _, connection in
            connection.respond(fields: Self.fresh + "ETag: \"v\"\r\n", body: "0123456789")
        }
        _ = try stage.fetch("/r")
        let response = try stage.fetch("/r", fields: "Range: bytes=10-\r\n")
        #expect(response.status == 416)
        #expect(response["Content-Range"] == "bytes */10")
        #expect(try stage.fetch("/r", fields: "Range: bytes=0-1\r\nIf-Range: \"v\"\r\n").text == "01")
        #expect(try stage.fetch("/r", fields: "Range: bytes=0-1\r\nIf-Range: \"w\"\r\n").text == "0123456789")
    }

    @Test("A range that is not stored is forwarded unchanged, and its response is not stored")
    func forwardsRanges() throws {
        let stage = try Stage { request, connection in
            guard request["Range"] == "bytes=1-2" else { return connection.respond(fields: Self.fresh, body: "whole") }
            return connection.respond("206 Partial Content", fields: Self.fresh + "Content-Range: bytes 1-2/5\r\n", body: "ho")
        }
        let part = try stage.fetch("/r", fields: "Range: bytes=1-2\r\n")
        #expect(part.status == 206 && part.text == "ho")
        #expect(try stage.fetch("/r").text == "whole")
    }

    @Test("A client's If-None-Match gets a 304 from the store, with its validators and without content")
    func answersConditions() throws {
        let stage = try Stage { _, connection in
            connection.respond(
                fields: Self.fresh + "ETag: \"v1\"\r\nLast-Modified: Mon, 06 Jul 2026 10:00:00 GMT\r\n", body: "body")
        }
        _ = try stage.fetch("/c")
        let client = try stage.client()
        client.send(stage.head("GET", "/c", fields: "If-None-Match: \"v0\", W/\"v1\"\r\n"))
        let unchanged = try client.readResponse()
        #expect(unchanged.status == 304 && unchanged["ETag"] == "\"v1\"")
        client.send(stage.head("GET", "/c", fields: "If-None-Match: \"v2\"\r\n"))
        #expect(try client.readResponse().text == "body")
        client.send(stage.head("GET", "/c", fields: "If-Modified-Since: Mon, 06 Jul 2026 10:00:00 GMT\r\n"))
        #expect(try client.readResponse().status == 304)
        #expect(stage.requestCount() == 1)
    }

    @Test("A stale response is validated; a 304 freshens it, its new fields are served, and the next request is a hit")
    func freshens() throws {
        let stage = try Stage { request, connection in
            if request["If-None-Match"] == "\"v1\"" {
                return connection.send(
                    "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=60\r\nX-Turn: 2\r\n\r\n")
            }
            return connection.respond(fields: "ETag: \"v1\"\r\nCache-Control: max-age=0\r\nX-Turn: 1\r\n", body: "kept")
        }
        #expect(try stage.fetch("/v")["X-Turn"] == "1")
        let validated = try stage.fetch("/v")
        #expect(validated.status == 200 && validated.text == "kept" && validated["X-Turn"] == "2")
        #expect(validated.cacheStatus.contains("fwd=stale") && validated.cacheStatus.contains("fwd-status=304"))
        let hit = try stage.fetch("/v")
        #expect(hit.text == "kept" && hit.cacheStatus.hasPrefix("Larder; hit"))
        #expect(stage.requestCount() == 2)
    }

    @Test("A stale response is replaced if the origin has a new one")
    func replaces() throws {
        let stage = try Stage { request, connection in
            request["If-None-Match"] == nil
                ? connection.respond(fields: "ETag: \"v1\"\r\nCache-Control: max-age=0\r\n", body: "old")
                : connection.respond(fields: "ETag: \"v2\"\r\nCache-Control: max-age=60\r\n", body: "new")
        }
        #expect(try stage.fetch("/v").text == "old")
        #expect(try stage.fetch("/v").text == "new")
        #expect(try stage.fetch("/v").text == "new")
        #expect(stage.requestCount() == 2)
    }

    @Test(
        "A successful unsafe method invalidates the stored response of its URI (RFC 9111 §4.4)",
        arguments: ["POST", "PUT", "DELETE"])
    func invalidates(method: String) throws {
        let stage = try Stage { request, connection in
            if request.method == "GET" { return connection.respond(fields: Self.fresh, body: "x") }
            _ = connection.readBody(of: request)
            return connection.respond("204 No Content")
        }
        _ = try stage.fetch("/i")
        #expect(try stage.fetch("/i").cacheStatus.hasPrefix("Larder; hit"))
        _ = try stage.fetch("/i", method: method, body: "change")
        #expect(try stage.fetch("/i").cacheStatus.contains("fwd="))
        #expect(stage.requestCount("/i") == 3)
    }

    @Test("A failed unsafe method invalidates nothing")
    func keepsAfterFailure() throws {
        let stage = try Stage { request, connection in
            request.method == "GET"
                ? connection.respond(fields: Self.fresh, body: "x") : connection.respond("500 Internal Server Error")
        }
        _ = try stage.fetch("/i")
        _ = try stage.fetch("/i", method: "DELETE")
        #expect(try stage.fetch("/i").cacheStatus.hasPrefix("Larder; hit"))
    }

    @Test("Vary: each value of the nominated field has its own response")
    func selectsByVary() throws {
        let stage = try Stage { request, connection in
            connection.respond(fields: Self.fresh + "Vary: Accept-Language\r\n", body: request["Accept-Language"] ?? "none")
        }
        for _ in 0..<2 {
            for language in ["de", "en"] {
                #expect(try stage.fetch("/l", fields: "Accept-Language: \(language)\r\n").text == language)
            }
        }
        #expect(try stage.fetch("/l").text == "none")
        #expect(stage.requestCount() == 3)
    }

    @Test("no-store and private responses are not stored", arguments: ["no-store", "private", "max-age=60, private"])
    func doesNotKeep(directive: String) throws {
        let stage = try Stage { _, connection in connection.respond(fields: "Cache-Control: \(directive)\r\n", body: "x") }
        for _ in 0..<2 { #expect(try stage.fetch("/p").cacheStatus.contains("fwd=uri-miss")) }
        #expect(stage.requestCount() == 2)
    }

    @Test("only-if-cached on a miss is a 504, and the origin receives nothing")
    func onlyIfCached() throws {
        let stage = try Stage { _, connection in connection.respond(fields: Self.fresh, body: "x") }
        let response = try stage.fetch("/o", fields: "Cache-Control: only-if-cached\r\n")
        #expect(response.status == 504 && response.code == "cache_miss_only_if_cached")
        #expect(stage.requestCount() == 0)
    }

    @Test("Content of every kind is the same from the store", arguments: [0, 1, 16_384, 16_385, 300_000, 5_000_000])
    func keepsEveryLength(length: Int) throws {
        let body = PatternedBody(length: length)
        let stage = try Stage(storePath: nil) { request, connection in
            if request.target == "/chunked" {
                connection.send("HTTP/1.1 200 OK\r\n\(Self.fresh)Transfer-Encoding: chunked\r\n\r\n")
                let half = length / 2
                for piece in [0..<half, half..<length] where !piece.isEmpty {
                    connection.send(String(piece.count, radix: 16) + "\r\n")
                    connection.send(bytes: body.bytes(piece))
                    connection.send("\r\n")
                }
                return connection.send("0\r\n\r\n")
            }
            connection.send("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: \(length)\r\n\r\n")
            return connection.send(body) == length
        }
        for path in ["/length", "/chunked"] {
            for turn in 0..<3 {
                let response = try stage.fetch(path)
                #expect(response.body.count == length)
                #expect(response.body.withUnsafeBytes { body.matches($0, at: 0) })
                // Until a large body is on the disk, later requests share it with the fetch.
                let isFirst = turn == 0
                #expect(response.cacheStatus.contains("stored") == isFirst)
            }
        }
        #expect(stage.requestCount() == 2)
    }

    @Test(
        "A head is stored up to the limits within which the store can read it again, and a restart finds no damage",
        arguments: [
            (String(repeating: "X: y\r\n", count: 1021), true), (String(repeating: "X: y\r\n", count: 1022), false),
            (String(repeating: "X", count: 65_535) + ": y\r\n", true), (String(repeating: "X", count: 65_536) + ": y\r\n", false),
            ("X: " + String(repeating: "y", count: 1_000_000) + "\r\n", true),
            ("X: " + String(repeating: "y", count: 1_500_000) + "\r\n", false),
        ])
    func storesReadableHeads(fields: String, isStored: Bool) throws {
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n" + fields, body: "kept")
        }
        defer { origin.stop() }
        let folder = try TestFolder()
        for turn in 0..<2 {
            let proxy = try TestProxy("limits: {fields: 5000, head: 8MiB}", storePath: nil, folder: folder)
            let client = try RawClient(port: proxy.port)
            client.send("GET http://127.0.0.1:\(origin.port)/k HTTP/1.1\r\nHost: x\r\n\r\n")
            let response = try client.readResponse()
            #expect(response.text == "kept")
            #expect(response.cacheStatus.hasPrefix("Larder; hit") == (isStored && turn == 1))
            if !isStored { #expect(try proxy.logLines().last?.contains("\"storage\":\"head_too_large\"") == true) }
            #expect(proxy.store.statistics.damagedEntries == 0)
            proxy.stop()
        }
        #expect(origin.requestHeads.count == (isStored ? 1 : 2))
    }

    @Test("A stored response is a hit after a restart of the proxy")
    func survivesRestart() throws {
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: Self.fresh, body: String(repeating: "kept", count: 10_000))
        }
        defer { origin.stop() }
        let folder = try TestFolder()
        for turn in 0..<2 {
            let proxy = try TestProxy(storePath: nil, folder: folder)
            let client = try RawClient(port: proxy.port)
            client.send("GET http://127.0.0.1:\(origin.port)/k HTTP/1.1\r\nHost: x\r\n\r\n")
            let response = try client.readResponse()
            #expect(response.body.count == 40_000)
            #expect(response.cacheStatus.hasPrefix("Larder; hit") == (turn == 1))
            proxy.stop()
        }
        #expect(origin.requestHeads.count == 1)
    }

    @Test("Cache-Status has the cache key if the settings say so (RFC 9211 §2.7)")
    func tellsKey() throws {
        let stage = try Stage("cache: {status_key: true}") { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "x")
        }
        for _ in 0..<2 {
            let status = try stage.fetch("/k?a=b").cacheStatus
            #expect(status.contains("; key=\"http://127.0.0.1:") && status.hasSuffix("/k?a=b\""))
        }
    }
}
