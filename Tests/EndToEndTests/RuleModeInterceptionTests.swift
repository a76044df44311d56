import ProxyServer
import TestSupport
import Testing

@Suite("mode: in rules, in intercepted tunnels")
struct RuleModeInterceptionTests {
    /// A proxy that intercepts and whose settings change, with a recording.
    private final class RuledStage {
        let stage: InterceptingStage
        let folder: TestFolder

        var path: String { "\(folder.path)/test.larder" }

        init(loops: Int = 1) throws {
            stage = try InterceptingStage(loops: loops)
            folder = try TestFolder()
        }

        func reload(_ yaml: String, change: (inout ServerSettings) -> Void = { _ in }) throws {
            let trust = try SecureStage.trust(stage.authority)
            try stage.proxy.reload(InterceptingStage.yaml + "\n" + yaml) {
                $0.transport.trust = trust
                $0.transport.connect = InterceptingStage.policy { _ in }
                $0.authority = stage.ours
                change(&$0)
            }
        }

        /// Records the requests of the closure with these settings.
        func record(_ yaml: String, _ ask: () throws -> Void) throws {
            let file = try Recorder.file(path)
            try reload("record: {file: x}\n" + yaml) { $0.recording = file }
            try ask()
            try reload("mode: live")
            let unused = Gate()
            file.whenUnused { unused.open() }
            #expect(unused.wait())
            try Recorder.finish(file)
        }
    }

    @Test(
        "If a rule can block requests to the host, a client that offers only HTTP/2 is refused, and the log has the reason",
        arguments: [
            "{name: r, match: {host: one.test}, cache: {policy: stored_only}}",
            "{name: r, match: {host: one.test, method: POST}, deny: {reason: no}}",
            "{name: r, match: {path: \"/a*\"}, deny: {reason: no}}",
        ])
    func refusesHiddenRequests(rule: String) throws {
        let stage = try InterceptingStage("rules: [\(rule)]")
        let client = try stage.connect()
        var terms = stage.terms()
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) == .alert(49))
        #expect(try stage.logged("detail") == ["hidden_from_rules"])
        stage.origin.stop()
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("A host whose client rejected the certificate is still intercepted if a rule can prevent requests to it")
    func interceptsRefusedHosts() throws {
        let stage = try InterceptingStage(
            "rules: [{name: r, match: {host: one.test, method: POST}, deny: {reason: no}}]",
            connect: { $0.refusalsKeptMilliseconds = 600_000 })
        func isTunnelled(_ host: String) throws -> Bool {
            try stage.connect(host).startTLS(TLSClient.Terms(serverName: host, anchor: stage.authority.der)) == .done
        }
        for host in ["one.test", "two.test"] { #expect(try !isTunnelled(host)) }
        // The proxy reads the alerts in the order in which the clients sent them.
        try eventually { try isTunnelled("two.test") }
        #expect(try !isTunnelled("one.test"))
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        let client = try stage.secure()
        client.send(stage.head("/a", method: "POST", fields: "Content-Length: 0\r\n"))
        #expect(try client.readResponse(to: "POST").code == "denied_by_rule")
    }

    @Test(
        "A rule replays an intercepted host: its CONNECT succeeds without a connection to it, and another host stays live",
        arguments: [1, 4])
    func replaysHosts(loops: Int) throws {
        let ruled = try RuledStage(loops: loops)
        let stage = ruled.stage
        try ruled.record("mode: record") { _ = try stage.fetch("/recorded") }
        let layers = try Recorder.layers([ruled.path])
        try ruled.reload(
            """
            replay: {layers: [x]}
            rules:
              - {name: from the recording, match: {host: one.test}, mode: replay}
              - {name: closed, match: {host: tunnel.test}, mode: replay}
            """
        ) { $0.layers = layers }
        let connections = stage.origin.connectionCount
        let client = try stage.secure("one.test")
        for _ in 0..<2 {
            client.send(stage.head("/recorded"))
            let answer = try client.readResponse()
            #expect(answer.text == "answer to GET /recorded")
            #expect(answer.cacheStatus == "Larder; hit; detail=\"replay test.larder\"")
            client.send(stage.head("/other"))
            let missed = try client.readResponse()
            #expect(missed.status == 504 && missed.code == "offline_miss" && missed.detail == "not_recorded")
        }
        client.send(stage.head("/recorded", fields: "Connection: Upgrade\r\nUpgrade: websocket\r\n"))
        #expect(try client.readResponse().code == "offline_miss")
        // A host that would get a tunnel gets none.
        let tunnel = try RawClient(port: stage.proxy.port, owner: stage)
        tunnel.send("CONNECT tunnel.test:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        let refused = try tunnel.readResponse(to: "CONNECT")
        #expect(refused.status == 504 && refused.code == "offline_miss" && refused.detail == "tunnel")
        #expect(stage.origin.connectionCount == connections)
        let live = try stage.fetch("/recorded", host: "two.test")
        #expect(live.text == "answer to GET /recorded" && live.cacheStatus.contains("fwd="))
        #expect(stage.origin.connectionCount > connections)
    }

    @Test("A rule records and replays some paths of an intercepted host, and its other paths stay live")
    func goesByPaths() throws {
        let ruled = try RuledStage()
        let stage = ruled.stage
        try ruled.record("rules: [{name: kept, match: {path: \"/kept*\"}, mode: record}]") { () throws in
            #expect(try stage.fetch("/kept").cacheStatus == "Larder; fwd=bypass; detail=record")
            #expect(try stage.fetch("/passed").cacheStatus.contains("fwd="))
        }
        let layers = try Recorder.layers([ruled.path])
        try ruled.reload("replay: {layers: [x]}\nrules: [{name: kept, match: {path: \"/kept*\"}, mode: replay}]") {
            $0.layers = layers
        }
        let client = try stage.secure("one.test")
        for (path, said) in [
            ("/kept", "hit; detail=\"replay test.larder\""), ("/kept-not", "detail=offline_miss"), ("/live", "fwd="),
            ("/kept", "hit; detail=\"replay test.larder\""),
        ] {
            client.send(stage.head(path))
            #expect(try client.readResponse().cacheStatus.contains(said), "\(path)")
        }
    }
}
