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

    @Test("The difference is named, and the canonicaliser that is proposed takes it away", arguments: cases.indices)
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

    @Test(
        "What is proposed for a path makes one segment equal, and nothing else",
        arguments: [
            ("/v1/users", "/v2/users"), ("/v1/users?a=1", "/v2/users?a=1"), ("/v1/users?a=1", "/v2/users"),
            ("/v1/users?a=1", "/v2/users?a=2"), ("/api/v1.0/users/", "/api/v2.0/users/"),
        ])
    func proposesNarrowly(recorded: String, offered: String) throws {
        let origin = "http://a:80"
        let one = Exchange(origin + recorded, "it")
        let miss = try #require(try Self.nearest([one], to: Exchange(origin + offered)).first)
        let canonicaliser = try #require(miss.canonicaliser)
        let terms = MatchTerms(canonicalisers: [canonicaliser])
        #expect(try MatchingTests.answer([one], to: Exchange(origin + offered), terms: terms) == "it")
        #expect(try MatchingTests.answer([one], to: one, terms: terms) == "it")
        let others = ["/v1/orders", "/v2/orders", "/login/page", "/v1/usersettings", "/x/v1/users", "/v1/users/1", "/v1", "/"]
        for other in others {
            for query in ["", "?a=1"] {
                #expect(
                    try MatchingTests.answer([one], to: Exchange(origin + other + query), terms: terms) == "not_recorded",
                    "\(other + query) under \(canonicaliser.json)")
            }
        }
    }

    @Test("Numbers are told from names, and nothing is proposed where nothing else tells what is meant")
    func proposesNothingWide() throws {
        let number = try #require(try Self.nearest([Exchange("http://a:80/17", "it")], to: Exchange("http://a:80/18")).first)
        let terms = MatchTerms(canonicalisers: [try #require(number.canonicaliser)])
        let seventeen = Exchange("http://a:80/17", "it")
        #expect(try MatchingTests.answer([seventeen], to: Exchange("http://a:80/18"), terms: terms) == "it")
        #expect(try MatchingTests.answer([seventeen], to: Exchange("http://a:80/login"), terms: terms) == "not_recorded")
        let name = try #require(try Self.nearest([Exchange("http://a:80/users")], to: Exchange("http://a:80/login")).first)
        #expect(name.differences.map(\.name) == ["path"])
        #expect(name.canonicaliser == nil)
    }

    @Test("Another method is named, and nothing is proposed")
    func namesMethod() throws {
        let nearest = try #require(try Self.nearest(Self.noise + [Self.post("{}")], to: Self.post("{}", method: "PUT")).first)
        #expect(nearest.differences.map(\.name) == ["method"])
        #expect(nearest.canonicaliser == nil)
    }

    @Test("Five are told at most, the nearest first, each target once")
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

    @Test("No secret stands in what is told")
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
