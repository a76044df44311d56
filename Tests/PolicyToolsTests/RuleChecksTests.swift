import HTTPMessage
import ProxyPolicy
import Testing

@testable import PolicyTools

@Suite("Rules without effect")
struct RuleChecksTests {
    private func texts(_ rules: PolicyRule..., default: EgressDefault = .deny) -> [String] {
        let policy = PolicyRuleSet(rules: rules).under(EgressTerms(`default`))
        return RuleChecks.remarks(on: policy).map { $0.text(of: policy) { "line \($0 + 1)" } }
    }

    @Test("A rule whose requests another rule denies is reported with that rule, in either order")
    func namesDenials() throws {
        let allow = try Policies.rule("a", ["x.h.test"], methods: ["GET"], paths: ["/v1/*"])
        let deny = try Policies.rule("d", ["*.h.test"], paths: ["/v1/**"], denies: true)
        let text = { (a: Int, d: Int) in
            "the rule `a` (line \(a)) has no effect: the rule `d` (line \(d)) denies every request that `a` matches"
        }
        #expect(texts(allow, deny) == [text(1, 2)])
        #expect(texts(deny, allow) == [text(2, 1)])
    }

    @Test("Of rules that deny, only the later one has no effect")
    func namesEarlierDenials() throws {
        let wide = try Policies.rule("wide", ["h.test"], denies: true)
        let narrow = try Policies.rule("narrow", ["h.test"], paths: ["/a"], denies: true)
        #expect(texts(wide, narrow).count == 1)
        #expect(texts(narrow, wide).isEmpty)
    }

    @Test("A rule in report mode overrides no other rule")
    func trustsReportsNot() throws {
        let wide = try Policies.rule("wide", ["h.test"], denies: true)
        let trial = PolicyRule(name: "trial", condition: wide.condition, reason: "no", enforcement: .report)
        let real = try Policies.rule("real", ["h.test"], ports: [25...25], denies: true)
        #expect(texts(trial, real).isEmpty)
    }

    @Test("A rule that another rule includes is named, and of two equal rules the second")
    func namesInclusions() throws {
        let wide = try Policies.rule("wide", ["h.test"], ports: [1...100, 101...500])
        let narrow = try Policies.rule("narrow", ["h.test"], ports: [80...80, 443...443])
        #expect(
            texts(narrow, wide) == [
                "the rule `narrow` (line 1) has no effect: the rule `wide` (line 2) allows every request that `narrow` allows"
            ])
        let same = try Policies.rule("same", ["h.test"], ports: [1...500])
        #expect(
            texts(wide, same) == [
                "the rule `same` (line 2) has no effect: the rule `wide` (line 1) allows every request that `same` allows"
            ])
    }

    @Test("Rules that overlap without including each other are not named")
    func keepsOverlaps() throws {
        #expect(
            texts(
                try Policies.rule("a", ["h.test"], paths: ["/a/**"]), try Policies.rule("b", ["h.test"], paths: ["/**/b"]),
                try Policies.rule("c", ["*.test"], methods: ["GET"], paths: ["/a/**"]),
                try Policies.rule("d", ["h.test"], methods: ["GET"], paths: ["/*"], denies: true)
            ).isEmpty)
    }

    @Test("A condition that is not compared may match less")
    func keepsOtherWords() throws {
        let deny = try Policies.rule("d", ["h.test"], denies: true, other: "query")
        #expect(texts(deny, try Policies.rule("a", ["h.test"])).isEmpty)
    }

    @Test("A CONNECT has no path, and an allow has no effect under the default allow")
    func namesContradictions() throws {
        #expect(
            texts(try Policies.rule("c", ["h.test"], methods: ["CONNECT"], paths: ["/a"])) == [
                "the rule `c` (line 1) never matches: a CONNECT request has no path"
            ])
        #expect(texts(try Policies.rule("a", ["h.test"]), default: .allow).first?.contains("egress.default is allow") == true)
    }

    private func reason(_ change: (inout RuleCondition) throws -> Void) throws -> String? {
        var condition = RuleCondition()
        try change(&condition)
        let rule = PolicyRule(name: "r", condition: condition, reason: "no")
        return texts(rule).first.map { $0.replacing("the rule `r` (line 1) never matches: ", with: "") }
    }

    private func methods(_ names: String...) -> [RuleCondition.MethodName] { names.compactMap { RuleCondition.MethodName($0) } }

    @Test("A CONNECT has no query, no length of content and no scheme but https, and a rule with a method allows no CONNECT")
    func namesContradictionsOfConnect() throws {
        #expect(
            try reason {
                $0.methods = methods("CONNECT")
                $0.schemes = [.http]
            } == "a CONNECT request has the scheme https, which `scheme` does not list")
        #expect(
            try reason {
                $0.methods = methods("CONNECT")
                $0.queries = [try #require(QueryCondition(name: "a", values: []))]
            } == "a CONNECT request has no query")
        #expect(
            try reason {
                $0.methods = methods("CONNECT")
                $0.contentLengths = [0...1]
            } == "the content of a CONNECT request has no length")
        #expect(try reason { $0.methods = methods("CONNECT", "GET") } == nil)
        #expect(
            texts(try Policies.rule("c", ["h.test"], methods: ["CONNECT"])) == [
                "the rule `c` (line 1) never matches: a rule that allows a tunnel must not have a method; remove `method`"
            ])
    }

    @Test("A method that no request of the operation has never matches")
    func namesContradictionsOfOperations() throws {
        func operation(_ names: String...) -> RuleCondition {
            var condition = RuleCondition()
            condition.methods = names.compactMap { RuleCondition.MethodName($0) }
            return condition
        }
        let reason = { (method: String) in
            try self.reason {
                $0.methods = methods(method)
                $0.operations = [operation("GET", "HEAD"), operation("POST")]
            }
        }
        #expect(try reason("DELETE") == "no request of the operation in `operation` uses a method in `method`")
        #expect(try reason("CONNECT") == "no request of the operation in `operation` uses a method in `method`")
        #expect(try reason("POST") == nil)
    }

    @Test("A `not` that excludes all hosts, schemes, ports, methods or paths of its rule leaves nothing to match")
    func namesExclusions() throws {
        let text = "`not` excludes every request that the other conditions match"
        func excluding(_ condition: (inout RuleCondition) throws -> Void, _ excluded: ((inout RuleCondition) throws -> Void)...)
            throws -> String?
        {
            try reason { rule in
                try condition(&rule)
                rule.exclusions = try excluded.map {
                    var exclusion = RuleCondition()
                    try $0(&exclusion)
                    return exclusion
                }
            }
        }
        #expect(try excluding({ $0.methods = methods("GET") }, { $0.methods = methods("GET", "HEAD") }) == text)
        #expect(try excluding({ $0.methods = methods("GET", "HEAD") }, { $0.methods = methods("GET") }) == nil)
        #expect(
            try excluding(
                { $0.methods = methods("GET", "HEAD") }, { $0.methods = methods("GET") }, { $0.methods = methods("HEAD") })
                == text)
        #expect(try excluding({ _ in }, { $0.schemes = [.http] }, { $0.schemes = [.https] }) == text)
        #expect(try excluding({ $0.schemes = [.http] }, { $0.schemes = [.https] }) == nil)
        #expect(try excluding({ $0.ports = [8000...8080] }, { $0.ports = [1...8050] }, { $0.ports = [8051...9000] }) == text)
        #expect(try excluding({ $0.ports = [8000...8080] }, { $0.ports = [1...8050] }) == nil)
        #expect(try excluding({ $0.hosts = [try HostPattern("a.h.test")] }, { $0.hosts = [try HostPattern("*.h.test")] }) == text)
        #expect(
            try excluding(
                {
                    $0.hosts = [try HostPattern("h.test")]
                    $0.paths = [try PathPattern("/a/b")]
                },
                { $0.paths = [try PathPattern("/a/**")] }) == text)
        #expect(
            try excluding(
                { $0.methods = methods("GET") },
                {
                    $0.methods = methods("GET")
                    $0.fields = [FieldCondition(name: try #require(FieldName("X")), values: [])]
                }) == nil)
    }
}
