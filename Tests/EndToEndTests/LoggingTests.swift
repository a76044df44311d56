import Foundation
import Testing
import TestSupport

@Suite("The access log of real requests")
struct LoggingTests {
    @Test("Each request has a line with its decision")
    func tellsDecisions() throws {
        let stage = try Stage("rules: [{name: no, match: {path: /no}, deny: {reason: no}}]") { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "x")
        }
        for path in ["/a", "/a", "/no"] { _ = try stage.fetch(path) }
        let lines = try stage.proxy.logLines().map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        }
        #expect(lines.map { $0["cache"] as? String } == ["miss", "hit", "denied"])
        #expect(lines.map { $0["status"] as? Int } == [200, 200, 403])
        #expect(lines[0]["storage"] as? String == "stored")
        #expect(lines[2]["rule"] as? String == "no")
    }

    @Test("Through an upstream proxy a line has the proxy's address and port")
    func tellsUpstreamProxy() throws {
        let upstream = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.respond()
        }
        defer { upstream.stop() }
        let proxy = try TestProxy("upstream: {proxy: 'http://127.0.0.1:\(upstream.port)'}")
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("GET http://one.test:81/ HTTP/1.1\r\nHost: one.test:81\r\n\r\n")
        #expect(try client.readResponse().status == 200)
        #expect(try proxy.logLines()[0].contains("\"upstream\":\"127.0.0.1:\(upstream.port)\""))
    }

    @Test("The bytes of a line are those of head and content, however the response was made")
    func countsBytes() throws {
        let stage = try Stage("rules: [{name: no, match: {path: /no}, deny: {reason: no}}]") { request, connection in
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: String(repeating: "x", count: 30_000))
        }
        var counts: [Int] = []
        for (method, path) in [("GET", "/a"), ("GET", "/a"), ("HEAD", "/a"), ("GET", "/no"), ("POST", "/b"), ("TRACE", "/c")] {
            let client = try stage.client()
            client.send(stage.head(method, path, fields: "Max-Forwards: 0\r\nConnection: close\r\n"))
            counts.append(try client.readToEnd().count)
        }
        let logged = try stage.proxy.logLines().compactMap {
            try (JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["bytes"] as? Int
        }
        #expect(logged == counts)
    }

    @Test("T43 combined has referrer and user agent, escaped, shortened, without a query, and no referrer with a password")
    func tellsReferrer() throws {
        let stage = try Stage("log: {access: {format: combined}}") { _, connection in connection.respond(body: "x") }
        for referrer in [
            "http://a.example/page?secret=1", "http://user:secret@a.example/", "http://a.example/\"\\",
            "http://a.example/" + String(repeating: "x", count: 10_000),
        ] {
            _ = try stage.fetch("/", fields: "Referer: \(referrer)\r\nUser-Agent: a\"b\r\nCookie: secret\r\n")
        }
        let lines = try stage.proxy.logLines()
        #expect(lines.count == 4)
        for line in lines {
            #expect(!line.contains("secret") && line.utf8.count < 3000 && line.hasSuffix(#" "a\"b""#))
            #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        }
        #expect(lines[0].contains("\"http://a.example/page\""))
        #expect(lines[1].contains(" \"-\" "))
    }

    @Test("T43 bytes from a peer never break a line or reach a terminal")
    func escapes() throws {
        let stage = try Stage { _, connection in
            connection.respond(fields: "Content-Type: text/\u{9b}31m\"x\r\n", body: "x")
        }
        _ = try stage.fetch("/%0d%0a%1b[31m\"quoted\"?q=secret", fields: "User-Agent: a\"b\\\u{c2}\u{9b}31m\u{2028}\u{202e}c\r\n")
        let client = try stage.client()
        client.send("GET http://127.0.0.1/\u{1b}[31m HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.readResponse()
        let lines = try stage.proxy.logLines()
        #expect(lines.count == 2)
        for line in lines {
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
            for scalar in line.unicodeScalars { #expect(scalar.value >= 0x20 && scalar.value < 0x7F) }
            #expect(!line.contains("secret"))
        }
    }
}
