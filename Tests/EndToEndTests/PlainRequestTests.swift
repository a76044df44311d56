import ServerTrust
import TestSupport
import Testing

@Suite("Plain requests to hosts that speak TLS")
struct PlainRequestTests {
    private static let upgrade = "rules: [{name: up, match: {scheme: http}, request: {upgrade: https}}]"

    @Test("T19: an upgraded request is fetched over https, and shares its response with https requests")
    func shares() throws {
        let stage = try SecureStage(Self.upgrade) { request, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "of \(request.target)")
        }
        let first = try stage.fetch("/a", scheme: "http")
        #expect(first.status == 200 && first.text == "of /a")
        for scheme in ["http", "https"] {
            #expect(try stage.fetch("/a", scheme: scheme).cacheStatus.contains("; hit"))
        }
        #expect(stage.origin.requestHeads.count == 1)
        let lines = try stage.proxy.logLines()
        #expect(lines.count { $0.contains(#""rule":"up","upgraded":true"#) } == 2)
    }

    @Test("T49: no plain-text request is sent to a pinned host, whatever is stored; an upgraded one is")
    func pinned() throws {
        let stage = try SecureStage { _, connection in connection.respond(body: "x") }
        let plain = ScriptedOrigin { connection in
            while connection.readHead() != nil {
                guard connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "plain") else { return }
            }
        }
        defer { plain.stop() }
        func fetchPlain() throws -> ReceivedResponse {
            let client = try RawClient(port: stage.proxy.port, owner: stage)
            client.send("GET http://127.0.0.1:\(plain.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.readResponse()
        }
        #expect(try fetchPlain().text == "plain")
        try stage.reload(pins: SecureStage.pins(stage.identity, enforcement: .reported))
        #expect(try fetchPlain().cacheStatus.contains("; hit"))
        try stage.reload(pins: SecureStage.pins(stage.identity))
        let refused = try fetchPlain()
        #expect(refused.status == 403 && refused.code == "plaintext_to_pinned_host")
        #expect(refused.text.contains("larder.yaml:14:5") && refused.text.contains("request: {upgrade: https}"))
        #expect(try stage.fetch("/", scheme: "http").status == 403)
        try stage.reload(Self.upgrade, pins: SecureStage.pins(stage.identity))
        #expect(try stage.fetch("/", scheme: "http").text == "x")
        #expect(plain.connectionCount == 1)
    }
}
