import ProxyPolicy
import Testing

@testable import PolicyTools

@Suite("Comparing policies whose rules match on the query")
struct QueryComparisonTests {
    private func rule(
        _ name: String, _ queries: KeyValuePairs<String, [String]> = [:], denies: Bool = false, paths: [String] = []
    ) throws -> PolicyRule {
        try Policies.rule(name, ["h.test"], methods: ["GET"], paths: paths, denies: denies, queries: queries)
    }

    private func changes(_ old: PolicyRuleSet, _ new: PolicyRuleSet) -> [String] {
        PolicyComparison.differences(from: old, to: new).changes.map { change in
            "\(change.doubt == nil ? "" : "may ")\(change.kind.rawValue) \(change.target)"
        }
    }

    @Test("A rule for a query opens exactly the URLs with this query, shown by one of them")
    func opens() throws {
        let fetch = try rule("fetch", ["service": ["git-upload-pack"]])
        #expect(changes(Policies.denying(), Policies.denying(fetch)) == ["opens https://h.test/?service=git-upload-pack"])
        #expect(changes(Policies.denying(fetch), Policies.denying()) == ["closes https://h.test/?service=git-upload-pack"])
        #expect(changes(Policies.denying(fetch), Policies.denying(try rule("same", ["service": ["git-upload-pack"]]))) == [])
    }

    @Test("A wider pattern only opens, a narrower one only closes, and the URL shows a value between them")
    func comparesPatterns() throws {
        let one = try rule("one", ["v": ["1.2"]])
        let many = try rule("many", ["v": ["1.*"]])
        #expect(changes(Policies.denying(one), Policies.denying(many)) == ["opens https://h.test/?v=1."])
        #expect(changes(Policies.denying(many), Policies.denying(one)) == ["closes https://h.test/?v=1."])
        #expect(changes(Policies.denying(many), Policies.denying(many, one)) == [])
    }

    @Test("All names of a rule must match, so a rule with another name is narrower")
    func comparesNames() throws {
        let one = try rule("one", ["a": ["1"]])
        let two = try rule("two", ["a": ["1"], "b": ["2"]])
        #expect(changes(Policies.denying(two), Policies.denying(one)) == ["opens https://h.test/?a=1"])
        #expect(changes(Policies.denying(one), Policies.denying(one, two)) == [])
        let every = PolicyRuleSet(rules: [])
        #expect(
            changes(every, PolicyRuleSet(rules: [try rule("no", ["a": ["1"], "b": ["2"]], denies: true)])) == [
                "closes https://h.test/?a=1&b=2"
            ])
    }

    @Test("A rule that denies also denies other spellings, which the rule that allows does not allow")
    func comparesSpellings() throws {
        let all = try rule("all")
        let deny = try rule("no", ["admin": ["true"]], denies: true)
        let other = try rule("other spelling", ["admin": ["true"]])
        #expect(changes(Policies.denying(all), Policies.denying(all, deny)) == ["closes https://h.test/?admin=true"])
        // In place of all queries, only those that the rule allows: what the rule that denies leaves is closed too.
        let found = PolicyComparison.differences(from: Policies.denying(other), to: Policies.denying(other, deny))
        #expect(found.changes.map(\.target) == ["https://h.test/?admin=true"] && !found.mayOpen)
    }

    @Test("A difference in path and query together has both in its URL")
    func comparesPaths() throws {
        let old = try rule("old", ["a": ["1"]], paths: ["/x/**"])
        let new = try rule("new", ["a": ["1"]], paths: ["/**"])
        #expect(changes(Policies.denying(old), Policies.denying(new)) == ["opens https://h.test/?a=1"])
        let narrow = try rule("narrow", ["a": ["1"]], paths: ["/x/y"])
        #expect(changes(Policies.denying(old), Policies.denying(narrow)) == ["closes https://h.test/x/?a=1"])
    }

    @Test("Values that a URL contains only encoded are encoded, and the URL still shows the difference for certain")
    func encodesValues() throws {
        let new = try rule("new", ["scope": ["a b&c"], "käse": ["ü"]])
        #expect(
            changes(Policies.denying(), Policies.denying(new)) == ["opens https://h.test/?k%C3%A4se=%C3%BC&scope=a%20b%26c"]
                || changes(Policies.denying(), Policies.denying(new)) == [
                    "opens https://h.test/?scope=a%20b%26c&k%C3%A4se=%C3%BC"
                ])
    }

    @Test("Rules with many values are compared too, and a pattern with several readings gives changes that may open")
    func comparesManyValues() throws {
        let values = (0..<12).map { "value-\($0)" }
        let rules = try values.map { try rule($0, ["q": [$0]]) }
        let old = PolicyRuleSet(rules: Array(rules.dropLast())).under(EgressTerms(.deny))
        let new = PolicyRuleSet(rules: rules).under(EgressTerms(.deny))
        #expect(changes(old, new) == ["opens https://h.test/?q=value-11"])
        let escape = try rule("escape", ["q": ["100%"]])
        #expect(changes(Policies.denying(), Policies.denying(escape)) == ["may opens https://h.test/"])
    }

    @Test("A rule with a query and a condition that is not compared may open, with the query in its URL")
    func keepsDoubt() throws {
        let new = try Policies.rule("new", ["h.test"], methods: ["GET"], queries: ["a": ["1"]], other: "user: bob")
        let found = PolicyComparison.differences(from: Policies.denying(), to: Policies.denying(new))
        #expect(found.mayOpen && found.changes.map(\.target) == ["https://h.test/?a=1"])
    }
}
