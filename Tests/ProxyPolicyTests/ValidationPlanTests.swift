import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Validation plans")
struct ValidationPlanTests {
    private func plan(_ rules: String) throws -> ValidationPlan? {
        var matched = MatchedRules()
        let verdict = try ruleSet(rules).match(try request("GET http://h/"), into: &matched)
        guard case .allow(let obligations) = verdict else { return nil }
        #expect(obligations.validates == (matched.validation != nil))
        #expect(obligations.checksBody == (matched.validation.map { !$0.wellformed.isEmpty } ?? false))
        return matched.validation
    }

    @Test("Without a rule there is no plan")
    func none() throws {
        #expect(try plan("[{name: n, cache: {ttl: 1}}]") == nil)
    }

    @Test("The defaults are annotate, 8 MiB, then pass")
    func defaults() throws {
        let plan = try #require(try plan("[{name: n, validate: {status: 200}}]"))
        #expect(plan.headChecks.statuses.map(\.description) == ["200"])
        #expect(plan.headChecks.contentTypes.isEmpty)
        #expect(plan.wellformed.isEmpty)
        #expect(plan.onFailure == .annotate)
        #expect(plan.oversize == .pass)
        #expect(plan.maximumBodyLength == 8 << 20)
    }

    @Test("V1 to V6: every key is read")
    func words() throws {
        let plan = try #require(
            try plan(
                """
                [{name: n, validate: {status: [200-299, 304], content_type: [application/json, "*/*+json"], wellformed: json,
                  on_failure: stale, oversize: block, max_body: 1MiB}}]
                """))
        #expect(plan.headChecks.statuses.map(\.description) == ["200-299", "304"])
        #expect(plan.headChecks.contentTypes.map(\.description) == ["application/json", "*/*+json"])
        #expect(plan.wellformed == .json)
        #expect(plan.onFailure == .stale)
        #expect(plan.oversize == .block)
        #expect(plan.maximumBodyLength == 1 << 20)
    }

    @Test("All four outcomes are read", arguments: ["block", "annotate", "pass", "stale"])
    func outcomes(word: String) throws {
        #expect("\(try #require(try plan("[{name: n, validate: {status: 200, on_failure: \(word)}}]")).onFailure)" == word)
    }

    @Test(
        "Each kind, none, and any_of are read",
        arguments: [
            ("json", BodyKinds.json), ("xml", .xml), ("plist", .propertyList), ("image", .image), ("none", []),
            ("{any_of: [image, json]}", [.json, .image]), ("{any_of: [xml, plist, json]}", [.json, .xml, .propertyList]),
        ] as [(String, BodyKinds)])
    func kinds(words: String, expected: BodyKinds) throws {
        #expect(try #require(try plan("[{name: n, validate: {wellformed: \(words)}}]")).wellformed == expected)
    }

    @Test("V2: lists of later rules are appended to earlier ones, or replace them with replace")
    func inheritance() throws {
        let first = "{name: a, validate: {status: 200, content_type: application/json, on_failure: block}}"
        let adds = try #require(try plan("[\(first), {name: b, validate: {status: 304, content_type: text/*}}]"))
        #expect(adds.headChecks.statuses.map(\.description) == ["200", "304"])
        #expect(adds.headChecks.contentTypes.map(\.description) == ["application/json", "text/*"])
        #expect(adds.onFailure == .block)
        let replaces = try #require(
            try plan("[\(first), {name: b, validate: {content_type: text/*, replace: true, on_failure: pass}}]"))
        #expect(replaces.headChecks.statuses.map(\.description) == ["200"])
        #expect(replaces.headChecks.contentTypes.map(\.description) == ["text/*"])
        #expect(replaces.onFailure == .pass)
        let off = try #require(
            try plan("[{name: a, validate: {wellformed: json}}, {name: b, validate: {wellformed: none}}]"))
        #expect(off.wellformed.isEmpty)
    }

    @Test("A copied plan does not change when the storage is reused")
    func copies() throws {
        let rules = try ruleSet(
            "[{name: a, match: {host: h}, validate: {status: 200}}, {name: b, match: {host: i}, validate: {status: 404}}]")
        var matched = MatchedRules()
        _ = rules.match(try request("GET http://h/"), into: &matched)
        let first = try #require(matched.validation)
        _ = rules.match(try request("GET http://i/"), into: &matched)
        #expect(first.headChecks.statuses.map(\.description) == ["200"])
        #expect(matched.validation?.headChecks.statuses.map(\.description) == ["404"])
    }
}
