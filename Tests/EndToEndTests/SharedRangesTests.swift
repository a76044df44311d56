import TestSupport
import Testing

@Suite("Ranges of a body in flight for another request (RFC 9111 §3.4)")
struct SharedRangesTests {
    private static let length = 4_000_000
    private static let body = PatternedBody(length: length)

    /// An origin whose first response (bytes 0 to 2,999,999, or the complete body) stops after 1,000,000 bytes until the gate opens.
    private func stage(_ release: Gate, _ yaml: String = "", fields: String = "Cache-Control: max-age=600\r\n") throws -> (
        Stage, RangedOrigin
    ) {
        var plan = RangedOrigin.Plan()
        plan.fields = fields
        plan.waits = { $0 == 1 ? (1_000_000, release) : nil }
        let origin = RangedOrigin(Self.body, plan)
        return (try Stage(origin, yaml, storePath: nil), origin)
    }

    private static func range(_ range: Range<Int>) -> String { "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)\r\n" }

    /// A client that has read the bytes sent so far, and waits for more.
    private func first(_ stage: Stage, fields: String = Self.range(0..<3_000_000)) throws -> RawClient {
        let client = try stage.client()
        client.send(stage.head("GET", "/x", fields: fields))
        _ = try client.readHead()
        #expect(try client.read(Self.body, count: 1_000_000) == 1_000_000)
        return client
    }

    @Test(
        "A range in the body in flight, or just after its current end, is read from it, even if its first client leaves",
        arguments: [200_000..<300_000, 900_000..<1_100_000, 1_500_000..<2_000_000, 2_000_000..<3_000_000], [true, false])
    func readsAlong(wanted: Range<Int>, isPart: Bool) throws {
        let release = Gate()
        let (stage, origin) = try stage(release)
        let leaving = try first(stage, fields: isPart ? Self.range(0..<3_000_000) : "")
        let client = try stage.client()
        client.send(stage.head("GET", "/x", fields: Self.range(wanted)))
        // This request is on the same loop, so its response shows that the earlier request has joined.
        _ = try stage.fetch("/x", method: "OPTIONS", fields: "Max-Forwards: 0\r\n")
        if wanted.upperBound > 1_000_000 { leaving.close() }
        release.open()
        let response = try client.readResponse()
        #expect(response.status == 206)
        #expect(response["Content-Range"] == "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(Self.length)")
        #expect(response.body == Self.body.bytes(wanted))
        #expect(response.cacheStatus.contains("fwd=partial") && response.cacheStatus.contains("; collapsed"))
        #expect(stage.requestCount() == 1)
        #expect(origin.sentCount == (isPart ? 3_000_000 : Self.length))
    }

    @Test(
        "A range far ahead, beyond the end, or that must not be shared is forwarded",
        arguments: [
            (range(2_500_000..<2_600_000), ""), (range(2_900_000..<3_100_000), ""),
            (range(0..<100_000) + "Cache-Control: no-store\r\n", ""), (range(0..<100_000) + "Cache-Control: no-cache\r\n", ""),
            (range(0..<100_000) + "Authorization: Basic eDp5\r\n", ""), (range(0..<100_000) + "If-Range: \"v0\"\r\n", ""),
            (range(0..<100_000), "rules: [{name: alone, match: {path: /x}, cache: {collapse: false}}]"),
        ])
    func asks(fields: String, yaml: String) throws {
        let release = Gate()
        let (stage, _) = try stage(release, yaml)
        let client = try first(stage)
        let response = try stage.fetch("/x", fields: fields)
        #expect(response.status == (fields.contains("If-Range") ? 200 : 206))
        #expect(!response.cacheStatus.contains("collapsed"))
        #expect(stage.requestCount() == 2)
        release.open()
        #expect(try client.read(count: 2_000_000) == Self.body.bytes(1_000_000..<3_000_000))
    }

    @Test(
        "If the shared part is unusable and the origin has a new representation, the two are never mixed",
        arguments: ["Range: bytes=500000-1999999\r\n", ""])
    func startsAnew(fields: String) throws {
        let release = Gate()
        var plan = RangedOrigin.Plan()
        plan.entityTag = { $0 <= 2 ? "\"v1\"" : "\"v2\"" }
        plan.waits = { $0 == 2 ? (1_000_000, release) : nil }
        let stage = try Stage(RangedOrigin(Self.body, plan), storePath: nil)
        #expect(try stage.fetch("/x", fields: Self.range(0..<1_000_000)).status == 206)
        stage.proxy.pass(seconds: 1000)
        let other = try stage.client()
        other.send(stage.head("GET", "/x", fields: Self.range(1_000_000..<3_000_000)))
        _ = try other.readHead()
        // The stored part is stale, so it is not shared. Larder requests the rest, and the origin has another representation.
        let response = try stage.fetch("/x", fields: fields + "Cache-Control: max-stale\r\n")
        #expect(stage.askedRanges.last == (fields.isEmpty ? "bytes=1000000-3999999" : "bytes=1000000-1999999"))
        #expect(response["ETag"] == "\"v2\"")
        #expect(response.status == (fields.isEmpty ? 200 : 206))
        #expect(response.body == Self.body.bytes(fields.isEmpty ? 0..<Self.length : 500_000..<2_000_000))
        release.open()
    }

    @Test("If the fetch cannot be resumed, its readers get the bytes that arrived, and no message that looks complete")
    func breaksOffForAll() throws {
        let release = Gate()
        var plan = RangedOrigin.Plan()
        plan.sends = { _ in 1_500_000 }
        plan.entityTag = { $0 == 1 ? "\"v1\"" : "\"v2\"" }
        plan.waits = { $0 == 1 ? (1_000_000, release) : nil }
        let stage = try Stage(RangedOrigin(Self.body, plan), storePath: nil)
        let leading = try first(stage)
        let client = try stage.client()
        client.send(stage.head("GET", "/x", fields: Self.range(500_000..<2_000_000)))
        #expect(try client.readHead().status == 206)
        release.open()
        for (client, start) in [(leading, 1_000_000), (client, 500_000)] {
            #expect(throws: ClientFault.self) { try client.read(count: 1_500_001 - start) }
            #expect(client.held == Self.body.bytes(start..<start + client.held.count))
        }
    }

    @Test("A body that is not stored or was invalidated is not shared", arguments: [true, false])
    func keepsApart(isInvalidated: Bool) throws {
        let release = Gate()
        let (stage, _) = try stage(
            release,
            fields: isInvalidated
                ? "Cache-Control: max-age=600\r\n" : "Cache-Control: no-store\r\n")
        let client = try first(stage)
        if isInvalidated { #expect(try stage.fetch("/x", method: "DELETE").status == 200) }
        let before = stage.requestCount()
        #expect(try stage.fetch("/x", fields: Self.range(0..<100_000)).body == Self.body.bytes(0..<100_000))
        #expect(stage.requestCount() == before + 1)
        release.open()
        #expect(try client.read(count: 2_000_000) == Self.body.bytes(1_000_000..<3_000_000))
    }
}
