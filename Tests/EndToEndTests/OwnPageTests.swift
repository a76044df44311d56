import TestSupport
import Testing

@Suite("Requests sent directly to a listener, over a socket")
struct OwnPageTests {
    private static func ask(_ stage: Stage, _ line: String, _ fields: String...) throws -> ReceivedResponse {
        let client = try stage.client()
        client.send("\(line) HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        return try client.readResponse(to: String(line.prefix { $0 != " " }))
    }

    private static func stage() throws -> Stage {
        try Stage("{tunnel: {ports: any}, resolve: {evil.example: 127.0.0.1}}") { _, connection in
            connection.respond(body: "origin")
        }
    }

    @Test("The script names its own listener, and the proxy that it names serves")
    func servesScript() throws {
        let stage = try Self.stage()
        let script = try Self.ask(stage, "GET /proxy.pac", "Host: localhost:\(stage.proxy.port)")
        #expect(script.status == 200 && script.text.contains("\"PROXY localhost:\(stage.proxy.port)\""))
        #expect(script["Content-Type"] == "application/x-ns-proxy-autoconfig")
        let head = try Self.ask(stage, "HEAD /proxy.pac", "Host: localhost:\(stage.proxy.port)")
        #expect(head.status == 200 && head["Content-Length"] == "\(script.body.count)")
        // The connection then works as a proxy connection.
        let client = try stage.client()
        client.send("GET /proxy.pac HTTP/1.1\r\nHost: 127.0.0.1:\(stage.proxy.port)\r\nContent-Length: 2\r\n\r\nxx")
        #expect(try client.readResponse().status == 200)
        client.send(stage.head("GET", "/x"))
        #expect(try client.readResponse().text == "origin")
    }

    @Test("Without a CA its certificate is a 404 that names the command to make one")
    func teaches() throws {
        let stage = try Self.stage()
        let response = try Self.ask(stage, "GET /ca.pem", "Host: 127.0.0.1:\(stage.proxy.port)", "Accept: text/plain")
        #expect(response.status == 404 && response.text.contains("larder ca init"))
    }

    @Test("T05: a request by a foreign name that resolves here gets nothing")
    func refusesRebinding() throws {
        let stage = try Self.stage()
        let response = try Self.ask(stage, "GET /proxy.pac", "Host: evil.example:\(stage.proxy.port)")
        #expect(response.status == 403 && response.code == "foreign_host")
    }

    @Test("T06: a page of another site gets nothing", arguments: ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"])
    func refusesPages(field: String) throws {
        let stage = try Self.stage()
        let response = try Self.ask(stage, "GET /proxy.pac", "Host: 127.0.0.1:\(stage.proxy.port)", field)
        #expect(response.status == 403 && response.code == "cross_site")
    }

    @Test("T07: the pages are unreachable through the proxy, by GET and by tunnel, under every name of this machine")
    func refusesLoops() throws {
        let stage = try Self.stage()
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "evil.example", "2130706433"] {
            let authority = "\(host):\(stage.proxy.port)"
            let got = try Self.ask(stage, "GET http://\(authority)/proxy.pac", "Host: \(authority)")
            #expect([508, 403].contains(got.status) && !got.text.contains("FindProxyForURL"), "\(host)")
            let tunnel = try Self.ask(stage, "CONNECT \(authority)", "Host: \(authority)")
            #expect([508, 403].contains(tunnel.status), "\(host)")
        }
    }

    @Test(
        "Other direct requests get the error that this is a proxy",
        arguments: ["GET /", "GET /ca.key", "POST /proxy.pac"])
    func refusesTheRest(line: String) throws {
        let stage = try Self.stage()
        let response = try Self.ask(stage, line, "Host: 127.0.0.1:\(stage.proxy.port)", "Content-Length: 0")
        #expect(response.status == 400 && response.code == "not_a_proxy_request")
    }
}
