import Testing
import TestSupport

@Suite("Isolation of clients that share the cache (RFC 9111 §2, §3.5, §7.3; RFC 9110 §7.6.1)")
struct SharingTests {
    private static let fresh = "Cache-Control: max-age=60\r\n"

    @Test(
        "T18 a field outside the cache key never changes a shared response",
        arguments: [
            "X-Forwarded-Host: evil.test\r\n", "X-Original-URL: /evil\r\n", "X-HTTP-Method-Override: POST\r\n",
            "X-Forwarded-Proto: https\r\n",
            "X-Rewrite-URL: /evil\r\n", "X-Forwarded-Prefix: /evil\r\n",
        ])
    func ignoresUnkeyed(field: String) throws {
        let stage = try Stage { request, connection in
            let isEvil =
                request.head.lowercased().contains("evil") || request.head.contains("Override") || request.head.contains("Proto")
            return connection.respond(fields: Self.fresh, body: isEvil ? "evil" : "good")
        }
        _ = try stage.fetch("/k", fields: field)
        #expect(try stage.fetch("/k").text == "good")
    }

    @Test("T18 host, port, path and query are the cache key; content of a GET never changes the stored response")
    func keysEverything() throws {
        let stage = try Stage("resolve: {a.test: 127.0.0.1, b.test: 127.0.0.1}") { request, connection in
            let body = connection.readBody(of: request) ?? []
            return connection.respond(
                fields: Self.fresh, body: "\(request["Host"] ?? "")\(request.target)\(String(decoding: body, as: UTF8.self))")
        }
        let port = stage.origin.port
        for _ in 0..<2 {
            #expect(try stage.fetch("/x", host: "a.test", body: "fat").text == "a.test:\(port)/xfat")
            #expect(try stage.fetch("/x", host: "a.test").text == "a.test:\(port)/x")
            #expect(try stage.fetch("/x", host: "b.test").text == "b.test:\(port)/x")
            #expect(try stage.fetch("/x?a=1&a=2", host: "a.test").text == "a.test:\(port)/x?a=1&a=2")
            #expect(try stage.fetch("/x?a=2&a=1", host: "a.test").text == "a.test:\(port)/x?a=2&a=1")
            #expect(try stage.fetch("/X", host: "a.test").text == "a.test:\(port)/X")
        }
        #expect(try stage.fetch("/x", host: "A.TEST").cacheStatus.hasPrefix("Larder; hit"))
    }

    @Test("T17 the target decides, whatever Host says; host_mismatch: deny refuses a different Host")
    func targetDecides() throws {
        let stage = try Stage { request, connection in connection.respond(fields: Self.fresh, body: request["Host"] ?? "") }
        let own = "127.0.0.1:\(stage.origin.port)"
        for host in ["evil.test", own] {
            let client = try stage.client()
            client.send("GET \(stage.url("/h")) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            #expect(try client.readResponse().text == own)
        }
        #expect(stage.requestCount() == 1)

        let strict = try Stage("host_mismatch: deny") { _, connection in connection.respond() }
        let client = try strict.client()
        client.send("GET \(strict.url("/h")) HTTP/1.1\r\nHost: evil.test\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 403 && response.code == "host_mismatch")
        #expect(try strict.fetch("/h").status == 200)
    }

    @Test(
        "T22 a response to a request with Authorization is stored only if the origin allows it",
        arguments: [
            ("max-age=60", false), ("max-age=60, public", true), ("s-maxage=60", true), ("max-age=60, must-revalidate", true),
            ("private, max-age=60", false),
        ])
    func keepsAuthorized(directive: String, isKept: Bool) throws {
        let stage = try Stage { request, connection in
            connection.respond(fields: "Cache-Control: \(directive)\r\n", body: request["Authorization"] ?? "none")
        }
        #expect(try stage.fetch("/a", fields: "Authorization: Basic one\r\n").text == "Basic one")
        #expect(try stage.fetch("/a").text == (isKept ? "Basic one" : "none"))
    }

    @Test("T23 a response with Set-Cookie is stored only with an explicit lifetime, and never with set_cookie: never")
    func keepsCookies() throws {
        let answer: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
            let lifetime = request.target == "/explicit" ? Self.fresh : "Last-Modified: Mon, 06 Jul 2020 10:00:00 GMT\r\n"
            return connection.respond(fields: "Set-Cookie: a=b; Path=/\r\n\(lifetime)", body: "x")
        }
        let stage = try Stage(answer: answer)
        for path in ["/explicit", "/heuristic"] { _ = try stage.fetch(path) }
        let kept = try stage.fetch("/explicit")
        #expect(kept.cacheStatus.hasPrefix("Larder; hit") && kept["Set-Cookie"] == "a=b; Path=/")
        #expect(try !stage.fetch("/heuristic").cacheStatus.hasPrefix("Larder; hit"))

        let strict = try Stage("cache: {set_cookie: never}", answer: answer)
        for _ in 0..<2 { #expect(try !strict.fetch("/explicit").cacheStatus.hasPrefix("Larder; hit")) }
    }

    @Test("T25 a 304 does not bring a client the fields of another client's 304")
    func validatesForEachAlone() throws {
        let stage = try Stage { request, connection in
            guard request["If-None-Match"] != nil else {
                return connection.respond(fields: "ETag: \"v\"\r\nCache-Control: no-cache, public\r\n", body: "shared")
            }
            let who = request["X-Who"] ?? "nobody"
            return connection.send(
                "HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\nCache-Control: no-cache, public\r\nX-For: \(who)\r\n\r\n")
        }
        _ = try stage.fetch("/v")
        #expect(try stage.fetch("/v", fields: "X-Who: ann\r\n")["X-For"] == "ann")
        #expect(try stage.fetch("/v", fields: "X-Who: bob\r\n")["X-For"] == "bob")
    }

    @Test(
        "T26 a malformed request field does not make the request bypass the store",
        arguments: [
            "Accept-Encoding: ,;q=\"\u{7f}nonsense\r\n".replacing("\u{7f}", with: ""), "Range: bytes=abc\r\n",
            "Range: bytes=5-1\r\n",
            "Range: lines=1-2\r\n", "Cache-Control: max-age=abc\r\n", "Cache-Control: ,,=,\r\n", "Cache-Control: max-age=\r\n",
            "If-None-Match: nonsense\r\n", "If-Modified-Since: yesterday\r\n", "Range: bytes=0-0,1-1,2-2,3-3,4-4,5-5\r\n",
        ])
    func servesMalformed(field: String) throws {
        let stage = try Stage { _, connection in
            connection.respond(fields: Self.fresh + "ETag: \"v\"\r\n", body: "stored")
        }
        _ = try stage.fetch("/m")
        let response = try stage.fetch("/m", fields: field)
        #expect(response.status == 200 && response.text == "stored")
        #expect(stage.requestCount() == 1)
    }

    @Test(
        "T16 T42 an edit that rules may not make is refused when the settings are read",
        arguments: [
            "set: {X-A: \"a\\r\\nX-B: b\"}", "set: {X-A: \"a\\u0000\"}", "set: {\"X\\r\\nA\": b}", "set: {Content-Length: 5}",
            "set: {Transfer-Encoding: chunked}", "set: {Connection: close}", "set: {Host: evil.test}", "remove: Via",
            "append: {Trailer: X}", "remove: Content-Length",
        ])
    func refusesEdits(edit: String) {
        for message in ["request", "response"] {
            #expect(throws: SettingsRefused.self) {
                try TestProxy.settings("rules: [{name: edit, \(message): {\(edit)}}]")
            }
        }
    }

    @Test("T42 a Connection field cannot remove fields that others rely on")
    func protectsFields() throws {
        let stage = try Stage { request, connection in
            let body = connection.readBody(of: request) ?? []
            return connection.respond(body: String(decoding: body, as: UTF8.self))
        }
        let response = try stage.fetch(
            "/c", method: "POST",
            fields: "Connection: Host, Content-Length, Cookie, Via, Authorization, Cache-Control, X-Mine\r\n"
                + "Cookie: a=b\r\nVia: 1.0 first\r\nX-Mine: hop\r\nAuthorization: Basic x\r\nCache-Control: no-cache\r\n",
            body: "whole")
        #expect(response.text == "whole")
        let request = try #require(stage.origin.requestHeads.first.map { OriginRequest(head: $0) })
        #expect(request["Host"] == "127.0.0.1:\(stage.origin.port)")
        #expect(request["Content-Length"] == "5")
        #expect(request["Via"] == "1.0 first, 1.1 larder")
        #expect(request["Cookie"] == "a=b")
        #expect(request["X-Mine"] == nil)
        #expect(request["Connection"] == nil)
    }

    @Test("T42 fields of one connection stop at the proxy, both ways; Proxy-Authorization is never forwarded")
    func dropsHopByHop() throws {
        let stage = try Stage { _, connection in
            connection.respond(
                fields: "Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nX-End: 2\r\n",
                body: "x")
        }
        let response = try stage.fetch(
            "/h",
            fields: "Proxy-Authorization: Basic secret\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nKeep-Alive: 3\r\n"
                + "Upgrade: h2c\r\nConnection: upgrade, te\r\n")
        let request = try #require(stage.origin.requestHeads.first.map { OriginRequest(head: $0) })
        for name in ["Proxy-Authorization", "Proxy-Connection", "Keep-Alive", "Upgrade", "Connection"] {
            #expect(request[name] == nil, "\(name)")
        }
        #expect(response["X-Hop"] == nil && response["Keep-Alive"] == nil && response["X-End"] == "2")
    }

    @Test(
        "T18 T42 a field that Connection removes selects no stored response; a rule's field is forwarded even if Connection lists it"
    )
    func nominatedFieldsSelectNothing() throws {
        let rules = "rules: [{name: r, request: {set: {X-Rule: here}}, cache: {key: {fields: [X-Tenant]}}}]"
        let stage = try Stage(rules) { request, connection in
            connection.respond(
                fields: "Cache-Control: max-age=600\r\nVary: X-Device\r\n",
                body: [request["X-Tenant"], request["X-Device"], request["X-Rule"]].map { $0 ?? "none" }.joined(separator: " "))
        }
        func fetch(_ fields: String) throws -> String {
            try stage.fetch("/", fields: "X-Tenant: a\r\nX-Device: b\r\n" + fields).text
        }
        #expect(try fetch("Connection: X-Tenant, X-Rule\r\n") == "none b here")
        #expect(try fetch("Connection: x-device\r\n") == "a none here")
        #expect(try fetch("") == "a b here")
        #expect(try stage.fetch("/", fields: "X-Device: b\r\n").text == "none b here")
        #expect(stage.requestCount() == 3)
    }

    @Test("T47 Proxy is removed from a request (httpoxy)")
    func dropsProxyField() throws {
        let stage = try Stage { _, connection in connection.respond() }
        _ = try stage.fetch("/", fields: "Proxy: http://evil.test:1\r\n")
        #expect(stage.origin.requestHeads.first?.lowercased().contains("\r\nproxy:") == false)
    }
}
