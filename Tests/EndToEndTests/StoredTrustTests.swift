import ServerTrust
import TestSupport
import Testing

@Suite("Responses stored from hosts under another trust policy")
struct StoredTrustTests {
    private static func stage(storePath: String? = ":memory:", isValidated: Bool = true) throws -> SecureStage {
        try SecureStage(storePath: storePath) { request, connection in
            let isAsked = request["If-None-Match"] != nil
            let fields = "Cache-Control: max-age=600, stale-if-error=600\r\nETag: \"a\"\r\n"
            if isAsked, isValidated { return connection.respond("304 Not Modified", fields: fields) }
            return connection.respond(fields: fields, body: isAsked ? "new" : "old")
        }
    }

    @Test("A response is validated over a verified connection and then reused; under pins that it does not match it is refused")
    func validates() throws {
        let stage = try Self.stage()
        #expect(try stage.fetch("/").text == "old")
        #expect(try stage.fetch("/").cacheStatus.contains("; hit"))
        try stage.reload(pins: SecureStage.pins(stage.identity))
        let validated = try stage.fetch("/")
        #expect(validated.text == "old")
        #expect(validated.cacheStatus.contains("fwd=stale") && validated.cacheStatus.contains("detail=trust_changed"))
        #expect(stage.origin.requestHeads.count == 2)
        #expect(try stage.fetch("/").cacheStatus.contains("; hit"))
        try stage.reload(pins: SecureStage.pins(TestAuthority().identity()))
        let refused = try stage.fetch("/", fields: "Cache-Control: max-stale, stale-if-error=600\r\n")
        #expect(refused.code == "certificate_not_trusted" && refused.detail == "pin_mismatch")
        #expect(stage.origin.requestHeads.count == 2)
    }

    @Test("A HEAD under the new policy does not confirm a body stored under the old one")
    func headVouchesForNothing() throws {
        let stage = try SecureStage { request, connection in
            let fields = "Cache-Control: max-age=600\r\n"
            if request.method == "HEAD" { return connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\(fields)\r\n") }
            return connection.respond(fields: fields, body: connection.number == 1 ? "old" : "new")
        }
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(pins: SecureStage.pins(stage.identity))
        #expect(try stage.fetch("/", method: "HEAD").status == 200)
        let response = try stage.fetch("/")
        #expect(response.text == "new" && response.cacheStatus.contains("detail=trust_changed"))
    }

    @Test(
        "The policy survives a restart: a response is reused under the same policy, and validated under another",
        arguments: [false, true])
    func survives(isPinned: Bool) throws {
        let stage = try Self.stage(storePath: nil)
        #expect(try stage.fetch("/").text == "old")
        stage.proxy.stop()
        let trust = try SecureStage.trust(stage.authority, pins: isPinned ? SecureStage.pins(stage.identity) : nil)
        let proxy = try TestProxy(storePath: nil, folder: stage.proxy.folder, change: { $0.transport.trust = trust })
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("GET https://127.0.0.1:\(stage.origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.text == "old")
        #expect(response.cacheStatus.contains("trust_changed") == isPinned)
        #expect(stage.origin.requestHeads.count == (isPinned ? 2 : 1))
        proxy.stop()
    }
}
