import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: batches, resources, curl commands")
struct ResourceTests {
    @Test("A batch reports each result, including failures, and the total; an empty batch ends at once", arguments: [1, 2, 8])
    func runsBatches(atOnce: Int) async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            request.target == "/cut"
                ? false : connection.respond(request.target == "/3" ? "404 No" : "200 OK", body: request.target)
        }
        defer { origin.stop() }
        let runner = BatchRunner(try HTTPSession.plain(), atOnce: atOnce)
        let requests = ["/1", "/cut", "/3", "/4"].map { SessionRequest(.get, origin.uri($0)) }
        var finished: [Int] = []
        for await step in runner.steps(requests) {
            finished.append(step.finished)
            #expect(step.total == 4)
        }
        #expect(finished == [1, 2, 3, 4])
        #expect(origin.peakOpenCount <= atOnce + 1)
        let results = await runner.all(requests)
        #expect(results.map { (try? $0.get().status) ?? 0 } == [200, 0, 404, 200])
        for await _ in runner.steps([]) { Issue.record("a step of nothing") }
        #expect(await runner.all([]).isEmpty)
    }

    @Test("Above its capacity the cache evicts the least recently used values, down to the preferred cost")
    func limitsCosts() {
        let cache = CostLimitedCache<Int, String>(capacity: 100, preferredAfterPurge: 60)
        for key in 0..<10 { cache.insert("\(key)", for: key, cost: 10) }
        #expect(cache.count == 10)
        #expect(cache.value(for: 0) == "0")
        cache.insert("10", for: 10, cost: 10)
        #expect(cache.cost == 60)
        #expect([0, 6, 7, 8, 9, 10].allSatisfy { cache.value(for: $0) != nil })
        cache.insert("again", for: 10, cost: 5)
        #expect(cache.cost == 55)
        #expect(cache.remove(10) && !cache.remove(10))
        #expect(cache.removeAll() && !cache.removeAll())
        cache.insert("large", for: 1, cost: 101)
        #expect(cache.count == 0 && cache.cost == 0)
    }

    @Test("Callers of the same resource share one transfer; cancelling one does not affect the others, cancelling all ends it")
    func sharesLoads() async throws {
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            while let head = connection.readHead() {
                if OriginRequest(head: head).target == "/slow" {
                    _ = connection.isLetGo()
                    return
                }
                gate.wait()
                connection.respond(body: "value")
            }
        }
        defer { origin.stop() }
        let loader = ResourceLoader(try HTTPSession.plain()) { $0.text }
        let uri = origin.uri("/one")
        let tasks = (0..<10).map { _ in Task { try await loader.value(uri) } }
        try await until { !origin.requestHeads.isEmpty && loader.callers == 10 }
        tasks[0].cancel()
        #expect(try await HTTPSession.failure { try await tasks[0].value }.code == .cancelled)
        gate.open()
        for task in tasks.dropFirst() { #expect(try await task.value == "value") }
        #expect(try await loader.value(uri) == "value")
        #expect(origin.requestHeads.count == 1)
        let slow = origin.uri("/slow")
        let last = (0..<2).map { _ in Task { try await loader.value(slow) } }
        try await until { origin.requestHeads.count == 2 && loader.callers == 2 }
        for task in last { task.cancel() }
        for task in last { _ = await task.result }
        // The loader learns of the end of a transfer after the origin does.
        try await until { origin.openCount <= 1 && loader.counts.active == 0 }
    }

    @Test("A caller that arrives as a transfer ends does not start a second one")
    func sharesAtTheEnd() async throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        defer { origin.stop() }
        let loader = ResourceLoader(try HTTPSession.plain()) { $0.text }
        for number in 0..<200 {
            let uri = origin.uri("/\(number)")
            try await withThrowingTaskGroup(of: String.self) { group in
                // Some begin before the transfer ends, some as it ends, some after it.
                for caller in 0..<40 {
                    group.addTask {
                        for _ in 0..<(caller * 4) { await Task.yield() }
                        return try await loader.value(uri)
                    }
                }
                for try await value in group { #expect(value == "/\(number)") }
            }
            #expect(origin.requestHeads.count == number + 1)
        }
    }

    @Test("A limited number of loads runs at once; the others follow in the configured order", arguments: [true, false])
    func ordersLoads(firstCome: Bool) async throws {
        let gate = Gate()
        let origin = ScriptedOrigin.answering { request, connection in
            if request.target == "/0" { gate.wait() }
            return request.target == "/2" ? connection.respond("404 No") : connection.respond(body: request.target)
        }
        defer { origin.stop() }
        let loader = ResourceLoader(
            try HTTPSession.plain(), atOnce: 1, order: firstCome ? .firstComeFirstServed : .lastComeFirstServed
        ) { $0.text }
        var tasks: [Task<String, any Error>] = []
        for number in 0..<4 {
            let uri = origin.uri("/\(number)")
            tasks.append(Task { try await loader.value(uri) })
            try await until { loader.counts.active + loader.counts.waiting == number + 1 }
        }
        gate.open()
        for task in tasks { _ = await task.result }
        let order = origin.requestHeads.map { OriginRequest(head: $0).target }
        #expect(order == (firstCome ? ["/0", "/1", "/2", "/3"] : ["/0", "/3", "/2", "/1"]))
        #expect(try await HTTPSession.failure { try await tasks[2].value }.code == .unacceptableStatus)
    }

    @Test("A quote with a combining mark does not end a word of the curl command")
    func quotesCombinedQuotes() throws {
        let session = try HTTPSession.plain { $0.defaultFields = [:] }
        let value = "'\u{301}; echo ran; '\u{301}"
        let request = SessionRequest(.post, "http://h/", body: .octets(Array(value.utf8)))
        let line = try session.curlCommand(for: request).get()
        let words = try Shell.output(of: "curl() { printf '%s\\n' \"$@\"; }\n\(line)")
        #expect(words.split(separator: "\n").contains(Substring(value)), "\(words)")
    }

    @Test("The curl command is quoted so that no text ends its word, and contains no secret")
    func describesByCurl() throws {
        let session = try HTTPSession.plain { $0.defaultFields = [:] }
        let request = SessionRequest(
            .post, "http://h/a'b?q=$(x)", fields: ["Authorization": "Bearer s3cret", "X-A": "it's; `x`", "X-Empty": ""],
            body: .octets(Array("@a'b\n$HOME".utf8)))
        let line = try session.curlCommand(for: request).get()
        #expect(line.contains("'http://h/a'\\''b?q=$(x)'"))
        #expect(line.contains("'X-A: it'\\''s; `x`'"))
        #expect(line.contains("'X-Empty;'"))
        #expect(line.contains("--data-raw '@a'\\''b\n$HOME'"))
        #expect(!line.contains("s3cret"))
        #expect(try session.curlCommand(for: request, revealing: true).get().contains("s3cret"))
        #expect(throws: SessionError.self) { try session.curlCommand(for: SessionRequest(.get, "no")).get() }
    }

    @Test("The curl command sends the same request as the session")
    func replaysByCurl() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            return connection.respond(
                body: "\(request.lines.map { "\($0.name): \($0.value)" }.sorted()) \(request.target) \(body)")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        for body in [RequestBody.octets(Array("a=b&c='d'".utf8)), .octets([0, 1, 255, 10]), .octets(Array("@file".utf8))] {
            let request = SessionRequest(
                .post, origin.uri("/x?[y]=z"), fields: ["X-A": "it's", "Authorization": "Bearer t"], body: body)
            let own = try await session.send(request).text
            let line = try session.curlCommand(for: request, revealing: true).get()
            #expect(try Shell.output(of: line.replacing("curl ", with: "curl --silent ", maxReplacements: 1)) == own)
        }
    }
}
