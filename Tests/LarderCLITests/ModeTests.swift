import EventLoop
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AdminClient
@testable import LarderCLI

@Suite("larder mode")
struct ModeTests {
    typealias Served = ServeTests.Served

    /// The subcommand, for the Larder with this admin socket.
    private func mode(_ served: Served, _ words: String...) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(["mode", "--set", "admin.socket=\(served.folder.path)/admin.sock"] + words)
    }

    private func ask(_ port: Int, _ origin: ScriptedOrigin) throws -> ReceivedResponse {
        let client = try RawClient(port: UInt16(port))
        client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return try client.readResponse()
    }

    @Test("mode reports the mode and switches it; a mode that cannot be served is refused with code 2, and the active one stays")
    func switches() throws {
        let served = try Served()
        _ = try served.ports()
        #expect(try mode(served).output == "live\n")
        for (word, reason) in [
            ("replay", "this mode replays recordings, but replay.layers lists no snapshot"),
            ("record", "this mode records, but record.file names no file"),
            ("record_missing", "this mode records, but record.file names no file"),
        ] {
            let refused = try mode(served, word)
            #expect(refused.code == 2 && refused.output.isEmpty)
            #expect(refused.talk == "larder: mode: \(reason); mode live stays active\n")
        }
        #expect(try mode(served, "bogus").code == 2)
        let reset = try mode(served, "--reset")
        #expect(reset.code == 2 && reset.talk.contains("mode live does not replay"))
        #expect(try mode(served).output == "live\n")
        #expect(try mode(served, "offline").output == "offline\n")
        let object = try JSONSerialization.jsonObject(with: Data(try mode(served, "-o", "json").output.utf8))
        let told = try #require(object as? [String: Any])
        #expect(told["mode"] as? String == "offline" && told["departures"] as? Int == 0)
    }

    @Test("A reload undoes a switch only if the mode in the settings has changed")
    func outlivesReload() throws {
        let served = try Served()
        _ = try served.ports()
        #expect(try mode(served, "offline").code == 0)
        let socket = "admin.socket=\(served.folder.path)/admin.sock"
        _ = try served.folder.write("limits: {fields: 50}\n", to: "larder.yaml")
        #expect(try CommandLineTests.larder("reload", "--set", socket).code == 0)
        #expect(try mode(served).output == "offline\n")
        _ = try served.folder.write("mode: auto\n", to: "larder.yaml")
        #expect(try CommandLineTests.larder("reload", "--set", socket).code == 0)
        #expect(try mode(served).output == "auto\n")
    }

    @Test("A recording is finished when mode record ends, and is replayed in order; --reset restarts the sequences")
    func recordsAndReplays() throws {
        let count = Atomic<Int>(0)
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(body: "\(count.add(1, ordering: .relaxed).newValue)")
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/served.larder"
        let served = try Served("record: {file: \(file)}\nreplay: {layers: [\(file)], sequence_end: error}\n", in: folder)
        let port = try #require(try served.ports().first)
        #expect(try mode(served, "replay").code == 2)
        #expect(try mode(served, "record").code == 0)
        for expected in ["1", "2"] { #expect(try ask(port, origin).text == expected) }
        let early = try mode(served, "replay")
        #expect(early.code == 2 && early.talk.contains("Larder is recording into \(file); `larder mode live` finishes it"))
        #expect(try mode(served, "live").code == 0 && FileManager.default.fileExists(atPath: file))
        let again = try mode(served, "record")
        #expect(again.code == 2 && again.talk.contains("record.file: \(file) already exists"), "\(again.talk)")
        origin.stop()
        #expect(try mode(served, "replay").output == "replay\n")
        for expected in ["1", "2"] { #expect(try ask(port, origin).text == expected) }
        #expect(try ask(port, origin).text.contains("\"code\":\"offline_miss\""))
        #expect(try mode(served, "--reset").output == "replay\n")
        #expect(try ask(port, origin).text == "1")
    }

    @Test("mode replay becomes refresh if the recording has expired and on_expired is refresh, until the recording is new")
    func refreshesWhatHasExpired() throws {
        let says = Guarded("one")
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: says.withLock { $0 }) }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record -o a.larder -- curl -sS -H 'Accept:' -A '' -o x $url
            $larder snapshot export a.larder --text text
            sed -i 's/"started":[0-9]*/"started":1735787045000/' text/manifest.json
            $larder snapshot create --from-text text -o old.larder && cp old.larder kept.larder
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)/"])
        says.withLock { $0 = "two" }
        let layers = "layers: [\(folder.path)/old.larder], expires_after: 30d"
        let served = try Served("mode: replay\nreplay: {\(layers), on_expired: refresh}\n", in: folder)
        let port = try #require(try served.ports().first)
        #expect(served.says("every request is forwarded, and the snapshot is re-recorded (replay.on_expired: refresh)"))
        #expect(try mode(served).output == "refresh\n")
        #expect(try ask(port, origin).text == "two")
        #expect(try mode(served, "replay").output == "refresh\n")
        #expect(try mode(served, "live").output == "live\n")
        origin.stop()
        #expect(try mode(served, "replay").output == "replay\n")
        #expect(try ask(port, origin).text == "two")
        served.process.terminate()

        let ruled = try Served(
            "replay: {layers: [\(folder.path)/kept.larder], expires_after: 30d, on_expired: refresh}\n"
                + "rules: [{name: all, mode: replay}]\n")
        #expect(ruled.says("kept.larder was recorded at 2025-01-02T03:04:05.000Z"))
        #expect(try ask(#require(try ruled.ports().first), origin).text == "one")
    }

    @Test("In mode diff clients get live responses, and a report shows the differences from the recording, with exit code 6")
    func reportsDifferences() throws {
        let says = Guarded("one")
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: says.withLock { $0 }) }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/served.larder"
        let served = try Served("record: {file: \(file)}\nreplay: {layers: [\(file)]}\n", in: folder)
        let port = try #require(try served.ports().first)
        let early = try mode(served, "diff", "--report", "-")
        #expect(early.code == 2 && early.talk == "larder: no responses have been compared yet: run `larder mode diff`\n")
        #expect(try mode(served, "replay", "--report", "-").code != 0)
        #expect(try mode(served, "record").code == 0)
        #expect(try ask(port, origin).text == "one")
        #expect(try mode(served, "diff").talk.contains("Larder is recording into"))
        #expect(try mode(served, "live").code == 0)
        #expect(try mode(served, "diff").output == "diff\n")
        #expect(try ask(port, origin).text == "one")
        let same = try mode(served, "diff", "--report", "-")
        #expect(same.code == 0 && same.output == "responses compared: 1, different: 0\n")
        says.withLock { $0 = "two" }
        #expect(try ask(port, origin).text == "two")
        let other = try mode(served, "diff", "--report", "-")
        #expect(other.code == 6 && other.output.contains("(body"))
        #expect(try mode(served, "live").code == 0)
        // The findings are kept.
        let report = "\(folder.path)/report.txt"
        #expect(try mode(served, "diff", "--report", report).code == 6)
        let text = try String(contentsOfFile: report, encoding: .utf8)
        #expect(
            text.hasSuffix("responses compared: 2, different: 1\n") && text.hasPrefix("~ GET http://127.0.0.1:\(origin.port)/"),
            "\(text)")
        #expect(try mode(served).output == "live\n")
    }

    @Test(
        "While a recording that ends waits for an exchange, other admin requests are answered, and a reload waits"
    )
    func answersOthersMeanwhile() throws {
        let (arrived, answers) = (Gate(), Gate())
        let origin = ScriptedOrigin.answering { _, connection in
            arrived.open()
            _ = answers.wait()
            return connection.respond(body: "late")
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/served.larder"
        let served = try Served("mode: record\nrecord: {file: \(file)}\n", in: folder)
        let client = try RawClient(port: UInt16(try #require(try served.ports().first)))
        client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(arrived.wait())
        let socket = "\(folder.path)/admin.sock"
        @Sendable func send(_ method: String, _ path: String) throws -> (status: Int, text: String) {
            let (status, text) = try AdminClient(path: socket).send(method, path, accept: "text/plain")
            return (Int(status.code), text)
        }
        let ended = DispatchGroup()
        let said = Guarded<[String]>([])
        func change(_ path: String) {
            ended.enter()
            Thread.detachNewThread {
                let answer = try? send("POST", path)  // counted as no response
                said.withLock { $0.append(answer?.text ?? "none") }
                ended.leave()
            }
        }
        change("/v1/mode?mode=live")
        try eventually { try send("GET", "/v1/mode").text == "live\n" }
        change("/v1/reload")
        #expect(try send("GET", "/v1/status").status == 200)
        #expect(said.withLock { $0 } == [] && !FileManager.default.fileExists(atPath: file))
        answers.open()
        #expect(try client.readResponse().text == "late")
        #expect(ended.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success)
        #expect(said.withLock { Set($0) } == ["live\n", "the settings were reloaded\n"])
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(try CommandLineTests.larder(["snapshot", "ls", file]).output.contains("http://127.0.0.1:\(origin.port)/"))
    }

    /// Clients that send requests repeatedly, and the responses that each got.
    private final class Askers: Sendable {
        enum Answer: Equatable { case live, replayed, refused }

        private struct State {
            var last: [Answer?]
            var counts: [Int]
            var others: [String] = []
        }

        private let state: Guarded<State>
        private let isOver = Atomic<Bool>(false)
        private let ended = DispatchGroup()

        init(_ count: Int, port: Int, url: String) {
            state = Guarded(State(last: Array(repeating: nil, count: count), counts: Array(repeating: 0, count: count)))
            for index in 0..<count {
                ended.enter()
                Thread.detachNewThread { [self] in
                    while !isOver.load(ordering: .relaxed) { note(Self.ask(port: port, url: url), of: index) }
                    ended.leave()
                }
            }
        }

        private static func ask(port: Int, url: String) -> ReceivedResponse? {
            guard let client = try? RawClient(port: UInt16(port)) else { return nil }  // counted as no response
            client.send("GET \(url) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return try? client.readResponse()  // counted as no response
        }

        private func note(_ response: ReceivedResponse?, of index: Int) {
            let cacheStatus = response?["Cache-Status"] ?? ""
            let answer: Answer? =
                switch response?.text {
                case "live" where cacheStatus.contains("fwd="): .live
                case "recorded" where cacheStatus.contains("hit; detail=\"replay"): .replayed
                // It was in flight when the gate was closed.
                case let text? where text.contains("\"code\":\"offline_miss\""): .refused
                default: nil
                }
            state.withLock { state in
                state.last[index] = answer
                state.counts[index] += 1
                if answer == nil { state.others.append("\(response?.status ?? 0) \(cacheStatus) \(response?.text ?? "")") }
            }
        }

        /// Each has got further responses since, of which this is the last.
        func haveAll(_ answer: Answer, more: Int) throws {
            let before = state.withLock { $0.counts }
            try eventually {
                state.withLock { state in
                    state.last.allSatisfy { $0 == answer } && zip(state.counts, before).allSatisfy { $0 >= $1 + more }
                }
            }
        }

        var others: [String] { state.withLock { $0.others } }

        func end() {
            isOver.store(true, ordering: .relaxed)
            ended.wait()
        }
    }

    @Test(
        "With a hundred switches under load, each response belongs to one mode, and replay sends nothing to the origin or past the gate"
    )
    func switchesUnderLoad() throws {
        let says = Guarded("recorded")
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: "Cache-Control: no-store\r\n", body: says.withLock { $0 })
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/served.larder"
        let url = "http://127.0.0.1:\(origin.port)/"
        let recorded = try CommandLineTests.larder(
            ["record", "-o", file, "--", "curl", "-sS", url], environment: ["HOME": folder.path, "TMPDIR": folder.path])
        #expect(recorded.output == "recorded")
        says.withLock { $0 = "live" }
        let served = try Served("replay: {layers: [\(file)]}\nloops: 2\n", in: folder)
        let askers = Askers(4, port: try #require(try served.ports().first), url: url)
        defer { askers.end() }
        /// With the command, a hundred switches would need a hundred processes.
        func switched(to mode: String? = nil) throws -> [String: Any] {
            let (method, query) = mode.map { ("POST", "?mode=\($0)") } ?? ("GET", "")
            let admin = try AdminClient(path: "\(served.folder.path)/admin.sock")
            let (status, text) = try admin.send(method, "/v1/mode\(query)", accept: "application/json")
            #expect(status.code == 200)
            return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }
        for _ in 0..<50 {
            #expect(try switched(to: "replay")["mode"] as? String == "replay")
            // Earlier requests have been answered.
            try askers.haveAll(.replayed, more: 2)
            let heard = origin.requestHeads.count
            try askers.haveAll(.replayed, more: 5)
            #expect(origin.requestHeads.count == heard)
            #expect(try switched()["departures"] as? Int == 0)
            #expect(try switched(to: "live")["mode"] as? String == "live")
            try askers.haveAll(.live, more: 2)
            #expect(origin.requestHeads.count > heard)
            #expect(try switched()["departures"] as? Int ?? 0 > 0)
        }
        #expect(askers.others.isEmpty, "\(askers.others.prefix(5))")
    }
}
