import TestSupport
import Testing

@Suite("T20: a stored response is not reused where the request would take another route")
struct CacheContextTests {
    @Test("T19, T20: plain HTTP in a tunnel is a different resource than https at the same host and port")
    func keepsSchemesApart() throws {
        let stage = try InterceptingStage()
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        let plain = try stage.connect()
        plain.send(stage.head("/a", fields: "Cache-Control: only-if-cached\r\n"))
        #expect(try plain.readResponse().code == "cache_miss_only_if_cached")
        // A failure in plain text does not affect the https response either.
        plain.send(stage.head("/a"))
        #expect(try plain.readResponse().status >= 500)
        #expect(try stage.fetch("/a").cacheStatus.hasPrefix("Larder; hit"))
    }

    @Test("T20: a tunnel to one host stores nothing for another host that its request names")
    func keepsHostsApart() throws {
        let stage = try InterceptingStage()
        let client = try stage.secure("one.test")
        client.send(stage.head("/a", host: "two.test"))
        #expect(try client.readResponse().status == 421)
        #expect(stage.origin.requestHeads.isEmpty)
        for host in ["one.test", "two.test"] {
            #expect(try stage.fetch("/a", host: host).cacheStatus == "Larder; fwd=uri-miss; stored")
        }
    }

    @Test(
        "T20: in a tunnel to an address, the response comes from the host in the ClientHello, and Larder does not connect to the address"
    )
    func asksTheNamedHost() throws {
        let stage = try InterceptingStage()
        // At the same port, with a certificate that would be trusted.
        let elsewhere = ScriptedOrigin(
            ipv6: true, port: stage.origin.port, identity: stage.authority.identity(names: "DNS:one.test")
        ) { connection in
            while connection.readHead() != nil { connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "elsewhere") }
        }
        defer { elsewhere.stop() }
        let client = try stage.connect("[::1]")
        #expect(client.startTLS(stage.terms("one.test")) == .done)
        client.send(stage.head("/a"))
        #expect(try client.readResponse().text == "answer to GET /a")
        #expect(elsewhere.connectionCount == 0)
        #expect(try stage.fetch("/a").text == "answer to GET /a")
    }

    @Test("T20: PURGE in a tunnel removes the https URL, and not the http URL")
    func purgesOneScheme() throws {
        let plainOrigin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "plain")
        }
        defer { plainOrigin.stop() }
        let stage = try InterceptingStage("clients: {purge: [127.0.0.0/8]}")
        func fetchPlain() throws -> ReceivedResponse {
            let client = try RawClient(port: stage.proxy.port, owner: stage)
            client.send("GET http://one.test:\(plainOrigin.port)/a HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.readResponse()
        }
        _ = try fetchPlain()
        _ = try stage.fetch("/a")
        let client = try stage.secure()
        client.send(stage.head("/a", method: "PURGE"))
        #expect(try client.readResponse(to: "PURGE").text == "purged 1\n")
        #expect(try stage.fetch("/a").cacheStatus == "Larder; fwd=uri-miss; stored")
        #expect(try fetchPlain().cacheStatus.hasPrefix("Larder; hit"))
    }

    @Test("T20: a response served or missed offline changes nothing for live responses")
    func keepsModesApart() throws {
        let stage = try Stage { request, connection in
            if request["If-None-Match"] != nil { return connection.respond("304 Not Modified", fields: "ETag: \"a\"\r\n") }
            return connection.respond(fields: "Cache-Control: max-age=60\r\nETag: \"a\"\r\n", body: request.target)
        }
        _ = try stage.fetch("/kept")
        stage.proxy.pass(seconds: 3600)
        try stage.proxy.reload("mode: offline")
        for _ in 0..<2 {
            #expect(try stage.fetch("/kept").cacheStatus.hasSuffix("detail=offline"))
            #expect(try stage.fetch("/missed").code == "offline_miss")
        }
        try stage.proxy.reload("")
        #expect(try stage.fetch("/missed").cacheStatus == "Larder; fwd=uri-miss; stored")
        #expect(try stage.fetch("/kept").cacheStatus.hasPrefix("Larder; fwd=stale"))
    }

    @Test(
        "T20: a response stored under the key of another URI is reused only under the same rules",
        arguments: [
            ("{canonical_host: a.test}", "b.test", "/x", "a.test", "/x"),
            ("{drop_query: [u]}", "a.test", "/x?u=1", "a.test", "/x"),
            ("{keep_query: [id]}", "a.test", "/x?id=1&u=1", "a.test", "/x?id=1"),
            ("{sort_query: true}", "a.test", "/x?b=1&a=2", "a.test", "/x?a=2&b=1"),
        ])
    func keepsRulesApart(key: String, host: String, path: String, other: String, otherPath: String) throws {
        let hosts = "resolve: {a.test: 127.0.0.1, b.test: 127.0.0.1, c.test: 127.0.0.1}\n"
        func rules(_ host: String, ttl: String = "") -> String {
            hosts + "rules: [{name: key, match: {host: \(host)}, cache: {key: \(key)\(ttl)}}]"
        }
        let stage = try Stage(rules(host)) { request, connection in
            connection.respond(
                fields: "Cache-Control: max-age=600\r\n", body: "\(request["Host"]?.prefix(6) ?? "") \(request.target)")
        }
        let stored = try stage.fetch(path, host: host).text
        #expect(try stage.fetch(path, host: host).cacheStatus.contains("; hit"))
        // Other rules give the same key, but the response is not reused.
        try stage.proxy.reload(rules("[\(host), c.test]"))
        #expect(try stage.fetch(path, host: host).cacheStatus.contains("; fwd="))
        // The same rules find it again, even if other settings changed.
        try stage.proxy.reload(rules(host, ttl: ", ttl: 1h"))
        let again = try stage.fetch(path, host: host)
        #expect(again.text == stored && again.cacheStatus.contains("; hit"))
        // Without a rule that maps one URI to the other, nothing is shared.
        try stage.proxy.reload(hosts)
        let plain = try stage.fetch(otherPath, host: other)
        #expect(plain.text == "\(other) \(otherPath)" && plain.cacheStatus.contains("; fwd="))
    }
}
