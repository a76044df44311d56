import TestSupport
import Testing

@Suite("egress.default: deny")
struct EgressDefaultTests {
    private static let answers: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "answer to \(request.target)")
    }

    @Test(
        "A request that no rule allows gets 403 and is not forwarded; a request that a rule allows is forwarded",
        arguments: [1, 4])
    func deniesUnlisted(loops: Int) throws {
        let stage = try Stage(
            """
            egress: {default: deny}
            resolve: {a.test: 127.0.0.1, b.test: 127.0.0.1}
            rules: [{name: a, match: {host: a.test, method: [GET, HEAD], path: /pub/**}, allow: {}}]
            """, loops: loops, answer: Self.answers)
        for (method, host, path) in [
            ("GET", "b.test", "/pub/x"), ("GET", "a.test", "/x"), ("POST", "a.test", "/pub/x"), ("GET", "127.0.0.1", "/pub/x"),
            ("GET", "not.found.test", "/"), ("BREW", "a.test", "/pub/x"), ("OPTIONS", "a.test", "/pub/x"),
        ] {
            let response = try stage.fetch(path, method: method, host: host)
            #expect(response.status == 403 && response.code == "egress_denied", "\(method) \(host)\(path)")
            #expect(response["Proxy-Status"]?.contains("http_request_denied; details=\"egress_denied\"") == true)
        }
        for path in ["/pub/../x", "/pub/%2e%2e/x", "/pub/%252e%252e/x", "/pub/..;/x", "/x/../pub/y"] {
            #expect(try stage.fetch(path, host: "a.test").code == "ambiguous_path", "\(path)")
        }
        #expect(stage.origin.connectionCount == 0)
        #expect(try stage.fetch("/pub/x", host: "a.test").text == "answer to /pub/x")
        #expect(try stage.fetch("/pub/%61", host: "a.test").text == "answer to /pub/%61")
    }

    @Test("A rule for an address matches each spelling that a lookup accepts for the address")
    func matchesSpelledAddresses() throws {
        let stage = try Stage("rules: [{name: no, match: {host: 127.0.0.1, path: /no}, deny: {}}]", answer: Self.answers)
        for host in ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]"] {
            #expect(try stage.fetch("/no", host: host).code == "denied_by_rule", "\(host)")
        }
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("A rule that denies an operation below a path denies every reading of the path")
    func deniesOperations() throws {
        let stage = try Stage(
            "rules: [{name: no publish, match: {path: /@corp/**, operation: npm-publish}, deny: {}}]", answer: Self.answers)
        for path in ["/@corp/pkg", "/@corp%2fpkg", "//@corp%2fpkg", "/./@corp%2fpkg"] {
            #expect(try stage.fetch(path, method: "PUT", body: "x").code == "denied_by_rule", "\(path)")
        }
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("A stored response of a URL that is no longer allowed is not served")
    func deniesStored() throws {
        let rules = "rules: [{name: a, match: {path: /a}, allow: {}}]"
        let stage = try Stage("egress: {default: allow}\n" + rules, answer: Self.answers)
        for path in ["/a", "/b"] { #expect(try stage.fetch(path).status == 200) }
        try stage.proxy.reload("egress: {default: deny}\n" + rules)
        #expect(try stage.fetch("/a").status == 200)
        #expect(try stage.fetch("/b").code == "egress_denied")
        try stage.proxy.reload("mode: offline\negress: {default: deny}\n" + rules)
        #expect(try stage.fetch("/a").status == 200)
        #expect(try stage.fetch("/b").code == "egress_denied")
        #expect(stage.requestCount() == 2)
    }

    private static let tunnels = """
        egress: {default: deny}
        rules:
          - {name: whole host, match: {host: tunnel.test}, allow: {}}
          - {name: one path, match: {host: one.test, path: /a}, allow: {}}
        """

    @Test("A tunnel needs a rule for the whole host, and a ClientHello that names it")
    func limitsTunnels() throws {
        let stage = try InterceptingStage(Self.tunnels)
        func terms(_ name: String?) -> TLSClient.Terms { TLSClient.Terms(serverName: name, anchor: stage.authority.der) }
        #expect(try stage.connect("tunnel.test").startTLS(terms("tunnel.test")) == .done)
        #expect(try stage.connect("tunnel.test").startTLS(terms("one.test")) == .alert(112))
        #expect(try stage.connect("tunnel.test").startTLS(terms(nil)) == .alert(112))
        let client = try stage.connect("tunnel.test")
        client.send("SSH-2.0-client\r\n")
        #expect(try client.readToEnd().isEmpty)
    }

    @Test("Rules decide on each request to an intercepted host, and Larder does not connect to the host for a denied request")
    func looksInside() throws {
        let stage = try InterceptingStage(Self.tunnels)
        #expect(try stage.fetch("/b").code == "egress_denied")
        #expect(try stage.fetch("/b").code == "egress_denied")
        #expect(stage.origin.connectionCount == 0)
        #expect(try stage.fetch("/a").text == "answer to GET /a")
    }

    @Test("A tunnel to a host that is not intercepted is refused where the rules look at its requests, or do not name it")
    func refusesTunnels() throws {
        let stage = try Stage(
            """
            egress: {default: deny}
            tunnel: {ports: any}
            resolve: {a.test: 127.0.0.1, b.test: 127.0.0.1}
            rules: [{name: a, match: {host: a.test, path: /x}, allow: {}}]
            """, answer: Self.answers)
        for host in ["a.test", "b.test", "127.0.0.1"] {
            let client = try stage.client()
            client.send("CONNECT \(host):\(stage.origin.port) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            let response = try client.readResponse(to: "CONNECT")
            #expect(response.status == 403 && response.code == "egress_denied", "\(host)")
        }
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("tunnel: any allows a tunnel for any protocol")
    func allowsAnyTunnel() throws {
        let stage = try Stage(
            """
            egress: {default: deny}
            tunnel: {ports: any}
            rules: [{name: a, match: {host: 127.0.0.1}, allow: {}, tunnel: any}]
            """, script: { connection in connection.send(bytes: connection.readToEnd()) })
        let client = try stage.client()
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        client.send("SSH-2.0-client\r\n")
        client.endSending()
        #expect(String(decoding: try client.readToEnd(), as: UTF8.self) == "SSH-2.0-client\r\n")
    }
}
