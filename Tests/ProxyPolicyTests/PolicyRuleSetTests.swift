import HTTPMessage
import ProxyPolicy
import Testing

@testable import HTTPCaching

@Suite("A list of rules")
struct PolicyRuleSetTests {
    private func obligations(_ rules: String, _ line: String = "GET http://h/") throws -> Obligations {
        var matched = MatchedRules()
        guard case .allow(let obligations) = try ruleSet(rules).match(try request(line), into: &matched) else {
            Issue.record("denied")
            return .none
        }
        return obligations
    }

    @Test("An empty list, and a list in which no rule matches, have no effect")
    func none() throws {
        #expect(try obligations("[]") == .none)
        #expect(try obligations("[{name: n, match: {host: i}, cache: {store: never}}]") == .none)
        #expect(try PolicyRuleSet(parsing: FlowSettings.node("null")).isEmpty)
    }

    @Test("A rule that denies ends the list at its place, with its name and reason")
    func deny() throws {
        let rules = try ruleSet(
            """
            [{name: before, cache: {store: never}}, {name: ads, match: {host: "*.ads.example"}, deny: {reason: no ads here}},
             {name: after, request: {set: {X: a}}}]
            """)
        var matched = MatchedRules()
        #expect(rules.match(try request("GET http://x.ads.example/"), into: &matched) == .deny)
        #expect(matched.denyingRule?.name == "ads")
        #expect(matched.denyingRule?.reason == "no ads here")
        #expect((0..<matched.count).map { matched[$0].name } == ["before", "ads"])
        #expect(rules.match(try request("GET http://h/"), into: &matched).isAllowed)
        #expect(matched.denyingRule == nil)
        #expect((0..<matched.count).map { matched[$0].name } == ["before", "after"])
    }

    @Test("The default reason of a denial names the rule")
    func defaultReason() throws {
        for deny in ["{}", "null"] {
            var matched = MatchedRules()
            _ = try ruleSet("[{name: the name, deny: \(deny)}]").match(try request("GET http://h/"), into: &matched)
            #expect(matched.denyingRule?.reason == "denied by the rule the name")
        }
    }

    @Test("C1 to C6: the six policies", arguments: CachePolicy.allCases)
    func policies(policy: CachePolicy) throws {
        #expect(try obligations("[{name: n, cache: {policy: \(policy.word)}}]").cache == CacheOverrides(policy: policy))
    }

    @Test("C7: store, ttl, max_size")
    func cacheWords() throws {
        let cache = try obligations("[{name: n, cache: {store: never, ttl: 5m, max_size: 16MiB}}]").cache
        #expect(cache == CacheOverrides(storeNever: true, timeToLive: DeltaSeconds(300), maximumBodyLength: 16 << 20))
    }

    @Test("A later rule's cache values override earlier ones, value by value")
    func laterWins() throws {
        let cache = try obligations(
            "[{name: a, cache: {policy: reload, ttl: 60}}, {name: b, cache: {policy: revalidate, max_size: 1}}]"
        ).cache
        #expect(cache == CacheOverrides(policy: .revalidate, timeToLive: DeltaSeconds(60), maximumBodyLength: 1))
    }

    @Test(
        "unsafe applies to its own rule and does not affect other rules",
        arguments: [
            ("[{name: a, cache: {ttl: 60, unsafe: true}}]", "ttl"),
            ("[{name: a, cache: {ttl: 60, unsafe: false}}]", ""),
            ("[{name: a, cache: {ttl: 60, unsafe: true}}, {name: b, cache: {max_size: 1}}]", "ttl"),
            ("[{name: a, cache: {ttl: 60, unsafe: true}}, {name: b, cache: {ttl: 30}}]", ""),
            ("[{name: a, cache: {ttl: 60}}, {name: b, cache: {ttl: 30, unsafe: true}}]", "ttl"),
            ("[{name: a, cache: {ttl: 60}}, {name: b, cache: {policy: stored_else_load, unsafe: true}}]", "policy"),
            (
                "[{name: a, cache: {ttl: 60, unsafe: true}}, {name: b, cache: {policy: stored_else_load, unsafe: true}}]",
                "policy ttl"
            ),
        ])
    func unsafe(rules: String, expected: String) throws {
        let cache = try obligations(rules).cache
        let words = [cache.isPolicyUnsafe ? "policy" : nil, cache.isTimeToLiveUnsafe ? "ttl" : nil].compactMap { $0 }
        #expect(words.joined(separator: " ") == expected)
    }

    @Test("Rules apply in order, whether or not they name a host")
    func order() throws {
        let rules = (0..<200).map { number in
            let match = number % 3 == 0 ? "" : "match: {host: \(number % 3 == 1 ? "a.b" : "\"*.b\"")}, "
            return "{name: r\(number), \(match)cache: {ttl: \(number)}}"
        }
        var matched = MatchedRules()
        _ = try ruleSet("[" + rules.joined(separator: ",") + "]").match(try request("GET http://a.b/"), into: &matched)
        #expect((0..<matched.count).map { matched[$0].name } == (0..<200).map { "r\($0)" })
    }

    @Test("A reload does not affect an exchange in flight")
    func keepsRuleSet() throws {
        var matched = MatchedRules()
        var head = try request("GET http://h/")
        _ = try ruleSet("[{name: old, request: {set: {X: old}}}]").match(head, into: &matched)
        matched.editRequest(&head.fields)
        #expect(lines(head.fields).last == "X: old")
        #expect(matched[0].name == "old")
    }

    @Test("The same storage works for rule sets of different sizes")
    func sizes() throws {
        let large = try ruleSet("[" + (0..<130).map { "{name: r\($0), cache: {ttl: 1}}" }.joined(separator: ",") + "]")
        let small = try ruleSet("[{name: s, match: {host: h}, cache: {ttl: 1}}]")
        var matched = MatchedRules()
        let head = try request("GET http://h/")
        for _ in 0..<3 {
            _ = large.match(head, into: &matched)
            #expect(matched.count == 130)
            _ = small.match(head, into: &matched)
            #expect(matched.count == 1)
            _ = PolicyRuleSet.empty.match(head, into: &matched)
            #expect(matched.isEmpty)
        }
    }
}
