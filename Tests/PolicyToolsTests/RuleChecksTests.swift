import ProxyPolicy
import Testing

@testable import PolicyTools

@Suite("Rules without effect")
struct RuleChecksTests {
    private func texts(_ rules: PolicyRule..., default: EgressDefault = .deny) -> [String] {
        let policy = PolicyRuleSet(rules: rules).under(EgressTerms(`default`))
        return RuleChecks.remarks(on: policy).map { $0.text(of: policy) { "line \($0 + 1)" } }
    }

    @Test("A rule whose requests another rule denies names that rule, in either order")
    func namesDenials() throws {
        let allow = try Policies.rule("a", ["x.h.test"], methods: ["GET"], paths: ["/v1/*"])
        let deny = try Policies.rule("d", ["*.h.test"], paths: ["/v1/**"], denies: true)
        let text = { (a: Int, d: Int) in
            "the rule `a` (line \(a)) has no effect: the rule `d` (line \(d)) denies every request that it matches"
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

    @Test("A rule that another rule includes is named, and of two equal rules the second")
    func namesInclusions() throws {
        let wide = try Policies.rule("wide", ["h.test"], ports: [1...100, 101...500])
        let narrow = try Policies.rule("narrow", ["h.test"], ports: [80...80, 443...443])
        #expect(
            texts(narrow, wide) == [
                "the rule `narrow` (line 1) has no effect: the rule `wide` (line 2) allows every request that it allows"
            ])
        let same = try Policies.rule("same", ["h.test"], ports: [1...500])
        #expect(
            texts(wide, same) == [
                "the rule `same` (line 2) has no effect: the rule `wide` (line 1) allows every request that it allows"
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
                "the rule `c` (line 1) never matches: a CONNECT has no path"
            ])
        #expect(texts(try Policies.rule("a", ["h.test"]), default: .allow).first?.contains("egress.default is allow") == true)
    }
}
