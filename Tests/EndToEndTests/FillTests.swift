import TestSupport
import Testing

@Suite("Fetching the rest of a range for the store, if a rule says so (RFC 9111 §3.4)")
struct FillTests {
    private static let length = 1_000_000
    private static let body = PatternedBody(length: length)
    private static let rule = "rules: [{name: whole, match: {path: /x}, cache: {fill: true}}]"

    private func stage(_ plan: RangedOrigin.Plan = RangedOrigin.Plan(), _ yaml: String = Self.rule) throws -> (
        Stage, RangedOrigin
    ) {
        let origin = RangedOrigin(Self.body, plan)
        return (try Stage(origin, yaml, storePath: nil), origin)
    }

    private func fetch(_ range: Range<Int>, _ stage: Stage, fields: String = "") throws {
        let response = try stage.fetch(
            "/x", fields: "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)\r\n" + fields)
        #expect(response.status == 206)
        #expect(response.body == Self.body.bytes(range))
    }

    @Test(
        "The missing bytes are requested once, with If-Range, and then the complete body is a hit",
        arguments: [
            (0..<100_000, ["bytes=100000-999999"]), (900_000..<1_000_000, ["bytes=0-899999"]),
            (300_000..<400_000, ["bytes=0-299999", "bytes=400000-999999"]),
        ])
    func fills(range: Range<Int>, rest: [String]) throws {
        let (stage, origin) = try stage()
        try fetch(range, stage)
        try stage.waitUntilStored("/x")
        let whole = try stage.fetch("/x")
        #expect(whole.status == 200 && whole.body == Self.body.bytes(0..<Self.length))
        #expect(whole.cacheStatus.contains("hit"))
        #expect(stage.askedRanges.dropFirst().compactMap { $0 } == rest)
        #expect(stage.origin.requestHeads.dropFirst().allSatisfy { OriginRequest(head: $0)["If-Range"] == "\"v1\"" })
        #expect(origin.sentCount == Self.length)
        let lines = try stage.proxy.logLines().filter { $0.contains("\"status\":0") }
        #expect(lines.count == rest.count)
        #expect(lines.allSatisfy { $0.contains("\"cache\":\"background\"") && $0.contains("\"reuse\":\"fill\"") })
    }

    @Test("Each fetch of missing bytes counts once under the limit of its rule")
    func countsFills() throws {
        // The request for the middle counts, and so do the two fetches of the other bytes.
        let limited = "rules: [{name: whole, match: {path: /x}, cache: {fill: true}, limit: {requests: 4, within: run}}]"
        let (stage, _) = try stage(RangedOrigin.Plan(), limited)
        try fetch(300_000..<400_000, stage)
        try stage.waitUntilStored("/x")
        #expect(try stage.fetch("/x").body.count == Self.length)
        #expect(try stage.fetch("/x").code == "quota_exceeded")
        #expect(stage.askedRanges.count == 3)
    }

    @Test("Ranges of several clients at once make the origin send each byte once")
    func fillsOnce() throws {
        let (stage, origin) = try stage()
        let clients = try (0..<4).map { _ in try stage.client() }
        // All clients are connected first, so that their requests arrive at the same time.
        for client in clients {
            client.send(stage.head("GET", "/x", fields: "Cache-Control: only-if-cached\r\n"))
            #expect(try client.readResponse().status == 504)
        }
        for (number, client) in clients.enumerated() {
            client.send(stage.head("GET", "/x", fields: "Range: bytes=\(number * 100_000)-\(number * 100_000 + 99_999)\r\n"))
        }
        for client in clients { #expect(try client.readResponse().status == 206) }
        try stage.waitUntilStored("/x")
        #expect(try stage.fetch("/x").body == Self.body.bytes(0..<Self.length))
        #expect(origin.sentCount == Self.length)
    }

    @Test("A request for the complete body during a fill reads the stored bytes, and then those of the fill")
    func sharesFill() throws {
        let (hasSentHead, release) = (Gate(), Gate())
        var plan = RangedOrigin.Plan()
        plan.waits = { number in
            guard number == 2 else { return nil }
            hasSentHead.open()
            return (200_000, release)
        }
        let (stage, origin) = try stage(plan)
        try fetch(0..<100_000, stage)
        try #require(hasSentHead.wait())
        stage.proxy.settle()
        let client = try stage.client()
        client.send(stage.head("GET", "/x"))
        let head = try client.readHead()
        #expect(head.status == 200 && head.cacheStatus.contains("; collapsed"))
        release.open()
        #expect(try client.read(Self.body, count: Self.length) == Self.length)
        #expect(origin.sentCount == Self.length && stage.requestCount() == 2)
    }

    @Test("If the origin has another representation, nothing of it is joined, and the fill is not repeated at once")
    func endsWhereChanged() throws {
        let hasSentHead = Gate()
        var plan = RangedOrigin.Plan()
        plan.entityTag = { $0 == 1 ? "\"v1\"" : "\"v2\"" }
        plan.sends = { number in
            if number == 2 { hasSentHead.open() }
            return .max
        }
        let (stage, _) = try stage(plan)
        try fetch(0..<100_000, stage)
        try #require(hasSentHead.wait())
        stage.proxy.settle()
        for _ in 0..<3 { try fetch(0..<1000, stage) }
        #expect(stage.requestCount() == 2)
        let whole = try stage.fetch("/x")
        #expect(whole["ETag"] == "\"v2\"" && whole.body == Self.body.bytes(0..<Self.length))
    }

    @Test(
        "Nothing is filled without a rule, if the client or the origin forbids storing, or if the body is too large to be stored",
        arguments: [
            ("", "", "Cache-Control: max-age=600\r\n"), (rule, "Cache-Control: no-store\r\n", "Cache-Control: max-age=600\r\n"),
            (rule, "", "Cache-Control: private, max-age=600\r\n"), (rule, "", "Cache-Control: no-store\r\n"),
            (
                "rules: [{name: whole, match: {path: /x}, cache: {fill: true, max_size: 999999}}]", "",
                "Cache-Control: max-age=600\r\n"
            ),
        ])
    func leavesAlone(yaml: String, request: String, response: String) throws {
        var plan = RangedOrigin.Plan()
        plan.fields = response
        let (stage, _) = try stage(plan, yaml)
        for number in 1...3 { try fetch(number * 1000..<number * 1000 + 500, stage, fields: request) }
        #expect(stage.requestCount() == 3)
    }
}
