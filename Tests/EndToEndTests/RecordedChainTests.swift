import Glibc
import HTTPMessage
import HTTPWire
import ProxyAdmin
import ResponseStore
import ServerTrust
import TestSupport
import Testing

@Suite("Responses stored under another trust policy, while their server is unreachable")
struct RecordedChainTests {
    enum Pinned: CaseIterable, Sendable { case same, other }

    private static func stage(
        _ yaml: String = "", storePath: String? = ":memory:", fields: String = "Cache-Control: max-age=86400\r\nETag: \"a\"\r\n"
    ) throws -> SecureStage {
        try SecureStage(yaml, storePath: storePath) { request, connection in
            if request["If-None-Match"] != nil { return connection.respond("304 Not Modified", fields: fields) }
            return connection.respond(fields: fields, body: "old")
        }
    }

    private static func pins(_ pinned: Pinned, _ stage: SecureStage) throws -> PinSet {
        try SecureStage.pins(pinned == .same ? stage.identity : stage.authority.identity())
    }

    private static func expect(_ response: ReceivedResponse, _ pinned: Pinned) throws {
        switch pinned {
        case .same:
            #expect(response.status == 200 && response.text == "old")
            #expect(
                response.cacheStatus.contains("Larder; hit; ttl=") && response.cacheStatus.contains("; detail=recorded_chain"))
        case .other:
            #expect(response.status == 504 && response.code == "recorded_chain_not_trusted" && response.detail == "pin_mismatch")
            #expect(response["Proxy-Status"]?.contains("; error=tls_certificate_error; details=\"pin_mismatch\"") == true)
            let told = try #require(try response.json["tls"] as? [String: Any])
            #expect(told["reason"] as? String == "pin_mismatch" && (told["advice"] as? String)?.isEmpty == false)
        }
    }

    @Test(
        "A stored response is used if the policy accepts its recorded certificate chain, and is refused with the reason if not",
        arguments: Pinned.allCases
    )
    func judges(pinned: Pinned) throws {
        let stage = try Self.stage()
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(pins: Self.pins(pinned, stage))
        stage.origin.stop()
        try Self.expect(try stage.fetch("/"), pinned)
        // No server has confirmed the response, so Larder checks it each time.
        try Self.expect(try stage.fetch("/"), pinned)
        let line = try #require(try stage.proxy.logLines().last)
        let words =
            pinned == .same
            ? [#""reuse":"recorded_chain""#, #""error":"connection_refused""#]
            : [#""error":"recorded_chain_not_trusted""#, #""detail":"pin_mismatch""#]
        for word in words { #expect(line.contains(word), "\(line)") }
    }

    @Test("While the server is reachable, Larder validates the response with it instead")
    func asks() throws {
        let stage = try Self.stage()
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(pins: Self.pins(.same, stage))
        let validated = try stage.fetch("/")
        #expect(validated.text == "old" && validated.cacheStatus.contains("fwd=stale"))
        #expect(validated.cacheStatus.contains("detail=trust_changed"))
        #expect(try stage.fetch("/").cacheStatus.contains("; hit") && stage.origin.requestHeads.count == 2)
    }

    @Test(
        "The chain is also checked for only-if-cached requests, and under a rule that serves stored responses only",
        arguments: Pinned.allCases,
        [false, true])
    func storedOnly(pinned: Pinned, isByRule: Bool) throws {
        let stage = try Self.stage()
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(
            isByRule ? "rules: [{name: offline, cache: {policy: stored_only}}]" : "", pins: Self.pins(pinned, stage))
        try Self.expect(try stage.fetch("/", fields: isByRule ? "" : "Cache-Control: only-if-cached\r\n"), pinned)
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("explain reports the verdict on the recorded chain and connects to nothing", arguments: Pinned.allCases)
    func explains(pinned: Pinned) throws {
        let stage = try Self.stage()
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(pins: Self.pins(pinned, stage))
        let head =
            "GET https://127.0.0.1:\(stage.origin.port)/ HTTP/1.1\r\nHost: a\r\nCache-Control: only-if-cached\r\n\r\n"
        let explained = Explainer.explain(
            try ExplainedHeads(Array(head.utf8), contentLength: nil, limits: ParseLimits()),
            context: stage.proxy.server.context, Explainer.Terms(tellsQuery: true), at: Timestamp(seconds: Int64(time(nil)))
        ) { key, _ in
            guard case .found(let variants) = stage.proxy.store.inMemory(key.span) else { return .later }
            return .found(variants.responses, partials: [], isComplete: true)
        }
        guard case .explanation(let explanation) = explained else {
            Issue.record("nothing is stored")
            return
        }
        let says =
            pinned == .same
            ? ", and the trust policy accepts the certificates that were recorded with it"
            : "recorded_chain_not_trusted"
        #expect(explanation.text.contains(says), "\(explanation.text)")
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("The recorded chain survives a restart", arguments: Pinned.allCases)
    func survives(pinned: Pinned) throws {
        let stage = try Self.stage(storePath: nil)
        #expect(try stage.fetch("/").text == "old")
        stage.proxy.stop()
        let trust = try SecureStage.trust(stage.authority, pins: Self.pins(pinned, stage))
        let proxy = try TestProxy(storePath: nil, folder: stage.proxy.folder, change: { $0.transport.trust = trust })
        defer { proxy.stop() }
        stage.origin.stop()
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("GET https://127.0.0.1:\(stage.origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        try Self.expect(try client.readResponse(), pinned)
    }

    @Test("The chain is verified for the current time: an expired certificate is refused")
    func expires() throws {
        let stage = try Self.stage()
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(pins: Self.pins(.same, stage))
        stage.origin.stop()
        stage.proxy.pass(seconds: 3_700)
        let refused = try stage.fetch("/")
        #expect(refused.code == "recorded_chain_not_trusted" && refused.detail == "expired")
    }

    @Test("If the origin fails, the response is served stale for as long as before the policy changed")
    func stale() throws {
        let fields = "Cache-Control: max-age=60, stale-if-error=600\r\nETag: \"a\"\r\n"
        let stage = try Self.stage(fields: fields)
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(pins: Self.pins(.same, stage))
        stage.origin.stop()
        stage.proxy.pass(seconds: 120)
        let served = try stage.fetch("/")
        #expect(served.text == "old" && served.cacheStatus.contains("ttl=-6"))
        #expect(served.cacheStatus.contains("detail=recorded_chain"))
        stage.proxy.pass(seconds: 600)
        let refused = try stage.fetch("/")
        #expect(refused.status == 504 && refused.code == "connection_refused")
    }

    @Test("A no-cache request is not answered with the stored response")
    func noCache() throws {
        let stage = try Self.stage()
        #expect(try stage.fetch("/").text == "old")
        try stage.reload(pins: Self.pins(.same, stage))
        stage.origin.stop()
        #expect(try stage.fetch("/", fields: "Cache-Control: no-cache\r\n").code == "connection_refused")
    }

    @Test("A rejected certificate is not an error for which a stale response is served (RFC 5861 §4)")
    func refusedServer() throws {
        let fields = "Cache-Control: max-age=60, stale-if-error=600\r\nETag: \"a\"\r\n"
        let stage = try Self.stage(fields: fields)
        #expect(try stage.fetch("/").text == "old")
        stage.origin.stop()
        stage.proxy.pass(seconds: 120)
        let stale = try stage.fetch("/")
        #expect(stale.text == "old" && stale.cacheStatus.contains("detail=stale_if_error"))
        let intruder = ScriptedOrigin(port: stage.origin.port, identity: TestAuthority(name: "Another").identity()) {
            connection in
            while connection.readHead() != nil { connection.respond(body: "intruder") }
        }
        defer { intruder.stop() }
        let refused = try stage.fetch("/")
        #expect(refused.status == 504 && refused.code == "certificate_not_trusted" && refused.detail == "incomplete_chain")
        #expect(intruder.requestHeads.isEmpty)
    }
}
