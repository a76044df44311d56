import HTTPMessage
import ProxyPolicy
import Testing

@testable import HTTPCaching

@Suite("The cache section of rules")
struct CacheRuleParsingTests {
    private func rule(_ cache: String) throws -> CacheRule {
        try #require(try ruleSet("[{name: n, cache: {\(cache)}}]").rules[0].cache)
    }

    @Test(
        "Problems are reported with their place",
        arguments: [
            ("ttl: {}", "1:25: rules[0].cache.ttl: `ttl` lists no status"),
            (
                "ttl: {40x: 1m}",
                "1:26: rules[0].cache.ttl.40x: expected a status such as 404, a class such as 5xx, a range such as 500-599, or default, found `40x`"
            ),
            (
                "ttl: {1xx: 1m}",
                "1:26: rules[0].cache.ttl.1xx: responses with the status `1xx` are never stored, so a lifetime has no effect"
            ),
            (
                "ttl: {304: 1m}",
                "1:26: rules[0].cache.ttl.304: responses with the status `304` are never stored, so a lifetime has no effect"
            ),
            (
                "ttl: {206: 1m}",
                "1:26: rules[0].cache.ttl.206: responses with the status `206` are never stored, so a lifetime has no effect"
            ),
            (
                "ttl: {404: soon}",
                "1:31: rules[0].cache.ttl.404: expected a time such as 60, 60s, 5m or 1h, found `soon`"
            ),
            ("grace: 1500ms", "1:27: rules[0].cache.grace: a lifetime is a whole number of seconds"),
            (
                "heuristic: off",
                "1:31: rules[0].cache.heuristic: expected true or false, found `off`; did you mean `false`?"
            ),
            ("collapse: {}", "1:30: rules[0].cache.collapse: the key `wait` is missing"),
            ("collapse: {wait: 11m}", "1:37: rules[0].cache.collapse.wait: expected 1ms to 10m, found `11m`"),
            ("variants: 0", "1:30: rules[0].cache.variants: expected a whole number from 1 to 1024, found `0`"),
            ("variants: 1025", "1:30: rules[0].cache.variants: expected a whole number from 1 to 1024, found `1025`"),
            (
                "tags: [a b]",
                "1:27: rules[0].cache.tags[0]: a tag must be 1 to 64 visible ASCII characters without comma, \" and \\"
            ),
            (
                "key: {}",
                "1:25: rules[0].cache.key: nothing to do: give drop_query, keep_query, sort_query, canonical_host, fields, body"
            ),
            (
                "key: {drop_query: [\"a*b\"]}",
                "1:39: rules[0].cache.key.drop_query[0]: `a*b` is not a parameter name as it appears in the URL; a star is allowed only at its end"
            ),
            ("key: {canonical_host: a:80}", "1:42: rules[0].cache.key.canonical_host: `a:80` is not a host name"),
            ("key: {canonical_host: \"*.a\"}", "1:42: rules[0].cache.key.canonical_host: `*.a` is not a host name"),
            ("key: {fields: [a b]}", "1:35: rules[0].cache.key.fields[0]: `a b` is not a field name"),
            ("key: {fields: [A, a]}", "1:38: rules[0].cache.key.fields[1]: this field is listed twice"),
            ("key: {body: GET}", "1:32: rules[0].cache.key.body: expected one of QUERY, POST, found `GET`"),
        ])
    func problems(cache: String, message: String) throws {
        #expect(try ProxyPolicyTests.problems("[{name: n, cache: {\(cache)}}]") == ["f:" + message])
    }

    @Test(
        "Settings that override the RFC are refused without unsafe, and accepted with it",
        arguments: [
            (
                "ignore: private",
                "1:28: rules[0].cache.ignore: the rule stores responses although the origin server forbids storing them"
            ),
            (
                "ignore: [no-store]",
                "1:28: rules[0].cache.ignore: the rule stores responses although the origin server forbids storing them"
            ),
            (
                "set_cookie: always",
                "1:32: rules[0].cache.set_cookie: the rule stores responses with Set-Cookie even if a heuristic or a rule sets their lifetime"
            ),
            (
                "key: {body: [QUERY, POST]}",
                "1:25: rules[0].cache.key: the rule serves responses to POST from the store (RFC 9111 §4)"
            ),
        ])
    func demandsUnsafe(cache: String, message: String) throws {
        let found = try ProxyPolicyTests.problems("[{name: n, cache: {\(cache)}}]")
        #expect(found == ["f:" + message + ": add `unsafe: true`"])
        #expect(try ProxyPolicyTests.problems("[{name: n, cache: {\(cache), unsafe: true}}]") == [])
    }

    @Test("Each key is read")
    func words() throws {
        let overrides = try rule(
            "grace: 1h, heuristic: false, collapse: {wait: 250ms}, variants: 1024, set_cookie: never"
        ).overrides
        #expect(overrides.grace == DeltaSeconds(3600))
        #expect(overrides.permitsHeuristic == false)
        #expect(overrides.collapsing == .within(milliseconds: 250))
        #expect(overrides.variantLimit == 1024)
        #expect(overrides.setCookie == .never)
        #expect(try rule("collapse: false").overrides.collapsing == .never)
        #expect(try rule("collapse: true").overrides.collapsing == .always)
        #expect(try rule("collapse: true").overrides.fillsParts == nil)
        #expect(try rule("fill: true").overrides.fillsParts == true)
        #expect(try rule("fill: false").overrides.fillsParts == false)
        #expect(try rule("ignore: [private, no-store], unsafe: true").overrides.ignored == [.private, .noStore])
        #expect(try rule("tags: [a, b:c/d]").tags == ["a", "b:c/d"])
    }

    @Test("If several lifetimes match a status, the one with the narrowest range applies")
    func lifetimes() throws {
        let overrides = try rule("ttl: {5xx: 10s, default: 1h, 500-503: 20s, 404: 1m, 503: 0}").overrides
        let expected: [(UInt16, Int64?)] = [(404, 60), (503, 0), (502, 20), (599, 10), (410, nil), (200, nil)]
        for (code, seconds) in expected {
            #expect(overrides.statusLifetimes.lifetime(of: Status(code)) == seconds.map { DeltaSeconds($0) }, "\(code)")
        }
        #expect(overrides.timeToLive == DeltaSeconds(3600))
    }

    @Test("Eight ranges of statuses are accepted, nine refused", arguments: [(8, 0), (9, 1)])
    func lifetimeLimit(count: Int, problemCount: Int) throws {
        let entries = (0..<count).map { "\(400 + $0): 1m" }.joined(separator: ", ")
        #expect(try ProxyPolicyTests.problems("[{name: n, cache: {ttl: {\(entries)}}}]").count == problemCount)
    }

    @Test(
        "A list at its limit is accepted, one past it refused",
        arguments: [
            ("tags", 16, ""), ("key: {drop_query", 256, "}"), ("key: {keep_query", 256, "}"), ("key: {fields", 8, "}"),
        ])
    func listLimits(word: String, limit: Int, end: String) throws {
        for (count, problemCount) in [(limit, 0), (limit + 1, 1)] {
            let items = (0..<count).map { "n\($0)" }.joined(separator: ", ")
            #expect(try ProxyPolicyTests.problems("[{name: n, cache: {\(word): [\(items)]\(end)}}]").count == problemCount)
        }
    }

    @Test("Values of several rules: the last one wins, and its rule is named; tags add up")
    func merges() throws {
        let rules = try ruleSet(
            """
            [{name: a, cache: {grace: 1m, tags: [x, y], ttl: {404: 1m}, key: {sort_query: true, drop_query: a}}},
             {name: b, cache: {ignore: private, ttl: 5m, unsafe: true, key: {drop_query: b}}},
             {name: c, match: {host: other}, cache: {grace: 9m}}, {name: d, cache: {ignore: no-store, unsafe: true, tags: y}}]
            """)
        var matched = MatchedRules()
        guard case .allow(let obligations) = rules.match(try request("GET http://h/"), into: &matched) else { return }
        #expect(obligations.cache.grace == DeltaSeconds(60) && matched.rule(saying: .grace)?.name == "a")
        #expect(obligations.cache.statusLifetimes.isEmpty && matched.rule(saying: .ttl)?.name == "b")
        #expect(obligations.cache.ignored == [.private, .noStore])
        #expect(matched.rule(saying: .ignorePrivate)?.name == "b" && matched.rule(saying: .ignoreNoStore)?.name == "d")
        #expect(matched.rule(saying: .policy) == nil)
        #expect(matched.tags == ["x", "y"])
        let key = try #require(matched.keyRewriting)
        #expect(
            obligations.rewritesKey && key.sortsQuery == true && key.dropped == KeyRewriting.ParameterPattern("b").map { [$0] })
        _ = rules.match(try request("GET http://other/"), into: &matched)
        #expect(matched.rule(saying: .grace)?.name == "c")
    }
}
