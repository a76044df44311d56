import Testing
import TestSupport

@Suite("A body that ends early at the origin is continued (RFC 9111 §3.3, C17)")
struct ContinuedBodyTests {
    private static let length = 3_000_000
    private static let body = PatternedBody(length: length)
    private static let kinds = ["max-age=600", "no-store"]

    private func plan(_ directive: String, sends: @escaping @Sendable (Int) -> Int) -> RangedOrigin.Plan {
        var plan = RangedOrigin.Plan()
        plan.fields = "Cache-Control: \(directive)\r\n"
        plan.sends = sends
        return plan
    }

    private func expectWhole(_ stage: Stage, fields: String = "") throws {
        let client = try stage.client()
        client.send(stage.head("GET", "/x", fields: fields))
        let head = try client.readHead()
        #expect(head.status == 200)
        #expect(head["Content-Range"] == nil)
        #expect(try client.read(Self.body, count: Self.length) == Self.length)
    }

    @Test(
        "Cut ten times, the body arrives complete, and Larder requests only the missing bytes", arguments: kinds,
        [":memory:", nil])
    func continuesTenTimes(directive: String, storePath: String?) throws {
        let origin = RangedOrigin(Self.body, plan(directive) { $0 <= 10 ? 290_001 : .max })
        let stage = try Stage(origin, storePath: storePath)
        try expectWhole(stage)
        #expect(origin.sentCount == Self.length)
        #expect(stage.askedRanges == [nil] + (1...10).map { "bytes=\($0 * 290_001)-" })
        #expect(stage.origin.requestHeads.dropFirst().allSatisfy { OriginRequest(head: $0)["If-Range"] == "\"v1\"" })
        guard directive != "no-store" else { return }
        try expectWhole(stage)
        #expect(stage.requestCount() == 11)
    }

    @Test("A body of undeclared length is continued too")
    func continuesChunked() throws {
        var plan = plan("max-age=600") { $0 == 1 ? 1_000_000 : .max }
        plan.isChunked = true
        let stage = try Stage(RangedOrigin(Self.body, plan))
        #expect(try stage.fetch("/x").body == Self.body.bytes(0..<Self.length))
        #expect(stage.askedRanges == [nil, "bytes=1000000-"])
    }

    @Test("A small buffered body is continued, and so is one that breaks before its first byte")
    func continuesSmall() throws {
        let body = PatternedBody(length: 5000)
        let stage = try Stage(RangedOrigin(body, plan("max-age=600") { $0 == 1 ? 0 : $0 == 2 ? 1000 : .max }))
        for _ in 0..<2 { #expect(try stage.fetch("/x").body == body.bytes(0..<5000)) }
        #expect(stage.askedRanges == [nil, "bytes=0-", "bytes=1000-"])
    }

    @Test("If the origin sends less than requested, Larder requests the rest")
    func continuesShortPieces() throws {
        var plan = plan("max-age=600") { $0 == 1 ? 1_000_000 : .max }
        plan.longestPart = 700_000
        let stage = try Stage(RangedOrigin(Self.body, plan))
        let client = try stage.client()
        client.send(stage.head("GET", "/x", fields: ""))
        _ = try client.readHead()
        #expect(try client.read(Self.body, count: Self.length) == Self.length)
        #expect(stage.askedRanges == [nil, "bytes=1000000-", "bytes=1700000-", "bytes=2400000-"])
    }

    @Test(
        "If the rest has other cache directives, the client gets the complete body, and nothing is stored",
        arguments: ["no-store", "private", "no-cache", "max-age=5", "max-age=600\r\nVary: A", "max-age=600\r\nVary: *"],
        [5000, length])
    func keepsNothingUnderOtherTerms(directives: String, length: Int) throws {
        let body = PatternedBody(length: length)
        var plan = plan("max-age=600") { $0 == 1 ? length / 2 : .max }
        plan.fieldsOfPart = { _ in "Cache-Control: \(directives)\r\n" }
        let stage = try Stage(RangedOrigin(body, plan), storePath: nil)
        for _ in 0..<2 { #expect(try stage.fetch("/x").body == body.bytes(0..<length)) }
        #expect(stage.askedRanges == [nil, "bytes=\(length / 2)-", nil])
    }

    @Test("If the rest of a partly stored body has no-store, the stored part is removed, and the client gets the complete body")
    func removesPartUnderOtherTerms() throws {
        var plan = RangedOrigin.Plan()
        // The responses: the client's range, the completion, which ends early, and its rest.
        plan.sends = { $0 == 2 ? 500_000 : .max }
        plan.fieldsOfPart = { $0 == 3 ? "Cache-Control: no-store\r\n" : nil }
        let stage = try Stage(RangedOrigin(Self.body, plan), storePath: nil)
        let part = try stage.fetch("/x", fields: "Range: bytes=0-999999\r\n")
        #expect(part.body == Self.body.bytes(0..<1_000_000))
        stage.proxy.waitUntilStored()
        try expectWhole(stage)
        #expect(stage.askedRanges == ["bytes=0-999999", "bytes=1000000-2999999", "bytes=1500000-"])
        stage.proxy.waitUntilStored()
        #expect(try stage.fetch("/x", fields: "Range: bytes=0-9\r\n").body == Self.body.bytes(0..<10))
        #expect(stage.requestCount() == 4)
    }

    @Test(
        "The directives of the rest also decide whether a validated body is stored",
        arguments: [("no-store", 3), ("max-age=600", 2)])
    func keepsCheckedUnderTermsOfRest(directive: String, requestCount: Int) throws {
        let json = "{\"a\": [1, 2, 3]}"
        let count = Counter()
        let stage = try Stage("rules: [{name: r, validate: {wellformed: json, on_failure: block}}]", storePath: nil) {
            let fields = "ETag: \"v1\"\r\nContent-Type: application/json\r\nCache-Control: "
            let isFirst = count.next() == 1
            if $0["Range"] != nil {
                let range = "Content-Range: bytes 8-\(json.utf8.count - 1)/\(json.utf8.count)\r\n"
                return $1.respond(
                    "206 Partial Content", fields: range + fields + directive + "\r\n", body: String(json.dropFirst(8)))
            }
            let length = "Content-Length: \(json.utf8.count)\r\n"
            $1.send("HTTP/1.1 200 OK\r\n" + length + fields + "max-age=600\r\n\r\n" + json.prefix(isFirst ? 8 : 100))
            return !isFirst
        }
        for _ in 0..<2 { #expect(try stage.fetch("/x").text == json) }
        #expect(stage.requestCount() == requestCount)
    }

    @Test(
        "A body is stored even if its rest has another cookie, or an Age that is higher by the elapsed time",
        arguments: [
            ("Cache-Control: max-age=86400\r\nAge: 100\r\n", "Cache-Control: max-age=86400\r\nAge: 160\r\n"),
            ("Cache-Control: max-age=600\r\nSet-Cookie: a=1\r\n", "Cache-Control: max-age=600\r\nSet-Cookie: a=2\r\n"),
        ])
    func keepsWhatTookItsTime(fields: String, fieldsOfPart: String) throws {
        let gate = Gate()
        var plan = RangedOrigin.Plan()
        plan.fields = fields
        plan.fieldsOfPart = { _ in fieldsOfPart }
        plan.sends = { $0 == 1 ? 1_000_000 : .max }
        plan.waits = { $0 == 1 ? (behind: 1_000_000, gate: gate) : nil }
        let stage = try Stage(RangedOrigin(Self.body, plan))
        let client = try stage.client()
        client.send(stage.head("GET", "/x"))
        _ = try client.readHead()
        stage.proxy.pass(seconds: 60)
        gate.open()
        #expect(try client.read(Self.body, count: Self.length) == Self.length)
        try expectWhole(stage)
        #expect(stage.requestCount() == 2)
    }

    @Test("A range that the client requested is continued to its end", arguments: kinds)
    func continuesPart(directive: String) throws {
        let stage = try Stage(RangedOrigin(Self.body, plan(directive) { $0 == 1 ? 100_000 : .max }))
        let response = try stage.fetch("/x", fields: "Range: bytes=500000-1999999\r\n")
        #expect(response.status == 206)
        #expect(response["Content-Range"] == "bytes 500000-1999999/3000000")
        #expect(response.body == Self.body.bytes(500_000..<2_000_000))
        #expect(stage.askedRanges == ["bytes=500000-1999999", "bytes=600000-1999999"])
    }

    @Test(
        "If the entity tag changes, the message ends incomplete, never mixed, and nothing of it is served later", arguments: kinds
    )
    func refusesAnother(directive: String) throws {
        var plan = plan(directive) { $0 == 1 ? 1_000_000 : .max }
        plan.entityTag = { $0 == 1 ? "\"v1\"" : "\"v2\"" }
        let stage = try Stage(RangedOrigin(Self.body, plan))
        let client = try stage.client()
        client.send(stage.head("GET", "/x"))
        _ = try client.readHead()
        let received = try? client.read(Self.body, count: Self.length)  // a reset is as good as a short end
        #expect(received ?? 0 <= 1_000_000)
        let response = try stage.fetch("/x")
        #expect(response["ETag"] == "\"v2\"")
        #expect(response.body == Self.body.bytes(0..<Self.length))
    }

    @Test("An origin that sends no more bytes gets a limited number of requests", arguments: kinds)
    func givesUp(directive: String) throws {
        let stage = try Stage(RangedOrigin(Self.body, plan(directive) { $0 == 1 ? 1_000_000 : 0 }))
        let client = try stage.client()
        client.send(stage.head("GET", "/x"))
        _ = try client.readHead()
        let received = try? client.read(Self.body, count: Self.length)  // a reset is as good as a short end
        #expect(received ?? 0 <= 1_000_000)
        #expect(stage.requestCount() == 4)
    }

    @Test("Requests that joined the fetch get the complete body too")
    func continuesForAll() throws {
        let gate = Gate()
        let origin = RangedOrigin(
            Self.body,
            plan("max-age=600") {
                if $0 == 2 { gate.wait() }
                return $0 <= 2 ? 1_000_000 : .max
            })
        let stage = try Stage(origin)
        let clients = try (0..<3).map { _ in try stage.client() }
        for client in clients { client.send(stage.head("GET", "/x")) }
        for client in clients { _ = try client.readHead() }
        gate.open()
        for client in clients { #expect(try client.read(Self.body, count: Self.length) == Self.length) }
        #expect(stage.requestCount() == 3)
    }
}
