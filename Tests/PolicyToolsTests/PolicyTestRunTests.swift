import ProxyPolicy
import Testing

@testable import PolicyTools

@Suite("Tests of a policy")
struct PolicyTestRunTests {
    private func scalar(_ text: String) -> SettingsNode { SettingsNode(.scalar(SettingsScalar(text)), at: .none) }

    private func mapping(_ entries: KeyValuePairs<String, SettingsNode>) -> SettingsNode {
        SettingsNode(.mapping(entries.map { SettingsNode.Entry(key: $0.key, at: .none, value: $0.value) }), at: .none)
    }

    private func tests(_ entries: KeyValuePairs<String, SettingsNode>) -> (tests: [PolicyTest], problems: [String]) {
        var problems = SettingsProblems()
        let node = SettingsNode(.sequence([mapping(entries)]), at: .none)
        let tests = PolicyTest.parse(SettingsCursor(node, path: "tests"), problems: &problems)
        return (tests ?? [], problems.all.map(\.message))
    }

    private func failure(_ policy: PolicyRuleSet, _ entries: KeyValuePairs<String, SettingsNode>) -> String? {
        let read = tests(entries)
        #expect(read.problems == [])
        return PolicyTestRun(read.tests, of: policy).outcomes.first?.failure
    }

    @Test("A test passes if the verdict is as expected; otherwise it names the actual verdict")
    func comparesVerdicts() throws {
        let policy = Policies.denying(
            try Policies.rule("a", ["h.test"], methods: ["GET"]), try Policies.rule("d", ["h.test"], paths: ["/no"], denies: true)
        )
        #expect(
            failure(policy, ["request": scalar("GET https://h.test/"), "verdict": scalar("allow"), "rule": scalar("a")]) == nil)
        #expect(
            failure(policy, ["request": scalar("GET https://h.test/no"), "verdict": scalar("deny"), "rule": scalar("d")]) == nil)
        #expect(failure(policy, ["request": scalar("PUT https://h.test/"), "verdict": scalar("egress_denied")]) == nil)
        #expect(failure(policy, ["request": scalar("CONNECT h.test:443"), "verdict": scalar("intercept")]) == nil)
        #expect(
            failure(policy, ["request": scalar("PUT https://h.test/"), "verdict": scalar("allow")])
                == "expected allow, but the request is denied: no rule allows the request")
        #expect(
            failure(policy, ["request": scalar("GET https://h.test/"), "verdict": scalar("allow"), "rule": scalar("aa")])
                == "no rule is named `aa`; did you mean `a`?")
    }

    @Test("A test names the client: what it does not name is not known")
    func namesTheClient() throws {
        let policy = try LearnedStage.policy(
            "[{name: c, match: {client: 10.0.0.0/8, user: alice, certificate: ci.test, run: build}, allow: {}}]")
        let request = scalar("GET https://h.test/")
        let names = SettingsNode(.sequence([scalar("CN=ci"), scalar("ci.test")]), at: .none)
        #expect(
            failure(
                policy,
                [
                    "request": request, "client": scalar("10.1.1.1"), "user": scalar("alice"), "certificate": names,
                    "run": scalar("build"), "verdict": scalar("allow"),
                ]) == nil)
        #expect(failure(policy, ["request": request, "user": scalar("alice"), "verdict": scalar("egress_denied")]) == nil)
        #expect(
            tests(["request": request, "client": scalar("10.0.0.0/8"), "verdict": scalar("allow")]).problems == [
                "the client of a test must be an IP address"
            ])
    }

    @Test("A test compares fields after the edits of the rules")
    func comparesEdits() throws {
        let rule = mapping(["name": scalar("e"), "request": mapping(["set": mapping(["X-Name": scalar("v")])])])
        let policy = try PolicyRuleSet(parsing: SettingsNode(.sequence([rule]), at: .none))
        func failure(of value: String) -> String? {
            self.failure(
                policy,
                [
                    "request": scalar("GET https://h.test/"), "verdict": scalar("allow"),
                    "edits": mapping(["X-Name": scalar(value), "X-None": scalar("")]),
                ])
        }
        #expect(failure(of: "v") == nil)
        // Neither value is named, since it may be a secret.
        #expect(failure(of: "w") == "the field X-Name does not have the expected value after the edits")
    }

    @Test("Rules that no test matches are listed")
    func listsCoverage() throws {
        let policy = Policies.denying(try Policies.rule("a", ["h.test"]), try Policies.rule("b", ["i.test"]))
        let run = PolicyTestRun(tests(["request": scalar("GET https://h.test/"), "verdict": scalar("allow")]).tests, of: policy)
        #expect(run.unmatchedRules == ["b"] && run.ruleCount == 2 && run.failures.isEmpty)
    }

    @Test("A test whose request is invalid is a mistake in the settings")
    func reportsMistakes() {
        #expect(tests(["verdict": scalar("allow")]).problems == ["the key `request` is missing"])
        #expect(tests(["request": scalar("https://h.test/"), "verdict": scalar("allow")]).problems.count == 1)
        #expect(tests(["request": scalar("GET h.test"), "verdict": scalar("allow")]).problems.count == 1)
        #expect(tests(["request": scalar("GET https://h.test/"), "verdict": scalar("alow")]).problems.count == 1)
    }

    @Test("The report for JUnit has the failures, and no character that XML does not allow")
    func writesJUnit() throws {
        let read = tests(["request": scalar("GET https://h.test/?a=1&b=<"), "verdict": scalar("deny")]).tests
        let text = JUnitReport.text(of: PolicyTestRun(read, of: .empty), file: "a\u{1}\u{FFFF}\n.yaml")
        #expect(
            text.contains("tests=\"1\" failures=\"1\"") && text.contains("?a=1&amp;b=&lt;")
                && text.contains("a\u{FFFD}\u{FFFD}&#10;.yaml"))
        #expect(text.contains("<failure message=\"expected deny, but the request is allowed: no rule denies the request\"/>"))
    }
}
