import Testing
@testable import Snapshots

@Suite("Near misses")
struct NearMissTests {
    static func nearest(
        _ exchanges: [Exchange], to request: Exchange, terms: MatchTerms = MatchTerms()
    ) throws -> [NearMiss] {
        let fixture = SnapshotFixture()
        try fixture.write(exchanges, terms: terms)
        return try NearMissSearch(Snapshot(path: fixture.path), key: SnapshotFixture.key).nearest(to: request.request)
    }

    static let noise = (0..<200).map { Exchange("http://other.example:80/things/\($0)?page=\($0)") }

    static func post(_ body: String, _ type: String = "application/json", method: String = "POST") -> Exchange {
        MatchingTests.exchange("http://a:80/api/graphql", "it") {
            $0.method = method
            $0.requestFields = [("Content-Type", type), ("Accept-Language", "de")]
            $0.requestBody = Array(body.utf8)
            $0.fields = [("Vary", "Accept-Language")]
        }
    }

    static let cases: [(recorded: Exchange, offered: Exchange, names: [String])] = [
        (Exchange("http://a:80/list?page=1&size=9", "it"), Exchange("http://a:80/list?page=2&size=9"), ["query parameter page"]),
        (Exchange("http://a:80/list?page=1", "it"), Exchange("http://a:80/list?page=1&token=x"), ["query parameter token"]),
        (Exchange("http://a:80/list?a=1&b=2", "it"), Exchange("http://a:80/list?b=2&a=1"), ["order of query parameters"]),
        (post(#"{"query":"q","variables":{"id":1}}"#), post(#"{"query":"q","variables":{"id":2}}"#), ["JSON /variables/id"]),
        (post(#"{"a/b~c":[1,2]}"#), post(#"{"a/b~c":[1,3]}"#), ["JSON /a~1b~0c/1"]),
        (
            post("a=1&b=2", "application/x-www-form-urlencoded"), post("a=1&b=3", "application/x-www-form-urlencoded"),
            ["form field b"]
        ),
        (
            post("{}"),
            MatchingTests.exchange("http://a:80/api/graphql") {
                $0 = post("{}")
                $0.requestFields[1].1 = "en"
            }, ["field accept-language"]
        ),
        (Exchange("http://a:80/users/17/posts", "it"), Exchange("http://a:80/users/18/posts"), ["path"]),
    ]

    @Test("A near miss names the difference, and the proposed canonicaliser removes it", arguments: cases.indices)
    func proposes(number: Int) throws {
        let (recorded, offered, names) = Self.cases[number]
        #expect(try MatchingTests.answer([recorded] + Self.noise, to: offered) != "it")
        let nearest = try #require(try Self.nearest(Self.noise + [recorded], to: offered).first)
        #expect(nearest.uri.text == recorded.uri)
        #expect(nearest.differences.map(\.name) == names)
        let canonicaliser = try #require(nearest.canonicaliser)
        #expect(
            try MatchingTests.answer([recorded] + Self.noise, to: offered, terms: MatchTerms(canonicalisers: [canonicaliser]))
                == "it")
        #expect(try Canonicaliser(json: canonicaliser.json) == canonicaliser)
    }

    static let uuids = ("0b0e3f8e-6d0e-4c43-8b0e-1b2c3d4e5f60", "1b0e3f8e-6d0e-4c43-8b0e-1b2c3d4e5f61")

    @Test(
        "A canonicaliser proposed for a path makes ids of one form equal, and nothing else",
        arguments: [
            ("/users/17", "/users/18"), ("/users/17?a=1", "/users/18?a=1"), ("/users/17?a=1", "/users/18"),
            ("/users/17?a=1", "/users/18?a=2"), ("/17", "/18"), ("/orders/\(uuids.0)/items", "/orders/\(uuids.1)/items"),
            ("/blobs/9f86d081884c7d65", "/blobs/2c26b46b68ffc68f"), ("/v/a1B2c3D4e5F6g7H8", "/v/h8G7f6E5d4C3b2A1"),
        ])
    func proposesNarrowly(recorded: String, offered: String) throws {
        let origin = "http://a:80"
        let one = Exchange(origin + recorded, "it")
        let miss = try #require(try Self.nearest([one], to: Exchange(origin + offered)).first)
        let canonicaliser = try #require(miss.canonicaliser)
        let terms = MatchTerms(canonicalisers: [canonicaliser])
        #expect(try MatchingTests.answer([one], to: Exchange(origin + offered), terms: terms) == "it")
        #expect(try MatchingTests.answer([one], to: one, terms: terms) == "it")
        let others = [
            "/users/me", "/users/17x", "/login", "/users/17/posts", "/x/users/17", "/orders/new/items", "/blobs/latest", "/v",
            "/",
        ]
        for other in others {
            for query in ["", "?a=1"] {
                #expect(
                    try MatchingTests.answer([one], to: Exchange(origin + other + query), terms: terms) == "not_recorded",
                    "\(other + query) under \(canonicaliser.json)")
            }
        }
    }

    @Test(
        "No canonicaliser is proposed for a path segment that looks like a name",
        arguments: [
            ("/users-1", "/users-2"), ("/v1/users", "/v2/users"), ("/users", "/login"), ("/a/b1/c", "/a/b2/c"),
            ("/docs/getting-started-with-2-users", "/docs/getting-started-with-3-users"), ("/users/17", "/users/me"),
            ("/x/\(uuids.0)", "/x/17"), ("/authentication", "/administration"),
        ])
    func proposesNoNames(recorded: String, offered: String) throws {
        let miss = try #require(
            try Self.nearest([Exchange("http://a:80" + recorded, "it")], to: Exchange("http://a:80" + offered)).first)
        #expect(miss.differences.map(\.name) == ["path"])
        #expect(miss.canonicaliser == nil)
    }

    @Test("No canonicaliser is proposed for a path if it would make recordings equal, and their number is reported")
    func countsEqual() throws {
        let recorded = [17, 19, 23].map { Exchange("http://a:80/users/\($0)", "user \($0)") }
        let miss = try #require(try Self.nearest(recorded + Self.noise, to: Exchange("http://a:80/users/18")).first)
        #expect(miss.canonicaliser == nil)
        #expect(miss.equalled == 3)
        #expect(
            miss.text.contains(
                "no rule proposed: with a rule for this path, Larder could no longer tell 3 recordings apart"))
        #expect(miss.json["made_equal"] == 3)
        // A recording that exists twice is not made equal to another.
        let twice = [Exchange("http://a:80/users/17", "a"), Exchange("http://a:80/users/17", "b")]
        #expect(try Self.nearest(twice, to: Exchange("http://a:80/users/18")).first?.canonicaliser != nil)
    }

    @Test("A canonicaliser proposed for a query parameter states how many recordings it makes equal")
    func statesEqual() throws {
        let recorded = (1...4).map { Exchange("http://a:80/list?_=\($0)", "it") }
        let miss = try #require(try Self.nearest(recorded, to: Exchange("http://a:80/list?_=9")).first)
        #expect(miss.canonicaliser?.ignoredParameters == ["_"])
        #expect(miss.text.contains("with this rule, Larder could no longer tell 4 recordings apart"))
    }

    @Test("A match rule that makes requests with different response bodies equal causes a warning")
    func warns() throws {
        let fixture = SnapshotFixture()
        var rule = Canonicaliser(uri: "*")
        rule.ignoredParameters = ["page", "_"]
        let same = (1...3).map { Exchange("http://a:80/same?_=\($0)", "it") }
        let pages = (1...2).map { Exchange("http://a:80/list?page=\($0)", "page \($0)") }
        let polled = (1...2).map { Exchange("http://a:80/poll?_=1", "\($0)") }
        try fixture.write(same + pages + polled, terms: MatchTerms(canonicalisers: [rule]))
        let warnings = try Snapshot(path: fixture.path).matchWarnings()
        #expect(
            warnings.map(\.text) == [
                "under the match rules, 2 requests are equal, but their responses have different bodies: GET http://a:80/list?page=1 and "
                    + "http://a:80/list?page=2"
            ])
        let plain = SnapshotFixture()
        try plain.write(same + pages + polled)
        #expect(try Snapshot(path: plain.path).matchWarnings().isEmpty)
    }

    @Test("A different method is named, and no canonicaliser is proposed")
    func namesMethod() throws {
        let nearest = try #require(try Self.nearest(Self.noise + [Self.post("{}")], to: Self.post("{}", method: "PUT")).first)
        #expect(nearest.differences.map(\.name) == ["method"])
        #expect(nearest.canonicaliser == nil)
    }

    @Test("At most five near misses are reported, nearest first, each target once")
    func ranks() throws {
        var exchanges = (0..<9).map { Exchange("http://a:80/x?a=\($0)&b=1", "\($0)") }
        for _ in 0..<60 { exchanges.append(Exchange("http://a:80/x?a=7&b=2")) }
        let nearest = try Self.nearest(exchanges, to: Exchange("http://a:80/x?a=3&b=2"))
        #expect(nearest.count == 5)
        #expect(Set(nearest.map(\.uri)).count == 5)
        #expect(nearest.allSatisfy { $0.differences.count == 1 } == false || nearest[0].differences.count == 1)
        #expect(nearest[0].differences.count == 1)
        #expect(try Self.nearest([], to: Exchange("http://a:80/")).isEmpty)
    }

    @Test("Near misses contain no secrets")
    func tellsNoSecrets() throws {
        let secret = "ghp_" + String(repeating: "a1B2", count: 9)
        let recorded = MatchingTests.exchange("http://a:80/?access_token=\(secret)&x=1") {
            $0.requestFields = [("Authorization", "Bearer \(secret)")]
        }
        var offered = recorded
        offered.uri = "http://a:80/?access_token=\(secret)&x=2"
        let nearest = try #require(try Self.nearest([recorded], to: offered).first)
        #expect(nearest.differences.map(\.name) == ["query parameter x"])
        #expect(!nearest.differences.contains { "\($0)".contains(secret) })
    }
}
