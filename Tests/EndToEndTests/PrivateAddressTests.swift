import TestSupport
import Testing

@Suite("egress.addresses: private, and allowed addresses (T03)")
struct PrivateAddressTests {
    private static let yaml = """
        egress: {default: deny, addresses: {private: deny}}
        tunnel: {ports: any}
        resolve: {own.test: 127.0.0.1}
        rules: [{name: all, allow: {}, tunnel: any}]
        """

    @Test(
        "If requests that no rule allows are denied, private addresses are denied too, for every method, name and spelling",
        arguments: ["127.0.0.1", "own.test", "localhost", "0", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
    func refuses(host: String) throws {
        let stage = try Stage(Self.yaml) { _, connection in connection.respond() }
        func expectRefusal(_ request: String) throws {
            let client = try stage.client()
            client.send(request)
            let response = try client.readResponse()
            #expect(response.status == 403 && response.code == "destination_private", "\(response.text)")
            #expect(response["Proxy-Status"]?.contains("error=destination_ip_prohibited") == true)
        }
        let authority = "\(host):\(stage.origin.port)"
        try expectRefusal("GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        try expectRefusal("POST http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\nContent-Length: 1\r\n\r\nx")
        try expectRefusal("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        try expectRefusal(
            "GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("An allowed address can be reached at its port, also by its name; other ports cannot")
    func allows() throws {
        let other = ScriptedOrigin { _ in }
        defer { other.stop() }
        let stage = try Stage(Self.yaml) { _, connection in connection.respond(body: "reached") }
        try stage.proxy.reload(
            Self.yaml.replacing("private: deny", with: "private: deny, allow: ['127.0.0.1:\(stage.origin.port)']"))
        for host in ["127.0.0.1", "own.test", "[::ffff:127.0.0.1]"] {
            #expect(try stage.fetch("/", host: host).text == "reached")
        }
        let client = try stage.client()
        client.send("GET http://127.0.0.1:\(other.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().code == "destination_private")
        #expect(other.connectionCount == 0)
    }

    @Test("A redirect to a denied address is passed to the client, whose next request is refused")
    func refusesRedirects() throws {
        let stage = try Stage("egress: {addresses: {private: deny, allow: [127.0.0.1]}}") { request, connection in
            connection.respond("302 Found", fields: "Location: http://127.0.0.2:1/x\r\n")
        }
        let redirect = try stage.fetch("/a")
        #expect(redirect.status == 302)
        let client = try stage.client()
        client.send("GET \(try #require(redirect["Location"])) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().code == "destination_private")
    }

    @Test(
        "A background validation does not connect to an address that is denied by then, nor does it use an idle connection to it")
    func refusesValidation() throws {
        let stage = try Stage { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60, stale-while-revalidate=600\r\n", body: "old")
        }
        #expect(try stage.fetch("/x").status == 200)
        try stage.proxy.reload("egress: {addresses: {private: deny}}")
        stage.proxy.pass(seconds: 100)
        let stale = try stage.fetch("/x")
        #expect(stale.text == "old" && stale.cacheStatus.contains("stale_while_revalidate"))
        let lines = try stage.proxy.loggedLines(3)
        #expect(lines.contains { $0["error"] as? String == "destination_private" }, "\(lines)")
        #expect(stage.requestCount() == 1)
    }

    @Test("private: allow lets loopback and private addresses be reached, and metadata addresses are still denied")
    func allowsAll() throws {
        let stage = try Stage(Self.yaml.replacing("private: deny", with: "private: allow")) { _, connection in
            connection.respond(body: "reached")
        }
        #expect(try stage.fetch("/").text == "reached")
        #expect(try stage.fetch("/", host: "169.254.169.254").code == "destination_prohibited")
    }
}
