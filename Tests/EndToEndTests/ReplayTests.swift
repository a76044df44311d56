import Foundation
import HTTPMessage
import ProxyServer
import Recordings
import Snapshots
import TestSupport
import Testing

@Suite("mode: record and mode: replay")
struct ReplayTests {
    @Test("A recorded response is replayed without its origin, and names its recording", arguments: [1, 4])
    func replays(loops: Int) throws {
        let stage = try RecordedStage()
        let summary = try stage.record { proxy in
            for path in ["/a", "/b?x=1"] {
                let response = try stage.ask(proxy, path)
                #expect(response.text == "GET \(path)")
                #expect(response.cacheStatus == "Larder; fwd=bypass; detail=record")
            }
            #expect(try stage.ask(proxy, "/a", method: "POST", body: "x=1").text == "POST /a")
        }
        #expect(summary.counts.recorded == 3 && summary.isComplete)
        let connections = stage.origin.connectionCount
        stage.origin.stop()
        let proxy = try stage.replaying(loops: loops)
        let response = try stage.ask(proxy, "/a")
        #expect(response.status == 200 && response.text == "GET /a" && response["ETag"] == "\"e\"")
        #expect(response.cacheStatus == "Larder; hit; detail=\"replay test.larder\"")
        #expect(try stage.ask(proxy, "/b?x=1").text == "GET /b?x=1")
        #expect(try stage.ask(proxy, "/a", method: "POST", body: "x=1").text == "POST /a")
        #expect(stage.origin.connectionCount == connections)
        let log = try proxy.logLines()
        #expect(
            log.count == 3 && log.allSatisfy { $0.contains(#""cache":"replayed""#) && $0.contains(#""recording":"test.larder""#) }
        )
    }

    @Test("While recording, every request is forwarded: no stored response and no shared fetch, and nothing is stored")
    func recordsEach() throws {
        let count = Counter()
        let stage = try RecordedStage { _, _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "\(count.next())")
        }
        let file = try Recorder.file(stage.path)
        let proxy = try TestProxy("mode: record\nrecord: {file: x}", change: { $0.recording = file })
        defer { proxy.stop() }
        #expect(try (1...3).map { _ in try stage.ask(proxy, "/a").text } == ["1", "2", "3"])
        try proxy.reload("mode: live")
        #expect(try stage.ask(proxy, "/a").text == "4")
        #expect(try stage.ask(proxy, "/a").cacheStatus.hasPrefix("Larder; hit"))
        proxy.stop()
        try Recorder.finish(file)
        let replaying = try stage.replaying()
        #expect(try (1...4).map { _ in try stage.ask(replaying, "/a").text } == ["1", "2", "3", "1"])
    }

    @Test(
        "Several responses to one request are replayed in order, and then as the setting says",
        arguments: [
            (SequenceEnd.loop, "pending pending done pending"), (.last, "pending pending done done"),
            (.error, "pending pending done 504"),
        ])
    func followsSequences(end: SequenceEnd, expected: String) throws {
        let count = Counter()
        let stage = try RecordedStage { _, _, connection in
            let isDone = count.next() == 3
            // The response times decide between responses that differ in Vary. They are recorded in milliseconds.
            connection.pause(milliseconds: 3)
            return connection.respond(fields: isDone ? "Vary: Accept\r\n" : "", body: isDone ? "done" : "pending")
        }
        try stage.record { proxy in for _ in 1...3 { _ = try stage.ask(proxy, "/job") } }
        let proxy = try stage.replaying { $0.end = end }
        let answers = try (1...4).map { _ in try stage.ask(proxy, "/job") }
        #expect(answers.map { $0.status == 504 ? "504" : $0.text }.joined(separator: " ") == expected)
        if end == .error { #expect(try proxy.logLines().last?.contains("/job: exhausted") == true) }
        // Two clients that replay the same sequence each get all of it.
        let other = try stage.replaying { $0.end = end }
        #expect(try stage.ask(other, "/job").text == "pending")
    }

    @Test("A miss is an immediate 504 that names the nearest recorded request and a match rule for it")
    func tellsNearest() throws {
        let stage = try RecordedStage()
        try stage.record { proxy in
            _ = try stage.ask(proxy, "/jobs?page=1&sort=up")
            _ = try stage.ask(
                proxy, "/graph", method: "POST", fields: "Content-Type: application/json\r\n", body: #"{"a":1,"at":7}"#)
        }
        let proxy = try stage.replaying()
        let response = try stage.ask(proxy, "/jobs?page=2&sort=up")
        #expect(response.status == 504 && response.code == "offline_miss" && response.detail == "not_recorded")
        #expect(
            response["Proxy-Status"]?.contains("; error=destination_unavailable; details=\"offline_miss: not_recorded\"") == true)
        #expect(response.cacheStatus == "Larder; detail=offline_miss")
        let nearest = try #require((response.json["nearest"] as? [[String: Any]])?.first)
        let difference = try #require((nearest["differences"] as? [[String: Any]])?.first)
        #expect(difference["place"] as? String == "query parameter page")
        #expect(difference["recorded"] as? String == "1" && difference["asked"] as? String == "2")
        let proposed = try JSONSerialization.data(withJSONObject: ["canonicalisers": [nearest["canonicaliser"]]])
        let body = try stage.ask(
            proxy, "/graph", method: "POST", fields: "Content-Type: application/json\r\n", body: #"{"a":1,"at":8}"#)
        let told = try body.json
        #expect("\(told["nearest"] ?? "")".contains("/at"))
        let text = try stage.ask(proxy, "/jobs?page=2&sort=up", fields: "Accept: text/plain\r\n").text
        #expect(text.contains("nearest: GET http://127.0.0.1:") && text.contains("query parameter page"))
        #expect(try stage.ask(proxy, "/jobs?page=1&sort=up", method: "PUT").code == "offline_miss")
        let log = try proxy.logLines()
        #expect(
            log[0].contains(#""error":"offline_miss""#) && log[0].contains("query parameter page") && !log[0].contains("page=1"))
        // The proposed match rule, pasted into the settings.
        let terms = try MatchTerms(text: Array(proposed))
        try FileManager.default.removeItem(atPath: stage.path)
        try stage.record(terms: { $0.match = terms }) { _ = try stage.ask($0, "/jobs?page=1&sort=up") }
        #expect(try stage.ask(stage.replaying(), "/jobs?page=2&sort=up").text == "GET /jobs?page=1&sort=up")
    }

    @Test("The complete body is recorded whatever the client receives, and 304, 206, 416 and HEAD responses are derived from it")
    func derives() throws {
        let stage = try RecordedStage { request, _, connection in
            let isPlain = !["range:", "if-none-match", "if-modified"].contains { request.head.lowercased().contains($0) }
            let fields = "ETag: \"e\"\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\n"
            return connection.respond(fields: fields, body: isPlain ? "0123456789" : "conditions came through")
        }
        let asked: [(fields: String, status: Int, text: String)] = [
            ("If-None-Match: \"e\"\r\n", 304, ""), ("If-Modified-Since: Wed, 01 Jan 2025 00:00:00 GMT\r\n", 304, ""),
            ("If-Modified-Since: Tue, 31 Dec 2024 23:59:59 GMT\r\n", 200, "0123456789"),
            ("If-None-Match: \"f\"\r\nIf-Modified-Since: Wed, 01 Jan 2025 00:00:00 GMT\r\n", 200, "0123456789"),
            ("Range: bytes=2-4\r\nIf-Modified-Since: Wed, 01 Jan 2025 00:00:00 GMT\r\n", 304, ""),
            ("Range: bytes=2-4\r\n", 206, "234"),
            ("Range: bytes=2-4\r\nIf-Range: \"e\"\r\n", 206, "234"),
            ("Range: bytes=2-4\r\nIf-Range: \"f\"\r\n", 200, "0123456789"),
            ("Range: bytes=20-\r\n", 416, ""), ("", 200, "0123456789"),
        ]
        func check(_ proxy: TestProxy) throws {
            for (fields, status, text) in asked {
                let response = try stage.ask(proxy, "/a", fields: fields)
                #expect(response.status == status && response.text == text, "\(fields)")
                if status == 206 { #expect(response["Content-Range"] == "bytes 2-4/10") }
            }
        }
        try stage.record { proxy in try check(proxy) }
        stage.origin.stop()
        let proxy = try stage.replaying()
        try check(proxy)
        let head = try stage.ask(proxy, "/a", method: "HEAD")
        #expect(head.status == 200 && head["Content-Length"] == "10" && head.body.isEmpty)
    }

    @Test("A large body is recorded while it passes, and replayed completely and in ranges")
    func largeBodies() throws {
        let body = PatternBytes.make(5_000_000, seed: 1)
        let stage = try RecordedStage { _, _, connection in connection.respond(octets: body) }
        try stage.record { (proxy) throws in #expect(try stage.ask(proxy, "/large").body == body) }
        stage.origin.stop()
        let proxy = try stage.replaying()
        #expect(try stage.ask(proxy, "/large").body == body)
        let part = try stage.ask(proxy, "/large", fields: "Range: bytes=1000000-3999999\r\n")
        #expect(part.status == 206 && part.body == Array(body[1_000_000..<4_000_000]))
        let parts = try stage.ask(proxy, "/large", fields: "Range: bytes=0-1,4999998-4999999\r\n")
        #expect(parts.status == 206 && parts["Content-Type"]?.hasPrefix("multipart/byteranges") == true)
    }

    @Test("A client that does not accept the content coding gets the decoded content")
    func takesCodingsOff() throws {
        let stage = try RecordedStage { _, _, connection in
            connection.respond(
                fields: "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n", octets: Gzip.pack(Array("plain".utf8)))
        }
        try stage.record { _ = try stage.ask($0, "/a", fields: "Accept-Encoding: gzip\r\n") }
        let proxy = try stage.replaying()
        let encoded = try stage.ask(proxy, "/a", fields: "Accept-Encoding: gzip, br\r\n")
        #expect(encoded["Content-Encoding"] == "gzip" && encoded.body == Gzip.pack(Array("plain".utf8)))
        let plain = try stage.ask(proxy, "/a", fields: "Accept-Encoding: gzip;q=0, identity\r\n")
        #expect(plain["Content-Encoding"] == nil && plain.text == "plain")
        #expect(try stage.ask(proxy, "/a", fields: "Accept-Encoding: br\r\n").text == "plain")
    }

    @Test("A tunnel and a protocol switch get 504, and Larder connects to nothing (T20)")
    func closesTheGate() throws {
        let stage = try RecordedStage()
        try stage.record { _ = try stage.ask($0, "/a") }
        let connections = stage.origin.connectionCount
        let proxy = try stage.replaying()
        let client = try RawClient(port: proxy.port)
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        let tunnel = try client.readResponse(to: "CONNECT")
        #expect(tunnel.status == 504 && tunnel.code == "offline_miss" && tunnel.detail == "tunnel")
        let upgrade = try stage.ask(proxy, "/a", fields: "Connection: Upgrade\r\nUpgrade: websocket\r\n")
        #expect(upgrade.status == 504 && upgrade.code == "offline_miss")
        for url in ["http://nowhere.invalid/", "https://nowhere.invalid/"] {
            let client = try RawClient(port: proxy.port)
            client.send("GET \(url) HTTP/1.1\r\nHost: nowhere.invalid\r\n\r\n")
            #expect(try client.readResponse().code == "offline_miss")
        }
        #expect(stage.origin.connectionCount == connections)
    }

    @Test("Replay sources are searched in their order; the store is the last one, whatever the age of its responses")
    func asksLayersInOrder() throws {
        let stage = try RecordedStage { request, _, connection in
            connection.respond(fields: "Cache-Control: max-age=1\r\n", body: "stored \(request.target)")
        }
        let second = "\(stage.folder.path)/second.larder"
        try stage.record { _ = try stage.ask($0, "/one") }
        try stage.record(terms: { $0.path = second }) { proxy in
            for path in ["/one", "/two"] { _ = try stage.ask(proxy, path) }
        }
        let proxy = try TestProxy("", storePath: nil)
        defer { proxy.stop() }
        _ = try stage.ask(proxy, "/three")
        let layers = try Recorder.layers([stage.path, second])
        try proxy.reload("mode: replay\nreplay: {layers: [x, cache]}") { $0.layers = layers }
        proxy.pass(seconds: 86_400)
        #expect(try stage.ask(proxy, "/one").cacheStatus.hasSuffix("\"replay test.larder\""))
        #expect(try stage.ask(proxy, "/two").cacheStatus.hasSuffix("\"replay second.larder\""))
        let stored = try stage.ask(proxy, "/three")
        #expect(stored.text == "stored /three" && stored.cacheStatus.hasSuffix("detail=offline"))
        let missing = try stage.ask(proxy, "/four")
        #expect(missing.status == 504 && missing.code == "offline_miss")
        let nearest = try missing.json["nearest"] ?? ""
        #expect("\(nearest)".contains("/one"), "what comes near is told behind the store too")
    }

    @Test("A repeated request gets the same response again; other recordings and other requests do not get it")
    func remembers() throws {
        let says = Counter()
        let stage = try RecordedStage { request, _, connection in
            connection.respond(
                fields: "Vary: Accept-Language\r\nETag: \"e\"\r\nAge: 7\r\n", body: "\(request.target) \(says.next())")
        }
        let second = "\(stage.folder.path)/second.larder"
        for (path, languages) in [(stage.path, ["en", "de"]), (second, ["en"])] {
            try stage.record(terms: { $0.path = path }) { proxy in
                for language in languages { _ = try stage.ask(proxy, "/a", fields: "Accept-Language: \(language)\r\n") }
            }
        }
        stage.origin.stop()
        let proxy = try stage.replaying()
        for _ in 0..<3 {
            for (language, text) in [("en", "/a 1"), ("de", "/a 2")] {
                let answer = try stage.ask(proxy, "/a", fields: "Accept-Language: \(language)\r\n")
                #expect(answer.text == text && answer.cacheStatus.hasSuffix("\"replay test.larder\""))
                // The Age of 7 s, and the time that the response took.
                #expect((7...12).contains(answer["Age"].flatMap { Int($0) } ?? -1))
                let range = try stage.ask(proxy, "/a", fields: "Accept-Language: \(language)\r\nRange: bytes=0-1\r\n")
                #expect(range.status == 206 && range.text == "/a")
            }
            #expect(try stage.ask(proxy, "/a", fields: "Accept-Language: fr\r\n").detail == "varies")
            // The age of a replayed response does not grow with time.
            proxy.pass(seconds: 60)
        }
        let layers = try Recorder.layers([second])
        try proxy.reload("mode: replay\nreplay: {layers: [x]}") { $0.layers = layers }
        try eventually { try stage.ask(proxy, "/a", fields: "Accept-Language: en\r\n").text == "/a 3" }
        #expect(layers.usedPlaces == [[0]])
    }

    @Test(
        "A replayed response has the Age it had when it was recorded, on first and repeated requests",
        arguments: [false, true])
    func tellsAge(movesDates: Bool) throws {
        let answers = [
            "/none": "", "/age": "Age: 7\r\n", "/date": "Date: NOW\r\n", "/both": "Date: NOW\r\nAge: 7\r\n",
            "/fresh": "Date: NOW\r\nCache-Control: max-age=60\r\n",
        ]
        let stage = try RecordedStage { request, _, connection in
            var now: [UInt8] = []
            HTTPDate.write(Timestamp(seconds: Int64(Date().timeIntervalSince1970)), into: &now)
            let fields = (answers[request.target] ?? "").replacing("NOW", with: String(decoding: now, as: UTF8.self))
            return connection.respond(fields: fields, body: request.target)
        }
        let paths = answers.keys.sorted()
        try stage.record { proxy in for path in paths { _ = try stage.ask(proxy, path) } }
        stage.origin.stop()
        let proxy = try stage.replaying { $0.movesDates = movesDates }
        for round in 0..<3 {
            for path in paths {
                let least = ["/age", "/both"].contains(path) ? 7 : 0
                // The second identical request is answered from memory; a request with another field never is.
                for fields in ["", "", "X-Round: \(round)\r\n"] {
                    let age = try stage.ask(proxy, path, fields: fields)["Age"].flatMap { Int($0) } ?? -1
                    // A second may end between the origin's Date and the response's arrival.
                    #expect((least...(least + 5)).contains(age), "\(path), round \(round), \(fields): \(age)")
                }
            }
            proxy.pass(seconds: 60)
        }
    }

    @Test("Secrets are forwarded unchanged, are not in the recording, and match only themselves under the project's key")
    func putsSecretsOut() throws {
        let stage = try RecordedStage { request, _, connection in
            let isKnown = request.head.contains("Bearer planted-secret-planted-secret")
            return connection.respond(fields: "Set-Cookie: session=planted-cookie-planted\r\n", body: isKnown ? "in" : "out")
        }
        let planted = "Authorization: Bearer planted-secret-planted-secret\r\n"
        try stage.record { (proxy) throws in #expect(try stage.ask(proxy, "/a", fields: planted).text == "in") }
        let octets = try Data(contentsOf: URL(filePath: stage.path))
        for word in ["planted-secret", "planted-cookie"] { #expect(octets.range(of: Data(word.utf8)) == nil) }
        let keyed = try stage.replaying()
        #expect(try stage.ask(keyed, "/a", fields: planted).text == "in")
        let other = try stage.ask(keyed, "/a", fields: "Authorization: Bearer another-secret-another-secret\r\n")
        #expect(other.status == 504 && other.detail == "other_secret")
        let keyless = try stage.replaying { $0.key = nil }
        #expect(try stage.ask(keyless, "/a", fields: "Authorization: Bearer another-secret-another-secret\r\n").text == "in")
    }

    @Test(
        "A failure before a response is replayed as a failure or as a miss, as the setting says",
        arguments: [ReplaySources.FailureReplay.same, .miss])
    func replaysFailures(failures: ReplaySources.FailureReplay) throws {
        let stage = try RecordedStage { _, _, _ in false }
        let summary = try stage.record { (proxy) throws in
            #expect(try stage.ask(proxy, "/gone", method: "POST", body: "x").status == 502)
        }
        #expect(summary.counts.recorded == 1 && summary.counts.failures == 1)
        let proxy = try stage.replaying { $0.failures = failures }
        let response = try stage.ask(proxy, "/gone", method: "POST", body: "x")
        #expect(response.status == (failures == .same ? 502 : 504))
        #expect(failures == .same || response.code == "offline_miss")
    }

    /// Responses whose content ends before its declared end.
    private static let brokenAnswers: [(head: String, content: String)] = [
        ("Content-Length: 10\r\n", "half"), ("Content-Length: 10\r\n", ""),
        ("Content-Length: 600000\r\n", String(repeating: "x", count: 300_000)),
        ("Transfer-Encoding: chunked\r\n", "4\r\nhalf\r\n"),
        ("Content-Type: application/json\r\nContent-Length: 10\r\n", "{\"a\""),
    ]

    @Test(
        "A body that ended early is replayed up to the same byte and then cut off, for every kind of request", arguments: 0..<5
    )
    func replaysBrokenBodies(index: Int) throws {
        let (fields, content) = Self.brokenAnswers[index]
        let stage = try RecordedStage { _, _, connection in
            _ = connection.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\(fields)\r\n\(content)")
            return false
        }
        func ask(_ proxy: TestProxy, fields: String = "") throws -> (head: ReceivedResponse, rest: [UInt8]) {
            let client = try RawClient(port: proxy.port)
            client.send(stage.head("POST", "/cut", fields: "Content-Length: 0\r\n" + fields))
            let head = try client.readHead()
            // If nothing else shows that content is missing, the connection ends with a reset.
            return (head, (try? client.readToEnd()) ?? [])
        }
        var then: (head: ReceivedResponse, rest: [UInt8])?
        let summary = try stage.record { then = try ask($0) }
        #expect(summary.counts.failures == 1 && summary.failure == nil)
        stage.origin.stop()
        let proxy = try stage.replaying()
        for fields in ["", "Range: bytes=0-1\r\n", "If-None-Match: \"e\"\r\n"] {
            let now = try ask(proxy, fields: fields)
            #expect(now.head.status == 200 && now.rest == then?.rest, "\(fields)")
            for name in ["Content-Length", "Transfer-Encoding", "ETag"] { #expect(now.head[name] == then?.head[name]) }
        }
        #expect(try stage.ask(proxy, "/other").code == "offline_miss")
        #expect(try proxy.logLines()[0].contains(#""error":"response_incomplete""#))
    }

    @Test("A HEAD response is replayed with a Content-Length exactly if it was recorded with one")
    func replaysHeads() throws {
        let stage = try RecordedStage { request, _, connection in
            let length = request.target == "/told" ? "Content-Length: 7\r\n" : ""
            return connection.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\(length)\r\n")
        }
        try stage.record { proxy in
            for path in ["/told", "/untold"] { _ = try stage.ask(proxy, path, method: "HEAD") }
        }
        let proxy = try stage.replaying()
        let untold = try stage.ask(proxy, "/untold", method: "HEAD")
        #expect(untold.status == 200 && untold["Content-Length"] == nil && untold["ETag"] == "\"e\"")
        #expect(try stage.ask(proxy, "/told", method: "HEAD")["Content-Length"] == "7")
    }

    @Test("A request in flight during a mode change is answered and recorded in its own mode, and the recording waits for it")
    func switchesInMidst() throws {
        let (arrived, answers) = (Gate(), Gate())
        let stage = try RecordedStage { request, _, connection in
            guard request.target == "/slow" else { return connection.respond(body: request.target) }
            arrived.open()
            _ = answers.wait()
            return connection.respond(body: "slow")
        }
        let file = try Recorder.file(stage.path)
        let proxy = try TestProxy("mode: record\nrecord: {file: x}", change: { $0.recording = file })
        let client = try RawClient(port: proxy.port)
        client.send(stage.head("GET", "/slow"))
        #expect(arrived.wait())
        try proxy.reload("mode: live")
        #expect(try stage.ask(proxy, "/live").cacheStatus.contains("fwd=uri-miss"))
        let (unused, uses) = (Gate(), Counter())
        file.whenUnused {
            uses.next()
            unused.open()
        }
        #expect(uses.value == 0)
        answers.open()
        #expect(try client.readResponse().cacheStatus == "Larder; fwd=bypass; detail=record")
        #expect(unused.wait())
        try Recorder.finish(file)
        #expect(file.summary.counts.recorded == 1 && file.summary.isComplete)
        proxy.stop()
        // The same for a replayed response: the request's content arrives after the mode change.
        let layers = try Recorder.layers([stage.path])
        let replaying = try TestProxy("mode: replay\nreplay: {layers: [x]}", change: { $0.layers = layers })
        defer { replaying.stop() }
        let late = try RawClient(port: replaying.port)
        late.send(stage.head("GET", "/slow", fields: "Expect: 100-continue\r\nContent-Length: 1\r\n"))
        #expect(try late.readHead().status == 100)
        try replaying.reload("mode: live")
        #expect(try stage.ask(replaying, "/live").status == 200)
        late.send("x")
        let answer = try late.readResponse()
        let nearest = try answer.json["nearest"] ?? ""
        #expect(answer.code == "offline_miss" && "\(nearest)".contains("/slow"))
    }

    @Test("record_missing replays recorded responses and records the others")
    func recordsWhatIsMissing() throws {
        let count = Counter()
        let stage = try RecordedStage { request, _, connection in connection.respond(body: "\(request.target) \(count.next())") }
        try stage.record { _ = try stage.ask($0, "/a") }
        let layers = try Recorder.layers([stage.path])
        let file = try Recorder.file(stage.path) { $0.existing = .append }
        let proxy = try TestProxy(
            "mode: record_missing\nrecord: {file: x}",
            change: {
                $0.layers = layers
                $0.recording = file
            })
        #expect(try stage.ask(proxy, "/a").text == "/a 1")
        #expect(try stage.ask(proxy, "/b").text == "/b 2")
        proxy.stop()
        try Recorder.finish(file)
        stage.origin.stop()
        let replaying = try stage.replaying()
        #expect(try stage.ask(replaying, "/a").text == "/a 1")
        #expect(try stage.ask(replaying, "/b").text == "/b 2")
    }

    @Test("Request bodies distinguish recordings: up to 8 MiB by their content, longer ones by their digest")
    func gathersBodies() throws {
        let stage = try RecordedStage { _, body, connection in connection.respond(body: "\(body.count)") }
        let fits = String(repeating: "x", count: 300_000)
        let long = String(repeating: "y", count: 9 << 20)
        let summary = try stage.record { (proxy) throws in
            for body in [fits, long] {
                #expect(try stage.ask(proxy, "/a", method: "POST", body: body).text == "\(body.utf8.count)")
            }
        }
        #expect(summary.counts.recorded == 2 && summary.isComplete)
        stage.origin.stop()
        let proxy = try stage.replaying()
        for body in [fits, long] { #expect(try stage.ask(proxy, "/a", method: "POST", body: body).text == "\(body.utf8.count)") }
        for body in [fits + "x", long + "y", String(long.dropLast()) + "z"] {
            #expect(try stage.ask(proxy, "/a", method: "POST", body: body).code == "offline_miss")
        }
    }

    @Test("Buffered request bodies are bounded together: the next request gets 503, and succeeds once there is memory")
    func boundsGatheredBodies() throws {
        let stage = try RecordedStage { _, body, connection in connection.respond(body: "\(body.count)") }
        let summary = try stage.record(change: { $0.proxyLimits.gatheredRequestBytes = 1 << 20 }) { proxy in
            let body = String(repeating: "x", count: 3 << 20)
            try eventually {
                // Two thirds of the first body use up all memory once they arrive. If the second request is earlier, the test tries again.
                let first = try RawClient(port: proxy.port)
                first.send(stage.head("POST", "/first", fields: "Content-Length: \(body.utf8.count)\r\n") + body.prefix(2 << 20))
                let second = try stage.ask(proxy, "/second", method: "POST", body: "y")
                guard second.status == 503 else { return false }
                #expect(second.code == "request_bodies_full" && second["Retry-After"] == "1")
                first.send(String(body.dropFirst(2 << 20)))
                #expect(try first.readResponse(to: "POST").text == "\(3 << 20)")
                return true
            }
            #expect(try stage.ask(proxy, "/third", method: "POST", body: "y").text == "1")
        }
        #expect(summary.failure == nil)
    }

    @Test("A recording failure is reported once, when it happens")
    func tellsFailure() throws {
        let stage = try RecordedStage { _, _, connection in
            connection.respond(fields: "Content-Type: application/json\r\nContent-Encoding: unknown\r\n", body: "sealed")
        }
        let (isTold, told) = (Gate(), Counter())
        let file = try Recorder.file(stage.path) {
            $0.report = { _ in
                told.next()
                isTold.open()
            }
        }
        let proxy = try TestProxy("mode: record\nrecord: {file: x}", change: { $0.recording = file })
        defer { proxy.stop() }
        for path in ["/a", "/b"] { #expect(try stage.ask(proxy, path).text == "sealed") }
        #expect(isTold.wait())
        try eventually { file.summary.failure?.contains("cannot be searched") == true }
        #expect(told.value == 1 && !file.summary.isComplete)
    }

    @Test("A body of finite length is recorded to its end after its client has left")
    func recordsBehindClients() throws {
        let body = PatternBytes.make(3_000_000, seed: 2)
        let stage = try RecordedStage { _, _, connection in connection.respond(octets: body) }
        let file = try Recorder.file(stage.path)
        let proxy = try TestProxy("mode: record\nrecord: {file: x}", change: { $0.recording = file })
        var client: RawClient? = try RawClient(port: proxy.port)
        client?.send(stage.head("GET", "/large"))
        #expect(try client?.readHead().status == 200)
        client = nil
        try eventually { file.summary.counts.recorded > 0 }
        proxy.stop()
        try Recorder.finish(file)
        #expect(try stage.ask(stage.replaying(), "/large").body == body)
    }
}
