import TestSupport
import Testing

@Suite("https targets in absolute form")
struct SecureOriginTests {
    @Test(
        "T19: the response arrives over TLS, is stored under the https URL, and is not reused for the http URL",
        arguments: [1, 4])
    func forwardsAndStores(loops: Int) throws {
        let stage = try SecureStage(loops: loops) { request, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "secret of \(request.target)")
        }
        #expect(try stage.fetch("/a").text == "secret of /a")
        let second = try stage.fetch("/a")
        #expect(second.text == "secret of /a")
        #expect(second.cacheStatus.contains("; hit"))
        #expect(stage.origin.requestHeads.count == 1)
        let host = OriginRequest(head: stage.origin.requestHeads[0])["Host"]
        #expect(host == "127.0.0.1:\(stage.origin.port)")
        let plain = try stage.fetch("/a", scheme: "http")
        #expect(plain.status == 502)
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("Bodies of 10 MiB pass both ways")
    func largeBodies() throws {
        let text = String(repeating: "0123456789abcdef", count: 10 << 16)
        let stage = try SecureStage { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            return connection.respond(body: String(decoding: body, as: UTF8.self))
        }
        let isSame = try stage.fetch("/echo", method: "POST", body: text).text == text
        #expect(isSame)
    }

    @Test("T33, T48: pins that a reload adds apply at once, to pooled connections too", arguments: [1, 4])
    func reloadedPins(loops: Int) throws {
        let stage = try SecureStage(loops: loops) { _, connection in connection.respond(body: "x") }
        #expect(try stage.fetch("/").status == 200)
        try stage.reload(pins: SecureStage.pins(stage.authority.identity()))
        for _ in 0..<2 {
            let refused = try stage.fetch("/")
            #expect(refused.status == 502)
            #expect(refused.code == "certificate_not_trusted" && refused.detail == "pin_mismatch")
            #expect(refused["Proxy-Status"]?.contains("; error=tls_certificate_error; details=\"pin_mismatch\"") == true)
        }
        #expect(stage.origin.requestHeads.count == 1)
        try stage.reload(pins: SecureStage.pins(stage.identity))
        #expect(try stage.fetch("/").status == 200)
    }

    @Test("T47: Larder appends to the Via of its CONNECT to an upstream proxy")
    func tellsVia() throws {
        let authority = TestAuthority()
        let identity = authority.identity(names: "DNS:one.test")
        let upstream = ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            connection.speakTLS(as: identity) { connection in
                while connection.readHead() != nil { connection.respond(body: "x") }
            }
        }
        defer { upstream.stop() }
        let trust = try SecureStage.trust(authority)
        let proxy = try TestProxy(
            "upstream: {proxy: 'http://127.0.0.1:\(upstream.port)'}", change: { $0.transport.trust = trust })
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("GET https://one.test/ HTTP/1.1\r\nHost: one.test\r\nVia: 1.0 before\r\n\r\n")
        #expect(try client.readResponse().text == "x")
        let connect = OriginRequest(head: try #require(upstream.requestHeads.first))
        #expect(connect.method == "CONNECT" && connect["Via"]?.hasPrefix("1.0 before, 1.1 ") == true, "\(upstream.requestHeads)")
        proxy.stop()
    }

    @Test("The log has a server's certificate chain once a handshake: not for a reused connection, nor for a hit")
    func logsChains() throws {
        let stage = try SecureStage { request, connection in
            connection.respond(fields: request.target == "/a" ? "Cache-Control: max-age=600\r\n" : "", body: "x")
        }
        for path in ["/a", "/a", "/b"] { #expect(try stage.fetch(path).text == "x") }
        let lines = try stage.proxy.logLines()
        #expect(lines.map { $0.contains("\"tls\":{\"host\":\"127.0.0.1:\(stage.origin.port)\"") } == [true, false, false])
        #expect(lines[0].split(separator: "\"key\":\"sha256/").count == 3)
    }

    @Test("Larder never sends plain text to an https origin that does not speak TLS")
    func neverInPlainText() throws {
        let authority = TestAuthority()
        let origin = ScriptedOrigin { connection in
            // A TLS handshake begins with byte 22, a request with a letter.
            let first = connection.read(count: 1)
            connection.send(first == [22] ? "HTTP/1.0 400 Bad Request\r\n\r\n" : "HTTP/1.0 200 OK\r\n\r\n")
        }
        defer { origin.stop() }
        let trust = try SecureStage.trust(authority)
        let proxy = try TestProxy(change: { $0.transport.trust = trust })
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("GET https://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 502 && response.code == "tls_handshake_failed")
        #expect(response["Proxy-Status"]?.contains("; error=tls_protocol_error") == true)
    }
}
