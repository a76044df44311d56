import TestSupport
import Testing

@Suite("Tunnels and requests in flight when the settings change")
struct TunnelReloadTests {
    private static let yaml = "tunnel: {ports: any}\nresolve: {a.test: 127.0.0.1, b.test: 127.0.0.1}\n"
    private static let echo: ScriptedOrigin.Script = { connection in
        while let bytes = connection.readSome() { if !connection.send(bytes: bytes) { return } }
    }

    private func tunnel(_ stage: Stage, to host: String) throws -> RawClient {
        let client = try stage.client(seconds: 60)
        client.send("CONNECT \(host):\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        client.send("x")
        #expect(try client.read(count: 1) == Array("x".utf8))
        return client
    }

    @Test(
        "A reload closes the tunnels that the new settings deny, and leaves the others",
        arguments: [
            ("rules: [{name: no, match: {host: a.test}, deny: {}}]", "denied_by_rule"),
            ("egress: {default: deny}\nrules: [{name: b, match: {host: b.test}, allow: {}, tunnel: any}]", "egress_denied"),
            // The client's first bytes were not checked.
            (
                "egress: {default: deny}\nrules: [{name: a, match: {host: a.test}, allow: {}}, {name: b, match: {host: b.test}, allow: {}, tunnel: any}]",
                "tunnel_refused"
            ),
            (
                "egress: {default: deny}\nrules: [{name: a, match: {host: a.test, path: /x}, allow: {}}, {name: b, match: {host: b.test}, allow: {}, tunnel: any}]",
                "egress_denied"
            ),
        ])
    func closesDenied(rules: String, code: String) throws {
        let stage = try Stage(Self.yaml, script: Self.echo)
        let (denied, allowed) = (try tunnel(stage, to: "a.test"), try tunnel(stage, to: "b.test"))
        try stage.proxy.reload(Self.yaml + rules)
        #expect(denied.isClosedByPeer())
        allowed.send("y")
        #expect(try allowed.read(count: 1) == Array("y".utf8))
        allowed.close()
        #expect(try stage.proxy.logLines().contains { $0.contains("a.test") && $0.contains("\"error\":\"\(code)\"") })
    }

    @Test(
        "A reload closes the tunnels to an address that is now denied",
        arguments: [
            ("egress: {addresses: {deny: [127.0.0.0/8]}}", "destination_prohibited"),
            ("egress: {addresses: {private: deny}}", "destination_private"),
        ])
    func closesAddresses(egress: String, code: String) throws {
        let stage = try Stage(Self.yaml, script: Self.echo)
        let client = try tunnel(stage, to: "a.test")
        try stage.proxy.reload(Self.yaml + egress)
        #expect(client.isClosedByPeer())
        #expect(try stage.proxy.logLines().contains { $0.contains("\"error\":\"\(code)\"") })
    }

    @Test("A request in flight keeps the rules with which it began")
    func keepsRequests() throws {
        let (asked, release) = (Gate(), Gate())
        let stage = try Stage { _, connection in
            asked.open()
            release.wait()
            return connection.respond(body: "late")
        }
        let client = try stage.client(seconds: 60)
        client.send(stage.head("GET", "/"))
        asked.wait()
        try stage.proxy.reload("rules: [{name: no, deny: {}}]")
        #expect(try stage.fetch("/other").code == "denied_by_rule")
        release.open()
        #expect(try client.readResponse().text == "late")
    }

    @Test("A CONNECT that waits for the client's first bytes is evaluated by the rules that are active when they arrive")
    func judgesByNewRules() throws {
        let stage = try InterceptingStage("rules: []")
        let client = try stage.connect("one.test")
        let (ours, trust) = (stage.ours, try SecureStage.trust(stage.authority))
        try stage.proxy.reload(InterceptingStage.yaml + "\nrules: [{name: no, match: {host: one.test}, deny: {}}]") {
            $0.transport.trust = trust
            $0.transport.connect = InterceptingStage.policy { _ in }
            $0.authority = ours
        }
        // access_denied (RFC 8446 §6)
        #expect(client.startTLS(stage.terms()) == .alert(49))
        #expect(stage.origin.connectionCount == 0)
        #expect(try stage.logged("error") == ["denied_by_rule"])
    }

    @Test("In a tunnel that requires a ClientHello, the client gets no byte of the server before Larder has checked it")
    func holdsServer() throws {
        let sent = Gate()
        let stage = try Stage(
            "egress: {default: deny}\nrules: [{name: a, match: {host: a.test}, allow: {}}]\n" + Self.yaml,
            script: { connection in
                _ = connection.send("220 server first\r\n")
                sent.open()
                _ = connection.readToEnd()
            })
        let client = try stage.client(seconds: 60)
        client.send("CONNECT a.test:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        #expect(sent.wait())
        client.send("EHLO client\r\n")
        #expect(try client.readToEnd().isEmpty)
    }
}
