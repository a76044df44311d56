import HTTPMessage
import HTTPSerialization
import SecretScanning
import TestSupport
import Testing
@testable import Snapshots

@Suite("Matching")
struct MatchingTests {
    /// The body of the exchange that answers a request, or the reason why none does.
    static func answer(
        _ exchanges: [Exchange], to request: Exchange, terms: MatchTerms = MatchTerms(), key: ProjectKey? = SnapshotFixture.key
    ) throws -> String {
        let fixture = SnapshotFixture()
        try fixture.write(exchanges, terms: terms)
        var cursors = SequenceCursors()
        return try answer(SnapshotLayer(Snapshot(path: fixture.path), key: key), request, &cursors)
    }

    static func answer(_ layer: SnapshotLayer, _ request: Exchange, _ cursors: inout SequenceCursors) throws -> String {
        switch try layer.find(request.request, &cursors) {
        case .found(let found):
            return try found.recording.response?.body.map { try layer.snapshot.octets(of: $0).text } ?? ""
        case .missed(let reason): return reason.rawValue
        }
    }

    static func exchange(_ uri: String, _ body: String = "", _ change: (inout Exchange) -> Void = { _ in }) -> Exchange {
        var exchange = Exchange(uri, body)
        change(&exchange)
        return exchange
    }

    @Test("Method, URL and body distinguish recordings")
    func matchesExactly() throws {
        let recorded = [
            Self.exchange("http://a:80/?x=1", "get"),
            Self.exchange("http://a:80/?x=1", "post one") {
                $0.method = "POST"; $0.requestBody = [1]
            },
            Self.exchange("http://a:80/?x=1", "post two") {
                $0.method = "POST"; $0.requestBody = [2]
            },
        ]
        #expect(try Self.answer(recorded, to: recorded[0]) == "get")
        #expect(try Self.answer(recorded, to: recorded[2]) == "post two")
        #expect(try Self.answer(recorded, to: Self.exchange("http://a:80/?x=2")) == "not_recorded")
        #expect(try Self.answer(recorded, to: Self.exchange("http://a:80/?x=1") { $0.method = "PUT" }) == "not_recorded")
        #expect(try Self.answer(recorded, to: Self.exchange("http://a:80/?x=1") { $0.requestBody = [1] }) == "not_recorded")
    }

    @Test("HEAD is answered from a recorded GET, unless HEAD was recorded")
    func answersHead() throws {
        let get = Self.exchange("http://a:80/", "get")
        let head = Self.exchange("http://a:80/") { $0.method = "HEAD" }
        #expect(try Self.answer([get], to: head) == "get")
        #expect(try Self.answer([get, head], to: head) == "")
    }

    @Test("Fields nominated by Vary distinguish recordings; Accept-Encoding does only in exact mode")
    func heedsVary() throws {
        func recorded(_ language: String, _ coding: String) -> Exchange {
            Self.exchange("http://a:80/", language + coding) {
                $0.requestFields = [("Accept-Language", language), ("Accept-Encoding", coding), ("User-Agent", "one")]
                $0.fields = [("Vary", "Accept-Language, Accept-Encoding")]
            }
        }
        let both = [recorded("de", "gzip"), recorded("en", "gzip")]
        #expect(try Self.answer(both, to: recorded("en", "br")) == "engzip")
        #expect(try Self.answer(both, to: recorded("EN", "gzip")) == "engzip")
        #expect(try Self.answer(both, to: recorded("fr", "gzip")) == "varies")
        #expect(try Self.answer(both, to: recorded("en", "br"), terms: MatchTerms(isExact: true)) == "varies")
    }

    @Test("Fields listed in `match.fields` distinguish recordings")
    func heedsNamedFields() throws {
        let one = Self.exchange("http://a:80/", "one") { $0.requestFields = [("X-Tenant", "1")] }
        let terms = MatchTerms(fields: ["x-tenant"])
        #expect(try Self.answer([one], to: Self.exchange("http://a:80/")) == "one")
        #expect(try Self.answer([one], to: Self.exchange("http://a:80/"), terms: terms) == "not_recorded")
        #expect(try Self.answer([one], to: one, terms: terms) == "one")
    }

    @Test(
        "A match file may leave out the port that the scheme implies",
        arguments: [
            ("http://a.example/*", "http://a.example:80/*"), ("HTTPS://*.a.example/x", "HTTPS://*.a.example:443/x"),
            ("http://a.example", "http://a.example:80/"), ("http://a.example?x=*", "http://a.example:80/?x=*"),
            ("http://[::1]/*", "http://[::1]:80/*"), ("http://[::1]:8080/*", "http://[::1]:8080/*"),
            ("http://a.example:8080/*", "http://a.example:8080/*"), ("http://a.example*", "http://a.example*"),
            ("http://*/x", "http://*/x"), ("*/x", "*/x"), ("*", "*"), ("ftp://a.example/*", "ftp://a.example/*"),
        ])
    func addsPorts(written: String, read: String) throws {
        let terms = try MatchTerms(text: Array(#"{"canonicalisers":[{"uri":"\#(written)","query":{"ignore":["t"]}}]}"#.utf8))
        #expect(terms.canonicalisers.first?.uri == read)
        #expect(
            try MatchTerms(text: Array(#"{"canonicalisers":[{"query":{"ignore":["t"]}}]}"#.utf8)).canonicalisers[0].uri == "*")
    }

    @Test("A rule for a host without a port is for requests to the port that the scheme implies")
    func concernsTheImpliedPort() throws {
        let terms = try MatchTerms(text: Array(#"{"canonicalisers":[{"uri":"http://a/*","query":{"ignore":["t"]}}]}"#.utf8))
        let recorded = Self.exchange("http://a:80/?t=1", "it")
        #expect(try Self.answer([recorded], to: Self.exchange("http://a:80/?t=2"), terms: terms) == "it")
    }

    @Test("A canonicaliser removes its listed parts, only from requests that it applies to")
    func canonicalises() throws {
        var rule = Canonicaliser(uri: "http://a:80/*")
        rule.ignoredParameters = ["_", "utm_*"]
        rule.sortsQuery = true
        rule.ignoredFormFields = ["csrf"]
        rule.ignoredPointers = [JSONPointer("/id")!, JSONPointer("/meta/at")!]
        rule.replacements = [Canonicaliser.Replacement(.uri, "/v[0-9]+/", by: "/v/")]
        rule.hasUUIDs = true
        rule.hasTimes = true
        let terms = MatchTerms(canonicalisers: [rule])
        func check(_ recorded: String, _ offered: String) throws -> Bool {
            try Self.answer([Self.exchange(recorded, "it")], to: Self.exchange(offered), terms: terms) == "it"
        }
        #expect(try check("http://a:80/?b=2&a=1&_=7", "http://a:80/?a=1&utm_x=3&b=2"))
        #expect(try !check("http://b:80/?b=2&a=1", "http://b:80/?a=1&b=2"))
        #expect(try check("http://a:80/v1/x", "http://a:80/v22/x"))
        #expect(try check("http://a:80/f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "http://a:80/F81D4FAE-7DEC-11D0-A765-000000000000"))
        #expect(try check("http://a:80/?t=1795415000", "http://a:80/?t=1795415999123"))
        #expect(try check("http://a:80/?t=2026-11-23T06:23:20Z", "http://a:80/?t=2025-01-01T00%3A00%3A00.5%2B01%3A00"))
        #expect(try !check("http://a:80/?n=12345", "http://a:80/?n=12346"))
        func post(_ type: String, _ body: String) -> Exchange {
            Self.exchange("http://a:80/p", "it") {
                $0.method = "POST"
                $0.requestFields = [("Content-Type", type)]
                $0.requestBody = Array(body.utf8)
            }
        }
        let json = "application/json; charset=utf-8"
        #expect(
            try Self.answer(
                [post(json, #"{"id":1,"a":[1,2],"meta":{"at":3,"b":4}}"#)],
                to: post(json, #"{ "id": 9, "a": [1, 2], "meta": {"b":4} }"#),
                terms: terms) == "it")
        #expect(try Self.answer([post(json, #"{"a":1}"#)], to: post(json, #"{"a":2}"#), terms: terms) == "not_recorded")
        let form = "application/x-www-form-urlencoded"
        #expect(try Self.answer([post(form, "a=1&csrf=x&b=2")], to: post(form, "a=1&b=2&csrf=y"), terms: terms) == "it")
    }

    @Test("The boundary of a multipart body is ignored")
    func ignoresBoundaries() throws {
        func post(_ boundary: String) -> Exchange {
            Self.exchange("http://a:80/", "it") {
                $0.method = "POST"
                $0.requestFields = [("Content-Type", "multipart/form-data; boundary=\(boundary)")]
                $0.requestBody = Array("--\(boundary)\r\n\r\nvalue\r\n--\(boundary)--\r\n".utf8)
            }
        }
        #expect(try Self.answer([post("one")], to: post("\"another\"")) == "not_recorded")
        #expect(try Self.answer([post("one")], to: post("another")) == "it")
    }

    @Test("Match terms are written and read again, and unknown members are refused")
    func writesTerms() throws {
        var rule = Canonicaliser(uri: "http://a:80/*")
        rule.method = "GET"
        rule.ignoredParameters = ["a"]
        rule.ignoredFields = ["x-a"]
        rule.ignoredFormFields = ["c"]
        rule.ignoredPointers = [JSONPointer("/a~1b")!]
        rule.replacements = [Canonicaliser.Replacement(.body, "a+", by: "b")]
        rule.hasTimes = true
        let terms = MatchTerms(
            canonicalisers: [rule], fields: ["x-b"], isExact: true, secrets: DeclaredSecrets(pointers: [JSONPointer("/s")!]))
        #expect(try MatchTerms(json: terms.json) == terms)
        #expect(throws: SnapshotError.self) { try Canonicaliser(json: ["urI": "*"]) }
        #expect(throws: SnapshotError.self) { try Canonicaliser(json: ["query": ["ignore": "a"]]) }
    }

    @Test("An invalid secret pattern is refused, and so are more patterns than the limit")
    func refusesPatterns() throws {
        func check(_ patterns: [String], _ error: SnapshotError) {
            var terms = MatchTerms()
            terms.secrets.patterns = patterns
            #expect(throws: error) { try RequestMatcher(terms) }
            #expect(throws: error) { try SecretMask([terms]) }
        }
        check(["(a"], .malformed("the pattern (a: an unclosed group at byte 2"))
        check(Array(repeating: "a", count: DeclaredSecrets.patternLimit + 1), .tooLarge("secrets.patterns"))
    }
}

@Suite("Sequences of responses")
struct SequenceTests {
    @Test(
        "Responses to the same request are replayed in the order of recording, and end as configured",
        arguments: [
            (SequenceEnd.loop, ["one", "two", "three", "one", "two"]), (.last, ["one", "two", "three", "three", "three"]),
            (.error, ["one", "two", "three", "exhausted", "exhausted"]),
        ])
    func replays(end: SequenceEnd, expected: [String]) throws {
        let fixture = SnapshotFixture()
        let uri = "http://a:80/job"
        try fixture.write([Exchange(uri, "one"), Exchange("http://a:80/", "other"), Exchange(uri, "two"), Exchange(uri, "three")])
        let layer = try SnapshotLayer(Snapshot(path: fixture.path), key: nil, end: end)
        var (one, other) = (SequenceCursors(), SequenceCursors())
        for answer in expected {
            #expect(try MatchingTests.answer(layer, Exchange(uri), &one) == answer)
        }
        #expect(try MatchingTests.answer(layer, Exchange(uri), &other) == "one")
        one.rewind()
        #expect(try MatchingTests.answer(layer, Exchange(uri), &one) == "one")
    }

    /// A response recorded this many milliseconds after the first.
    private static func answer(
        _ body: String, after milliseconds: Int64, accept: String? = nil, varies: Bool = false
    ) -> Exchange {
        MatchingTests.exchange("http://a:80/job", body) {
            if let accept { $0.requestFields = [("Accept", accept)] }
            if varies { $0.fields = [("Vary", "Accept")] }
            $0.started = Timestamp(milliseconds: Exchange.began.milliseconds + milliseconds)
        }
    }

    private static func sequence(
        _ recorded: [Exchange], asked: Exchange, terms: MatchTerms = MatchTerms(), count: Int
    ) throws -> [String] {
        let fixture = SnapshotFixture()
        try fixture.write(recorded, terms: terms)
        let layer = try SnapshotLayer(Snapshot(path: fixture.path), key: SnapshotFixture.key, end: .error)
        var cursors = SequenceCursors()
        return try (0..<count).map { _ in try MatchingTests.answer(layer, asked, &cursors) }
    }

    @Test("Responses that differ in Vary form one sequence", arguments: [nil, "*/*", "text/html"] as [String?])
    func joinsVarying(accept: String?) throws {
        for varying in 0..<3 {
            let recorded = ["one", "two", "three"].enumerated().map { number, body in
                Self.answer(body, after: Int64(number) * 7, accept: accept, varies: number == varying)
            }
            #expect(
                try Self.sequence(recorded, asked: recorded[0], count: 4) == ["one", "two", "three", "exhausted"],
                "the one with Vary is \(varying)")
        }
    }

    @Test("Responses recorded for another value of a nominated field are left out of the sequence")
    func leavesOutOthers() throws {
        let recorded = [
            Self.answer("pending", after: 0, accept: "a"), Self.answer("of a", after: 1, accept: "a", varies: true),
            Self.answer("of b", after: 2, accept: "b", varies: true), Self.answer("last", after: 3, accept: "b"),
        ]
        #expect(try Self.sequence(recorded, asked: recorded[0], count: 4) == ["pending", "of a", "last", "exhausted"])
        #expect(try Self.sequence(recorded, asked: recorded[2], count: 4) == ["pending", "of b", "last", "exhausted"])
        let other = Self.answer("", after: 0, accept: "c")
        #expect(try Self.sequence(recorded, asked: other, count: 3) == ["pending", "last", "exhausted"])
    }

    @Test("Within one key, positions decide the order even if the clock was set back")
    func trustsPositions() throws {
        let recorded = [
            Self.answer("one", after: 50), Self.answer("two", after: 10), Self.answer("three", after: 60, varies: true),
        ]
        #expect(try Self.sequence(recorded, asked: recorded[0], count: 3) == ["one", "two", "three"])
    }

    @Test("Recordings made equal by a canonicaliser are each matched by their own Vary")
    func heedsOwnVary() throws {
        var joining = Canonicaliser(uri: "*")
        joining.replacements = [Canonicaliser.Replacement(.uri, "/[mn]$", by: "/x")]
        var ignoring = Canonicaliser(uri: "http://a:80/m")
        ignoring.ignoredFields = ["accept"]
        let terms = MatchTerms(canonicalisers: [joining, ignoring])
        let varying = MatchingTests.exchange("http://a:80/m", "m") {
            $0.requestFields = [("Accept", "a")]
            $0.fields = [("Vary", "Accept")]
        }
        let plain = MatchingTests.exchange("http://a:80/n", "n") { $0.requestFields = [("Accept", "a")] }
        for recorded in [[varying, plain], [plain, varying]] {
            #expect(try MatchingTests.answer(recorded, to: plain, terms: terms) == "n")
        }
    }

    @Test("The newest generation answers, or an older one if requested")
    func heedsGenerations() throws {
        let fixture = SnapshotFixture()
        try fixture.write([Exchange("http://a:80/1", "old"), Exchange("http://a:80/2", "only")], now: Timestamp(seconds: 100))
        try fixture.write(
            [Exchange("http://a:80/1", "new"), Exchange("http://a:80/3", "late")], existing: .append, now: Timestamp(seconds: 200)
        )
        func answer(_ uri: String, _ asOf: AsOf) throws -> String {
            var cursors = SequenceCursors()
            return try MatchingTests.answer(
                SnapshotLayer(Snapshot(path: fixture.path), key: nil, asOf: asOf), Exchange(uri), &cursors)
        }
        #expect(try answer("http://a:80/1", .newest) == "new")
        #expect(try answer("http://a:80/2", .newest) == "only")
        #expect(try answer("http://a:80/1", .generation(1)) == "old")
        #expect(try answer("http://a:80/1", .time(Timestamp(seconds: 199))) == "old")
        #expect(try answer("http://a:80/1", .time(Timestamp(seconds: 200))) == "new")
        #expect(try answer("http://a:80/3", .generation(1)) == "later")
    }
}
