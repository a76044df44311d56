import TestSupport
import Testing

@Suite("Validity of partly stored responses, compared with complete ones (RFC 9111 §3.4, §4.1, §4.3)")
struct PartialValidityTests {
    private enum Answer {
        /// The requested range of a hundred bytes.
        case part(String)
        case whole(String)
        case status(String)
    }

    private static let fresh = "Cache-Control: max-age=600\r\nETag: \"v1\"\r\n"
    private static let grace = "rules:\n  - {name: patient, match: {path: \"/x\"}, cache: {grace: 10m}}\n"

    /// An origin whose content has the number of its response in each byte, counted from 1.
    private func stage(
        _ yaml: String = "", answer: @escaping @Sendable (Int, OriginRequest) -> Answer
    ) throws -> Stage {
        let count = Counter()
        return try Stage(yaml, storePath: nil) { request, connection in
            let number = count.next()
            switch answer(number, request) {
            case .part(let fields):
                let bounds = (request["Range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
                guard bounds.count == 2 else { return connection.respond("400 Bad Request") }
                return connection.respond(
                    "206 Partial Content", fields: "Content-Range: bytes \(bounds[0])-\(bounds[1])/100\r\n" + fields,
                    body: String(repeating: "\(number)", count: bounds[1] - bounds[0] + 1))
            case .whole(let fields):
                return connection.respond(fields: fields, body: String(repeating: "\(number)", count: 100))
            case .status(let line): return connection.respond(line)
            }
        }
    }

    @discardableResult
    private func fetch(_ range: ClosedRange<Int>, _ stage: Stage, _ fields: String = "") throws -> ReceivedResponse {
        try stage.fetch("/x", fields: "Range: bytes=\(range.lowerBound)-\(range.upperBound)\r\n" + fields)
    }

    private func isHit(_ response: ReceivedResponse) -> Bool { response.cacheStatus.hasPrefix("Larder; hit") }

    // MARK: Stale

    private static let windows = [
        ("", "max-age=60, stale-while-revalidate=600"), (grace, "max-age=60"),
    ]

    @Test("If the origin sends some bytes of a stale part again, all its bytes are fresh")
    func confirms() throws {
        let stage = try stage { _, _ in .part("Cache-Control: max-age=60\r\nETag: \"v1\"\r\n") }
        try fetch(0...49, stage)
        stage.proxy.pass(seconds: 100)
        #expect(try !isHit(fetch(0...9, stage)))
        #expect(try isHit(fetch(10...19, stage)))
        #expect(stage.requestCount() == 2)
    }

    @Test("A part that is newer than a complete response of another representation is used instead (RFC 9111 §4)")
    func outlivesWhole() throws {
        let stage = try stage { number, _ in
            number == 1 ? .whole(Self.fresh) : .part("Cache-Control: max-age=600\r\nETag: \"v2\"\r\n")
        }
        _ = try stage.fetch("/x")
        #expect(try isHit(fetch(0...9, stage)))
        stage.proxy.pass(seconds: 10)
        #expect(try !isHit(fetch(0...49, stage, "If-Match: \"v2\"\r\n")))
        let part = try fetch(0...9, stage)
        #expect(isHit(part) && part["ETag"] == "\"v2\"" && part.text == "2222222222")
        #expect(stage.requestCount() == 2)
    }

    @Test("Within stale-while-revalidate or a rule's grace, Larder validates before it uses a part", arguments: windows)
    func asksFirst(yaml: String, control: String) throws {
        let stage = try stage(yaml) { number, _ in .part("Cache-Control: \(control)\r\nETag: \"v\(number)\"\r\n") }
        try fetch(0...49, stage)
        stage.proxy.pass(seconds: 100)
        // only-if-cached forbids a request to the origin, so the part is used.
        #expect(try fetch(0...9, stage, "Cache-Control: only-if-cached\r\n").text == "1111111111")
        let response = try fetch(0...9, stage)
        #expect(!isHit(response) && response["ETag"] != "\"v1\"" && !response.text.contains("1"))
        #expect(stage.askedRanges.allSatisfy { $0 == "bytes=0-49" || $0 == "bytes=0-9" })
        let count = stage.requestCount()
        #expect(try isHit(fetch(0...9, stage)))
        #expect(stage.requestCount() == count)
    }

    @Test("A part is served if the origin fails, as a complete response is")
    func standsIn() throws {
        let stage = try stage(Self.grace) { number, _ in
            number == 1 ? .part("Cache-Control: max-age=60\r\nETag: \"v1\"\r\n") : .status("503 Service Unavailable")
        }
        try fetch(0...49, stage)
        stage.proxy.pass(seconds: 100)
        let response = try fetch(5...14, stage)
        #expect(response.status == 206 && response.text == "1111111111" && response["Content-Range"] == "bytes 5-14/100")
        #expect(try fetch(45...54, stage).status == 503)
    }

    // MARK: Cookies

    @Test("T25: a cookie that comes with a missing part goes only to the client that requested it")
    func keepsCookiesApart() throws {
        let owners = ["alice", "bob"]
        let stage = try stage { number, _ in
            .part(Self.fresh + (number <= 2 ? "Set-Cookie: id=\(owners[number - 1])\r\n" : ""))
        }
        #expect(try fetch(0...49, stage)["Set-Cookie"] == "id=alice")
        let response = try fetch(40...59, stage)
        #expect(response.cacheStatus.contains("fwd=partial") && response.text == "11111111112222222222")
        #expect(response.values("Set-Cookie") == ["id=bob"])
        #expect(try fetch(50...69, stage)["Set-Cookie"] == nil)
        let hit = try fetch(0...69, stage)
        #expect(isHit(hit) && hit["Set-Cookie"] == nil)
    }

    // MARK: Removing parts

    @Test(
        "If the missing part must not be stored, the stored part is removed",
        arguments: ["no-store", "private", "max-age=60\r\nVary: *"])
    func removesForbidden(control: String) throws {
        let stage = try stage { number, _ in
            .part(number == 1 ? Self.fresh : "Cache-Control: \(control)\r\nETag: \"v1\"\r\n")
        }
        try fetch(0...49, stage)
        #expect(try fetch(40...59, stage).text == String(repeating: "3", count: 20))
        #expect(try !isHit(fetch(0...9, stage)))
        #expect(!stage.proxy.store.hasPartials)
    }

    @Test(
        "The part is removed if the origin has another representation that is not stored",
        arguments: [
            ("", "200 private"), ("Range: bytes=0-9\r\nCache-Control: no-cache\r\n", "200 no-store"), ("", "410"),
            ("Range: bytes=0-9\r\nCache-Control: no-cache\r\n", "206"),
        ])
    func removesOutdated(fields: String, answer: String) throws {
        let stage = try stage { number, _ in
            switch (number, answer) {
            case (1, _): .part(Self.fresh)
            case (_, "200 private"): .whole("Cache-Control: private\r\nETag: \"v2\"\r\n")
            case (_, "200 no-store"): .whole("Cache-Control: no-store\r\nETag: \"v2\"\r\n")
            case (_, "206"): .part("Cache-Control: private\r\nETag: \"v2\"\r\n")
            default: .status("410 Gone")
            }
        }
        try fetch(0...49, stage)
        _ = try stage.fetch("/x", fields: fields)
        #expect(try !isHit(fetch(0...9, stage)))
        #expect(!stage.proxy.store.hasPartials)
    }

    @Test("The part stays if only this request forbids storing")
    func keepsForOthers() throws {
        let stage = try stage { number, _ in
            number == 1 ? .part(Self.fresh) : .whole("Cache-Control: max-age=600\r\nETag: \"v2\"\r\n")
        }
        try fetch(0...49, stage)
        #expect(try stage.fetch("/x", fields: "Authorization: Basic eDp5\r\n").text.first == "2")
        #expect(try isHit(fetch(0...9, stage)))
    }

    // MARK: Combining parts

    @Test(
        "Parts in different codings are not combined, whatever their tag: the newer one replaces the other",
        arguments: ["gzip", ""])
    func keepsCodingsApart(first: String) throws {
        let stage = try stage { number, _ in
            let coding = number == 1 ? first : "br"
            return .part(Self.fresh + (coding.isEmpty ? "" : "Content-Encoding: \(coding)\r\n"))
        }
        try fetch(0...49, stage)
        let response = try fetch(40...59, stage)
        #expect(response["Content-Encoding"] == "br" && response.text == String(repeating: "3", count: 20))
        #expect(try isHit(fetch(40...59, stage)))
        #expect(try !fetch(0...9, stage).text.contains("1"))
    }

    @Test("A part without its entity tag is neither combined nor validated by it")
    func heedsQualifiers() throws {
        let fields = "Cache-Control: max-age=60, no-cache=\"ETag\"\r\nETag: \"v1\"\r\n"
        let stage = try stage { _, request in request["Range"] == nil ? .whole(fields) : .part(fields) }
        #expect(try !fetch(0...49, stage).cacheStatus.contains("stored"))
        #expect(!stage.proxy.store.hasPartials)
        #expect(try stage.fetch("/x").cacheStatus.contains("stored"))
        stage.proxy.pass(seconds: 100)
        try fetch(0...9, stage, "If-None-Match: \"v1\"\r\n")
        let asked = try OriginRequest(head: #require(stage.origin.requestHeads.last))
        #expect(asked["If-None-Match"] == "\"v1\"" && asked["Range"] == "bytes=0-9")
    }

    @Test("A part without Vary, beside others with Vary, serves the requests that match none of these")
    func omitsVary() throws {
        let stage = try stage { number, _ in .part(Self.fresh + (number == 1 ? "Vary: Cookie\r\n" : "")) }
        try fetch(0...49, stage, "Cookie: a\r\n")
        try fetch(0...49, stage, "Cookie: b\r\n")
        let other = try fetch(0...9, stage, "Cookie: c\r\n")
        #expect(isHit(other) && other.text == "2222222222")
        let own = try fetch(0...9, stage, "Cookie: a\r\n")
        #expect(isHit(own) && own.text == "1111111111")
    }
}
