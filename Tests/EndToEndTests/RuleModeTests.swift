import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("mode: in rules")
struct RuleModeTests {
    private static let replayed = """
        rules:
          - name: from the recording
            match: {path: "/recorded*"}
            mode: replay
        tunnel: {ports: any}
        replay: {layers: [x]}

        """

    @Test("A rule replays its requests and forwards none of them; all others are forwarded as before")
    func replaysWhatMatches() throws {
        let says = Counter()
        let stage = try RecordedStage { request, _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "\(request.target) \(says.next())")
        }
        try stage.record { _ = try stage.ask($0, "/recorded") }
        let layers = try Recorder.layers([stage.path])
        let proxy = try TestProxy(Self.replayed, change: { $0.layers = layers })
        defer { proxy.stop() }
        let heard = says.value
        for _ in 0..<3 {
            let answer = try stage.ask(proxy, "/recorded")
            #expect(answer.text == "/recorded 1" && answer.cacheStatus == "Larder; hit; detail=\"replay test.larder\"")
        }
        #expect(try stage.ask(proxy, "/recorded-not").code == "offline_miss")
        let upgrade = try stage.ask(proxy, "/recorded", fields: "Connection: Upgrade\r\nUpgrade: websocket\r\n")
        #expect(upgrade.status == 504 && upgrade.code == "offline_miss")
        #expect(says.value == heard)
        #expect(try stage.ask(proxy, "/other").text == "/other 2")
        #expect(try stage.ask(proxy, "/other").cacheStatus.hasPrefix("Larder; hit"))
    }

    @Test("A rule that sends nothing to a host also refuses tunnels to it")
    func closesTunnels() throws {
        let stage = try RecordedStage()
        let connections = stage.origin.connectionCount
        let proxy = try TestProxy(
            "tunnel: {ports: any}\nrules: [{name: closed, match: {host: 127.0.0.1}, mode: offline}]\n")
        defer { proxy.stop() }
        let client = try RawClient(port: proxy.port)
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        let tunnel = try client.readResponse(to: "CONNECT")
        #expect(tunnel.status == 504 && tunnel.code == "offline_miss" && tunnel.detail == "tunnel")
        #expect(try stage.ask(proxy, "/a").code == "offline_miss")
        #expect(stage.origin.connectionCount == connections)
    }

    @Test("A rule records its requests, while others are live")
    func recordsWhatMatches() throws {
        let stage = try RecordedStage()
        let file = try Recorder.file(stage.path)
        let proxy = try TestProxy(
            "record: {file: x}\nrules: [{name: kept, match: {path: \"/kept*\"}, mode: record}]\n", change: { $0.recording = file }
        )
        #expect(try stage.ask(proxy, "/kept").cacheStatus == "Larder; fwd=bypass; detail=record")
        #expect(try stage.ask(proxy, "/passed").cacheStatus.contains("fwd=uri-miss"))
        proxy.stop()
        try Recorder.finish(file)
        #expect(file.summary.counts.recorded == 1)
        let replaying = try stage.replaying()
        #expect(try stage.ask(replaying, "/kept").text == "GET /kept")
        #expect(try stage.ask(replaying, "/passed").code == "offline_miss")
    }

    @Test(
        "If the main mode forwards nothing, a rule cannot set live or record",
        arguments: ["live", "record", "record_missing"])
    func staysClosed(mode: String) throws {
        let stage = try RecordedStage()
        try stage.record { _ = try stage.ask($0, "/a") }
        let connections = stage.origin.connectionCount
        let proxy = try stage.replaying("record: {file: x}\nrules: [{name: open, mode: \(mode)}]\n")
        #expect(try stage.ask(proxy, "/a").text == "GET /a")
        #expect(try stage.ask(proxy, "/b").code == "offline_miss")
        #expect(stage.origin.connectionCount == connections)
    }

    @Test("A mode that cannot be served is an error of the settings, wherever it occurs")
    func refusesWhatCannotBe() throws {
        for (yaml, reason) in [
            ("rules: [{name: a, mode: replay}]", "this mode replays recordings, but replay.layers lists no snapshot"),
            ("rules: [{name: a, mode: record}]", "this mode records, but record.file names no file"),
            ("rules: [{name: a, mode: auto}]", "expected one of live, offline, replay, record, record_missing"),
            ("mode: diff", "this mode compares responses with recordings, but replay.layers lists no snapshot"),
            ("mode: refresh", "this mode records, but record.file names no file"),
            (
                "mode: diff\nreplay: {layers: [x]}\nrecord: {file: y}\nrules: [{name: a, mode: record}]",
                "a rule sets a recording mode; in mode diff rules cannot record"
            ),
        ] {
            let error = #expect(throws: SettingsRefused.self) { _ = try TestProxy.settings(yaml) }
            #expect(error?.problems.contains { $0.contains(reason) } == true, "\(yaml): \(error?.problems ?? [])")
        }
    }
}
