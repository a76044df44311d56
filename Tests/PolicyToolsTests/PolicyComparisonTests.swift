import Foundation
import ProxyPolicy
import Testing

@testable import PolicyTools

@Suite("Comparing two policies")
struct PolicyComparisonTests {
    private func lines(_ old: PolicyRuleSet, _ new: PolicyRuleSet) -> [String] {
        PolicyComparison.differences(from: old, to: new).lines
    }

    @Test("Policies that allow the same requests have no differences, whatever the order and names of their rules")
    func findsNothing() throws {
        let a = try Policies.rule("a", ["h.test"], paths: ["/v1/**"])
        let b = try Policies.rule("b", ["i.test"])
        let other = try Policies.rule("c", ["h.test"], paths: ["/v1/**"])
        #expect(PolicyComparison.differences(from: Policies.denying(a, b), to: Policies.denying(b, other)).isEmpty)
    }

    @Test("A rule for a path that another rule includes opens nothing")
    func seesInclusion() throws {
        let wide = try Policies.rule("wide", ["*.test"], paths: ["/**/x"])
        let narrow = try Policies.rule("narrow", ["h.test"], paths: ["/a/*/x"])
        #expect(PolicyComparison.differences(from: Policies.denying(wide), to: Policies.denying(wide, narrow)).isEmpty)
    }

    @Test("A new rule opens a request, which is shown with the shortest path and the rule that allows it")
    func opens() throws {
        let old = try Policies.rule("old", ["h.test"], paths: ["/v1/**"])
        let new = try Policies.rule("new", ["h.test"], methods: ["GET"], paths: ["/v2/*"])
        #expect(
            lines(Policies.denying(old), Policies.denying(old, new)) == [
                "opens GET https://h.test/v2/ (before: no rule allows the request; now: rule `new` allows the request)"
            ])
        #expect(
            lines(Policies.denying(old, new), Policies.denying(old)) == [
                "closes GET https://h.test/v2/ (before: rule `new` allows the request; now: no rule allows the request)"
            ])
    }

    @Test("A new rule that denies closes requests, and opens none")
    func closes() throws {
        let all = try Policies.rule("all", ["h.test"])
        let deny = try Policies.rule("no", ["*.test"], paths: ["/admin/**"], denies: true)
        let found = PolicyComparison.differences(from: Policies.denying(all), to: Policies.denying(all, deny))
        #expect(!found.mayOpen)
        #expect(
            found.lines == [
                "closes GET https://h.test/admin/ (before: rule `all` allows the request; now: rule `no` denies the request)"
            ])
    }

    @Test("A rule without path and method also opens tunnels")
    func comparesTunnels() throws {
        let new = try Policies.rule("new", ["h.test"], ports: [443...443])
        let found = PolicyComparison.differences(from: Policies.denying(), to: Policies.denying(new))
        #expect(found.changes.map(\.method) == ["GET", "CONNECT"])
        #expect(found.changes.map(\.target) == ["https://h.test/", "h.test:443"])
    }

    @Test("`tunnel: any` opens a tunnel for every protocol")
    func comparesAnyTunnel() throws {
        let named = try Policies.rule("r", ["h.test"])
        let any = PolicyRule(name: "r", condition: named.condition, allows: true, allowsAnyTunnel: true)
        let found = PolicyComparison.differences(from: Policies.denying(named), to: Policies.denying(any))
        #expect(found.mayOpen && found.changes.contains { $0.method == "CONNECT" && $0.kind == .opens })
    }

    @Test("If a rule that denies CONNECT for some clients is removed, this CONNECT may open")
    func comparesTunnelsOfClients() throws {
        let deny = try Policies.rule("no", ["h.test"], methods: ["CONNECT"], denies: true, other: "user: bob")
        let open = PolicyRuleSet(rules: [])
        let found = PolicyComparison.differences(from: PolicyRuleSet(rules: [deny]), to: open)
        #expect(found.mayOpen && found.changes.map(\.method) == ["CONNECT"])
        let closed = PolicyComparison.differences(from: open, to: PolicyRuleSet(rules: [deny]))
        #expect(!closed.mayOpen && closed.changes.map(\.method) == ["CONNECT"])
    }

    @Test("Report mode opens the requests that the same rules deny without it, and closes none")
    func comparesReportMode() throws {
        let rule = try Policies.rule("one", ["h.test"], paths: ["/v1/**"])
        let denying = Policies.denying(rule)
        let reporting = PolicyRuleSet(rules: [rule]).under(EgressTerms(.deny, enforcement: .report))
        let allowing = PolicyRuleSet(rules: [rule]).under(EgressTerms(.allow))
        #expect(PolicyComparison.differences(from: denying, to: reporting).mayOpen)
        #expect(PolicyComparison.differences(from: allowing, to: reporting).isEmpty)
    }

    @Test("Changing the default to allow opens every host")
    func comparesDefaults() throws {
        let found = PolicyComparison.differences(from: Policies.denying(), to: .empty)
        #expect(found.changes.first?.hosts == "any other host")
        #expect(found.mayOpen)
    }

    @Test("A pattern with an escape opens a path that only a request with this escape has")
    func comparesEscapes() throws {
        let new = try Policies.rule("new", ["h.test"], methods: ["GET"], paths: ["/a%20b/c"])
        let found = PolicyComparison.differences(from: Policies.denying(), to: Policies.denying(new))
        #expect(found.changes.map(\.target) == ["https://h.test/a%20b/c"])
        #expect(found.changes.allSatisfy { $0.doubt == nil })
    }

    @Test("Keys that are not compared give changes that may open or close, but none if both policies have the same rule")
    func doubts() throws {
        let plain = try Policies.rule("plain", ["h.test"], methods: ["GET"], paths: ["/a"])
        let other = try Policies.rule("other", ["h.test"], methods: ["GET"], paths: ["/b"], other: "user: bob")
        #expect(PolicyComparison.differences(from: Policies.denying(other), to: Policies.denying(other)).isEmpty)
        let found = PolicyComparison.differences(from: Policies.denying(other), to: Policies.denying(other, plain))
        #expect(found.changes.map(\.target) == ["https://h.test/a"])
        // This condition has no word that the request could lack, so the policies confirm the example.
        #expect(PolicyComparison.differences(from: Policies.denying(plain), to: Policies.denying(plain, other)).mayOpen)
    }

    @Test("Rules that are too complex to compare are named, and count as opening")
    func namesWhatIsNotCompared() throws {
        let new = try Policies.rule("new", ["h.test"], paths: ["/**a**b**c"])
        let found = PolicyComparison.differences(from: Policies.denying(), to: Policies.denying(new), steps: 20)
        #expect(found.notCompared.contains("h.test") && found.mayOpen)
        #expect(found.lines.last?.hasPrefix("not compared, because the rules are too complex: ") == true)
    }

    @Test("A list with more changes than requested is cut, and says so")
    func cuts() throws {
        let rules = try (0..<30).map { try Policies.rule("r\($0)", ["h\($0).test"], methods: ["GET"]) }
        let new = PolicyRuleSet(rules: rules).under(EgressTerms(.deny))
        let found = PolicyComparison.differences(from: Policies.denying(), to: new, changes: 20)
        #expect(found.changes.count == 20 && found.isCut && found.mayOpen)
        #expect(found.lines.last == "this list is incomplete: there are more changes")
    }

    /// A failing seed is named; `LARDER_POLICY_SEED=N` runs it alone.
    @Test("The comparison finds each difference that brute force finds, under seeded pairs of policies")
    func agreesWithBruteForce() throws {
        let environment = ProcessInfo.processInfo.environment
        func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) } }
        let alone = number("LARDER_POLICY_SEED")
        let seeds = alone.map { $0..<($0 + 1) } ?? 0..<(number("LARDER_POLICY_PAIRS") ?? 10)
        for seed in seeds {
            var pairs = PolicyPairs(seed: UInt64(seed))
            let missing = try pairs.firstMissingChange(urls: number("LARDER_POLICY_URLS") ?? 5000)
            #expect(missing == nil, "seed \(seed)")
        }
    }
}
