import TestSupport
import Testing

@Suite("Ranges that the origin ignores (RFC 9110 §14.2)")
struct PassedOverRangeTests {
    private func stage(
        _ body: PatternedBody, storePath: String?, release: Gate? = nil, fields: String = "Cache-Control: max-age=600\r\n"
    ) throws -> (Stage, RangedOrigin) {
        var plan = RangedOrigin.Plan()
        plan.heedsRange = false
        plan.fields = fields
        if let release { plan.waits = { $0 == 1 ? (1_000_000, release) : nil } }
        let origin = RangedOrigin(body, plan)
        return (try Stage(origin, storePath: storePath), origin)
    }

    @Test(
        "A range is cut from the complete response, from the first response on",
        arguments: [5000, 100_000, 3_000_000], [":memory:", nil])
    func cuts(length: Int, storePath: String?) throws {
        let body = PatternedBody(length: length)
        let (stage, _) = try stage(body, storePath: storePath)
        let client = try stage.client()
        for range in [length - 1000..<length, 10..<2000, 0..<length] {
            client.send(stage.head("GET", "/x", fields: "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)\r\n"))
            let response = try client.readResponse()
            #expect(response.status == 206)
            #expect(response["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
            #expect(response.body == body.bytes(range))
            try stage.waitUntilStored("/x")
        }
        // The first response brought the complete body.
        #expect(stage.requestCount() == 1)
    }

    @Test(
        "A client continues once it has its range, and the complete body is fetched for the store once",
        arguments: [":memory:", nil])
    func endsWithPart(storePath: String?) throws {
        let (body, release) = (PatternedBody(length: 2_000_000), Gate())
        let (stage, _) = try stage(body, storePath: storePath, release: release)
        let client = try stage.client()
        client.send(stage.head("GET", "/x", fields: "Range: bytes=10-2009\r\n"))
        let first = try client.readResponse()
        #expect(first.body == body.bytes(10..<2010))
        #expect(first.cacheStatus.contains("; fwd-status=200; stored"))
        // The origin is held: the next request on the connection does not wait for it.
        client.send(stage.head("GET", "/y", fields: "Range: bytes=1999000-\r\n"))
        let response = try client.readResponse()
        #expect(response.status == 206)
        #expect(response.body == body.bytes(1_999_000..<2_000_000))
        release.open()
        try stage.waitUntilStored("/x")
        #expect(try stage.fetch("/x").body == body.bytes(0..<2_000_000))
        #expect(stage.requestCount() == 2)
    }

    @Test("During a fetch of the complete body, a range far ahead is a 206 too")
    func cutsBesideWhole() throws {
        let (body, release) = (PatternedBody(length: 8_000_000), Gate())
        let (stage, _) = try stage(body, storePath: nil, release: release)
        let first = try stage.client()
        first.send(stage.head("GET", "/x"))
        _ = try first.readHead()
        #expect(try first.read(body, count: 1_000_000) == 1_000_000)
        for range in [6_000_000..<7_000_000, 500_000..<900_000] {
            let response = try stage.fetch("/x", fields: "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)\r\n")
            #expect(response.status == 206)
            #expect(response.body == body.bytes(range))
        }
        release.open()
        #expect(try first.read(count: 7_000_000) == body.bytes(1_000_000..<8_000_000))
    }

    @Test(
        "An unstored response, several ranges, and a range beyond the end get the complete response",
        arguments: [
            ("Cache-Control: no-store\r\n", "bytes=0-9"), ("Cache-Control: max-age=600\r\n", "bytes=0-9,200000-200009"),
            ("Cache-Control: max-age=600\r\n", "bytes=9999999-"), ("Cache-Control: max-age=600\r\n", "lines=1-2"),
        ])
    func passesWhole(fields: String, range: String) throws {
        let body = PatternedBody(length: 300_000)
        let (stage, _) = try stage(body, storePath: nil, fields: fields)
        let response = try stage.fetch("/x", fields: "Range: \(range)\r\n")
        #expect(response.status == 200)
        #expect(response["Content-Range"] == nil)
        #expect(response.body == body.bytes(0..<300_000))
    }
}
