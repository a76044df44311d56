import EventLoop
import Foundation
import ProxyServer
import Recordings
import Snapshots
import TestSupport
import Testing

@Suite("mode: refresh and mode: diff")
struct RefreshTests {
    /// The origin's response at each path; the tests change it between two runs.
    private final class Origin: Sendable {
        let answers = Guarded<[String: (fields: String, body: String)]>([:])

        func set(_ path: String, _ body: String, fields: String = "") { answers.withLock { $0[path] = (fields, body) } }

        func stage() throws -> RecordedStage {
            try RecordedStage { request, _, connection in
                let answer = self.answers.withLock { $0[request.target] } ?? (fields: "", body: "none")
                return connection.respond(
                    fields: "X-Request-Id: \(UInt64.random(in: 0...UInt64.max))\r\n\(answer.fields)", body: answer.body)
            }
        }
    }

    private func comparing(_ stage: RecordedStage, key: Bool = true, _ ask: (TestProxy) throws -> Void) throws -> RecordingSummary
    {
        let file = try Recorder.file(stage.path) {
            $0.purpose = .compare([stage.path])
            $0.isProjectsKey = key
        }
        let proxy = try TestProxy("mode: diff\nreplay: {layers: [x]}", change: { $0.recording = file })
        try ask(proxy)
        proxy.stop()
        try Recorder.finish(file)
        return file.summary
    }

    @Test("refresh forwards every request and records the responses that changed; the earlier recording stays beside them")
    func refreshes() throws {
        let origin = Origin()
        origin.set("/same", "same")
        origin.set("/old", "old")
        let stage = try origin.stage()
        try stage.record { proxy in for path in ["/same", "/old"] { _ = try stage.ask(proxy, path) } }
        origin.set("/old", "new")
        let file = try Recorder.file(stage.path) {
            $0.purpose = .refresh
            $0.existing = .append
        }
        let proxy = try TestProxy("mode: refresh\nrecord: {file: x}", change: { $0.recording = file })
        for (path, body) in [("/same", "same"), ("/old", "new"), ("/further", "none")] {
            let answer = try stage.ask(proxy, path)
            #expect(answer.text == body && answer.cacheStatus == "Larder; fwd=bypass; detail=refresh")
        }
        proxy.stop()
        try Recorder.finish(file)
        #expect(file.summary.counts.recorded == 2 && file.summary.counts.unchanged == 1)
        stage.origin.stop()
        let replaying = try stage.replaying()
        for (path, body) in [("/same", "same"), ("/old", "new"), ("/further", "none")] {
            #expect(try stage.ask(replaying, path).text == body)
        }
        let before = try stage.replaying { $0.asOf = .generation(1) }
        #expect(try stage.ask(before, "/old").text == "old")
        #expect(try stage.ask(before, "/further").detail == "later")
    }

    /// Responses for repeated requests of one path: recorded before, sent during the refresh, and replayed after it.
    private static let sequences: [(before: [String], now: [String], recorded: Int, replayed: [String])] = [
        (["a"], ["a", "b"], 1, ["a", "b"]), (["a"], ["a", "a", "b"], 1, ["a", "a", "b"]), (["a"], ["b", "a"], 2, ["b", "a"]),
        (["a"], ["a", "b", "a"], 2, ["a", "b", "a"]), (["a"], ["a", "a"], 0, ["a", "a"]),
        (["a", "b"], ["a", "c"], 2, ["a", "c"]), (["a", "b"], ["a", "b"], 2, ["a", "b"]),
    ]

    @Test(
        "If one of several responses to a request changed, refresh records all new ones in their order", arguments: 0..<7,
        [true, false])
    func refreshesSequences(index: Int, isProjectsKey: Bool) throws {
        let (before, now, recorded, replayed) = Self.sequences[index]
        let origin = Origin()
        let stage = try origin.stage()
        let secret = "Authorization: Bearer planted-secret-planted-secret\r\n"
        func ask(_ proxy: TestProxy, _ answers: [String]) throws {
            for answer in answers {
                origin.set("/job", answer)
                _ = try stage.ask(proxy, "/job", fields: secret)
            }
        }
        try stage.record { try ask($0, before) }
        let file = try Recorder.file(stage.path) {
            $0.purpose = .refresh
            $0.existing = .append
            if !isProjectsKey { ($0.key, $0.isProjectsKey) = (.make(), false) }
        }
        let proxy = try TestProxy("mode: refresh\nrecord: {file: x}", change: { $0.recording = file })
        try ask(proxy, now)
        proxy.stop()
        try Recorder.finish(file)
        #expect(file.summary.failure == nil && file.summary.counts.recorded == recorded)
        let replaying = try stage.replaying { if !isProjectsKey { $0.key = nil } }
        #expect(try now.map { _ in try stage.ask(replaying, "/job", fields: secret).text } == replayed)
        // Every row of the file matches its digest.
        #expect(throws: Never.self) { try Snapshot(path: stage.path).verify() }
    }

    @Test("If a refresh fails, the recorded response stays, and the summary names the request")
    func keepsWhatFails() throws {
        let origin = Origin()
        origin.set("/a", "kept")
        let stage = try origin.stage()
        try stage.record { _ = try stage.ask($0, "/a") }
        stage.origin.stop()
        let file = try Recorder.file(stage.path) {
            $0.purpose = .refresh
            $0.existing = .append
        }
        let proxy = try TestProxy("mode: refresh\nrecord: {file: x}", change: { $0.recording = file })
        #expect(try stage.ask(proxy, "/a").status == 502)
        proxy.stop()
        try Recorder.finish(file)
        #expect(file.summary.counts.recorded == 0 && file.summary.unrecorded.map(\.reason) == ["failed"])
        #expect(try stage.ask(stage.replaying(), "/a").text == "kept")
    }

    @Test("diff serves the live response and reports differences from the recording, except in fields that always differ")
    func compares() throws {
        let origin = Origin()
        origin.set("/same", "same")
        origin.set("/body", "one")
        origin.set("/field", "field", fields: "X-Version: 1\r\n")
        let stage = try origin.stage()
        let paths = ["/same", "/body", "/field"]
        try stage.record { proxy in for path in paths { _ = try stage.ask(proxy, path) } }
        let octets = try Data(contentsOf: URL(filePath: stage.path))
        origin.set("/body", "two")
        origin.set("/field", "field", fields: "X-Version: 2\r\n")
        let summary = try comparing(stage) { proxy in
            for (path, body) in [("/same", "same"), ("/body", "two"), ("/field", "field"), ("/new", "none")] {
                let answer = try stage.ask(proxy, path)
                #expect(answer.text == body && answer.cacheStatus == "Larder; fwd=bypass; detail=diff")
            }
        }
        #expect(summary.counts.unchanged == 1 && summary.counts.differing == 3)
        let place = "http://127.0.0.1:\(stage.origin.port)"
        #expect(
            summary.differences.map(\.text) == [
                "~ GET \(place)/body  (body)", "~ GET \(place)/field  (fields: x-version)", "+ GET \(place)/new",
            ])
        #expect(try Data(contentsOf: URL(filePath: stage.path)) == octets)
        #expect(!FileManager.default.fileExists(atPath: stage.path + ".partial"))
    }

    @Test("A changed secret is a difference under the project's key, and none without the key", arguments: [true, false])
    func comparesSecrets(key: Bool) throws {
        let origin = Origin()
        func token(_ digit: String) -> String { "{\"token\":\"ghp_\(String(repeating: digit, count: 36))\"}" }
        origin.set("/login", token("1"), fields: "Content-Type: application/json\r\nETag: \"1\"\r\n")
        let stage = try origin.stage()
        try stage.record { _ = try stage.ask($0, "/login") }
        origin.set("/login", token("2"), fields: "Content-Type: application/json\r\nETag: \"2\"\r\n")
        let summary = try comparing(stage, key: key) { _ = try stage.ask($0, "/login") }
        #expect(summary.counts.differing == (key ? 1 : 0), "\(summary.differences.map(\.text))")
        origin.set("/login", "{\"other\":1}", fields: "Content-Type: application/json\r\nETag: \"2\"\r\n")
        #expect(try comparing(stage, key: key) { _ = try stage.ask($0, "/login") }.counts.differing == 1)
    }

    @Test("diff compares a long body without storing it")
    func comparesLongBodies() throws {
        let says = Guarded(PatternBytes.make(9_000_000, seed: 3))
        let stage = try RecordedStage { _, _, connection in connection.respond(octets: says.withLock { $0 }) }
        try stage.record { _ = try stage.ask($0, "/long") }
        #expect(try comparing(stage) { _ = try stage.ask($0, "/long") }.counts.unchanged == 1)
        says.withLock { $0[8_500_000] ^= 1 }
        #expect(try comparing(stage) { _ = try stage.ask($0, "/long") }.differences.map(\.aspects) == [.body])
    }
}
