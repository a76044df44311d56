import TestSupport
import Testing

@Suite("Partly stored responses (RFC 9111 §3.3, §3.4)")
struct PartialContentTests {
    private static let length = 3_000_000
    private static let body = PatternedBody(length: length)

    private func stage(_ plan: RangedOrigin.Plan = RangedOrigin.Plan()) throws -> (Stage, RangedOrigin) {
        let origin = RangedOrigin(Self.body, plan)
        return (try Stage(origin, storePath: nil), origin)
    }

    /// Fetches a range. A later request for it finds it stored.
    @discardableResult
    private func fetch(_ range: ClosedRange<Int>, _ stage: Stage) throws -> ReceivedResponse {
        let response = try stage.fetch("/x", fields: "Range: bytes=\(range.lowerBound)-\(range.upperBound)\r\n")
        #expect(response.status == 206)
        #expect(response["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound)/\(Self.length)")
        #expect(response.body == Self.body.bytes(range.lowerBound..<range.upperBound + 1))
        return response
    }

    private func expectWhole(_ stage: Stage) throws {
        let response = try stage.fetch("/x")
        #expect(response.status == 200)
        #expect(response["Content-Range"] == nil)
        #expect(response["Content-Type"] == "text/x")
        #expect(response.body == Self.body.bytes(0..<Self.length))
    }

    @Test("Ranges are stored and combined: stored bytes are not requested again, only the missing ones")
    func joins() throws {
        let (stage, origin) = try stage()
        try fetch(0...999_999, stage)
        try fetch(2_000_000...2_499_999, stage)
        // All of the range is stored.
        #expect(try fetch(500_000...599_999, stage).cacheStatus.contains("hit"))
        #expect(stage.requestCount() == 2)
        // The beginning of the range is stored.
        #expect(try fetch(900_000...1_499_999, stage).cacheStatus.contains("fwd=partial"))
        #expect(stage.askedRanges.last == "bytes=1000000-1499999")
        // Larder requests the rest to the end, although some bytes in between are stored.
        try expectWhole(stage)
        #expect(stage.askedRanges.last == "bytes=1500000-2999999")
        try stage.waitUntilStored("/x")
        let before = origin.sentCount
        try expectWhole(stage)
        try fetch(10...2_999_990, stage)
        #expect(origin.sentCount == before)
        #expect(stage.requestCount() == 4)
    }

    @Test("The next request completes a body that ended early, and asks only for the rest")
    func completes() throws {
        var plan = RangedOrigin.Plan()
        plan.sends = { $0 == 1 ? 1_000_000 : $0 <= 4 ? 0 : .max }
        let (stage, _) = try stage(plan)
        let client = try stage.client()
        client.send(stage.head("GET", "/x"))
        _ = try client.readHead()
        let received = try? client.read(Self.body, count: Self.length)  // a reset is as good as a short end
        #expect(received ?? 0 <= 1_000_000)
        try expectWhole(stage)
        #expect(stage.askedRanges.last == "bytes=1000000-2999999")
        try stage.waitUntilStored("/x")
        try expectWhole(stage)
        #expect(stage.requestCount() == 5)
    }

    @Test("If the origin has another representation, it is sent complete: nothing is mixed, and nothing old is served")
    func replaces() throws {
        var plan = RangedOrigin.Plan()
        plan.entityTag = { $0 == 1 ? "\"v1\"" : "\"v2\"" }
        let (stage, _) = try stage(plan)
        try fetch(0...999_999, stage)
        let response = try stage.fetch("/x")
        #expect(response["ETag"] == "\"v2\"")
        #expect(response.body == Self.body.bytes(0..<Self.length))
        #expect(stage.askedRanges.last == "bytes=1000000-2999999")
        try stage.waitUntilStored("/x")
        #expect(try fetch(0...9, stage)["ETag"] == "\"v2\"")
        #expect(stage.requestCount() == 2)
    }

    @Test("A request right after a range finds it stored: no byte of it is requested twice")
    func findsAtOnce() throws {
        let (stage, origin) = try stage()
        let client = try stage.client()
        for number in 0..<5 {
            client.send(stage.head("GET", "/x", fields: "Range: bytes=\(number * 500_000)-\(number * 500_000 + 499_999)\r\n"))
            #expect(try client.readResponse().status == 206)
        }
        client.send(stage.head("GET", "/x"))
        #expect(try client.readResponse().body == Self.body.bytes(0..<Self.length))
        #expect(stage.askedRanges.last == "bytes=2500000-2999999")
        #expect(origin.sentCount == Self.length)
    }

    @Test("If the fetch of the missing bytes is interrupted, Larder resumes it")
    func continuesCompletion() throws {
        var plan = RangedOrigin.Plan()
        plan.sends = { $0 == 2 ? 500_000 : .max }
        let (stage, _) = try stage(plan)
        try fetch(0...999_999, stage)
        try expectWhole(stage)
        #expect(stage.askedRanges == ["bytes=0-999999", "bytes=1000000-2999999", "bytes=1500000-"])
    }

    @Test(
        "A range that may not be stored, or cannot be combined safely, is not stored",
        arguments: ["Cache-Control: no-store\r\n", "Cache-Control: private\r\n", "weak"])
    func keepsNothing(fields: String) throws {
        var plan = RangedOrigin.Plan()
        if fields == "weak" { plan.entityTag = { _ in "W/\"v1\"" } } else { plan.fields = fields }
        let (stage, _) = try stage(plan)
        for _ in 0..<2 { try fetch(0...99_999, stage) }
        #expect(stage.askedRanges == ["bytes=0-99999", "bytes=0-99999"])
        #expect(!stage.proxy.store.hasPartials)
    }

    @Test("An invalidated part is not used")
    func invalidates() throws {
        let (stage, _) = try stage()
        try fetch(0...999_999, stage)
        #expect(try stage.fetch("/x", method: "DELETE").status == 200)
        try fetch(0...99, stage)
        #expect(stage.requestCount() == 3)
    }

    @Test(
        "A 304 to a client's own condition freshens a stored part, and so does a HEAD",
        arguments: [("GET", "If-None-Match: \"v1\"\r\n"), ("HEAD", "")])
    func freshens(method: String, fields: String) throws {
        let stage = try updatedStage(tag: "\"v1\"")
        try fetch(0...999_999, stage)
        stage.proxy.pass(seconds: 700)
        #expect(try stage.fetch("/x", method: method, fields: fields).status == (method == "GET" ? 304 : 200))
        let response = try fetch(0...99, stage)
        #expect(response.cacheStatus.contains("hit"))
        #expect(response["X-Update"] == "1")
        #expect(stage.requestCount() == 2)
    }

    @Test("A 304 with another entity tag leaves the stored part unchanged, and a HEAD response removes it")
    func outdates() throws {
        let stage = try updatedStage(tag: "\"v2\"")
        try fetch(0...999_999, stage)
        #expect(try stage.fetch("/x", fields: "If-None-Match: \"v1\"\r\n").status == 304)
        let response = try fetch(0...99, stage)
        #expect(response.cacheStatus.contains("hit"))
        #expect(response["X-Update"] == nil)
        #expect(try stage.fetch("/x", method: "HEAD").status == 200)
        #expect(try !fetch(0...99, stage).cacheStatus.contains("hit"))
        #expect(stage.askedRanges.last == "bytes=0-99")
    }

    /// An origin that answers conditions and HEAD with this entity tag and a field of its own.
    private func updatedStage(tag: String) throws -> Stage {
        let origin = RangedOrigin(Self.body)
        return try Stage(storePath: nil) { request, connection in
            let isCondition = request["If-None-Match"] != nil
            guard isCondition || request.method == "HEAD" else { return origin.answer(request, on: connection) }
            let status = isCondition ? "304 Not Modified" : "200 OK"
            connection.send("HTTP/1.1 \(status)\r\nCache-Control: max-age=600\r\nETag: \(tag)\r\nX-Update: 1\r\n\r\n")
            return true
        }
    }

    @Test("Sixteen clients with a range each, and one for the complete body: the origin sends each byte once")
    func sharesRanges() throws {
        let (stage, origin) = try stage()
        let step = Self.length / 16
        let clients = try (0..<16).map { _ in try stage.client() }
        for (number, client) in clients.enumerated() {
            client.send(stage.head("GET", "/x", fields: "Range: bytes=\(number * step)-\((number + 1) * step - 1)\r\n"))
        }
        for (number, client) in clients.enumerated() {
            #expect(try client.readResponse().body == Self.body.bytes(number * step..<(number + 1) * step))
        }
        try stage.waitUntilStored("/x")
        try expectWhole(stage)
        #expect(origin.sentCount == Self.length)
        #expect(stage.requestCount() == 16)
    }

    @Test("A range and the complete body, requested at once with an empty store, damage nothing in the store")
    func storesBothAtOnce() throws {
        let gate = Gate()
        var plan = RangedOrigin.Plan()
        plan.waits = { $0 == 1 ? nil : (behind: 0, gate: gate) }
        let body = PatternedBody(length: 5000)
        let stage = try Stage(RangedOrigin(body, plan), storePath: nil)
        _ = try stage.fetch("/other")
        let clients = try (0..<2).map { _ in try stage.client() }
        for (client, fields) in zip(clients, ["Range: bytes=0-\r\n", ""]) { client.send(stage.head("GET", "/x", fields: fields)) }
        for client in clients { _ = try client.readHead() }
        gate.open()
        for client in clients { #expect(try client.read(body, count: 5000) == 5000) }
        let store = stage.proxy.store
        store.shutdown()
        #expect(store.statistics.damagedFiles == 0)
        #expect(store.statistics.entries == 2)
    }
}
