import TestSupport
import Testing

@Suite("Stored responses of denied URLs")
struct StoredDenialTests {
    private static let answers: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "answer to \(request.target)")
    }

    @Test(
        "A stored response of a denied URL is served only where the rule or the settings say so, and nothing is sent",
        arguments: [
            ("rules: [{name: no, deny: {}}]", "denied_by_rule", false),
            ("rules: [{name: no, deny: {stored: serve}}]", "denied_by_rule", true),
            ("egress: {stored: serve}\nrules: [{name: no, deny: {}}]", "denied_by_rule", true),
            ("egress: {stored: serve}\nrules: [{name: no, deny: {stored: deny}}]", "denied_by_rule", false),
            ("egress: {default: deny}", "egress_denied", false),
            ("egress: {default: deny, stored: serve}", "egress_denied", true),
        ])
    func serves(yaml: String, code: String, isServed: Bool) throws {
        let stage = try Stage(answer: Self.answers)
        #expect(try stage.fetch("/stored").status == 200)
        try stage.proxy.reload(yaml)
        let client = try stage.client()
        for _ in 0..<2 {
            client.send(stage.head("GET", "/stored"))
            let stored = try client.readResponse()
            #expect(isServed ? stored.text == "answer to /stored" : stored.code == code, "\(stored.text)")
            for path in ["/new", "/stored?q"] {
                client.send(stage.head("GET", path))
                let response = try client.readResponse()
                #expect(response.status == 403 && response.code == code, "\(response.text)")
                #expect((code == "denied_by_rule") == response.text.contains("\"rule\":\"no\""))
            }
        }
        #expect(try stage.fetch("/stored", method: "POST", body: "x").code == code)
        let upgrade =
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n"
        #expect(try stage.fetch("/stored", fields: upgrade).code == code)
        #expect(stage.requestCount() == 1)
        // The next requests are not affected.
        try stage.proxy.reload("")
        client.send(stage.head("GET", "/new"))
        #expect(try client.readResponse().text == "answer to /new")
    }

    @Test(
        "If one of the rules that deny a request permits no stored response, none is served, in either order",
        arguments: ["{stored: deny}", "{}"])
    func strictestWins(strict: String) throws {
        let stage = try Stage(answer: Self.answers)
        #expect(try stage.fetch("/stored").status == 200)
        let (soft, hard) = ("{name: soft, deny: {stored: serve}}", "{name: hard, match: {path: /stored}, deny: \(strict)}")
        let report = "{name: report, enforce: report, deny: {stored: deny}}"
        for rules in ["\(soft), \(hard)", "\(hard), \(soft)"] {
            try stage.proxy.reload("rules: [\(rules)]")
            let denied = try stage.fetch("/stored")
            #expect(denied.code == "denied_by_rule" && denied.text.contains("\"rule\":\"hard\""), "\(denied.text)")
        }
        try stage.proxy.reload("rules: [\(soft), {name: elsewhere, match: {path: /x}, deny: {}}, \(report)]")
        #expect(try stage.fetch("/stored").text == "answer to /stored")
        #expect(stage.requestCount() == 1)
    }

    @Test("A denied http URL gets no response that is stored for https, whatever a rule upgrades; the https URL gets it")
    func keepsSchemesApart() throws {
        let stage = try SecureStage(answer: Self.answers)
        #expect(try stage.fetch("/stored").text == "answer to /stored")
        let upgrade = "{name: up, match: {scheme: http}, request: {upgrade: https}}"
        let http = "{name: no, match: {scheme: http}, deny: {stored: serve}}"
        let https = "{name: no, match: {scheme: https}, deny: {stored: serve}}"
        for rules in [http, "\(upgrade), \(http)", "\(upgrade), {name: no, deny: {stored: serve}}"] {
            try stage.reload("rules: [\(rules)]", pins: nil)
            let denied = try stage.fetch("/stored", scheme: "http")
            #expect(denied.status == 403 && denied.code == "denied_by_rule", "\(rules): \(denied.text)")
        }
        #expect(try stage.fetch("/stored").text == "answer to /stored")
        // Here only the https URL is denied, so its stored response is the one that the client may get.
        try stage.reload("rules: [\(upgrade), \(https)]", pins: nil)
        #expect(try stage.fetch("/stored", scheme: "http").text == "answer to /stored")
        #expect(try stage.fetch("/new", scheme: "http").code == "denied_by_rule")
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("A response that is stale is served too, since it is not validated")
    func servesStale() throws {
        let stage = try Stage(answer: Self.answers)
        #expect(try stage.fetch("/stored").status == 200)
        try stage.proxy.reload("egress: {default: deny, stored: serve}")
        stage.proxy.pass(seconds: 3600)
        #expect(try stage.fetch("/stored").text == "answer to /stored")
        #expect(stage.requestCount() == 1)
    }
}
