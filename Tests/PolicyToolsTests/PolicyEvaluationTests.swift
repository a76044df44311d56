import ProxyPolicy
import Testing

@testable import PolicyTools

@Suite("Evaluating a policy")
struct PolicyEvaluationTests {
    private func evaluation(_ line: String, _ policy: PolicyRuleSet) throws -> PolicyEvaluation {
        PolicyEvaluation(try PolicyRequest(line), under: policy)
    }

    @Test("An ambiguous path shows which of its readings the rules allow")
    func showsReadings() throws {
        let policy = Policies.denying(
            try Policies.rule("a", ["h.test"], paths: ["/pub/**"]), try Policies.rule("i", ["i.test"], paths: ["/**"]))
        let found = try evaluation("GET http://h.test/pub/../x", policy)
        #expect(found.decision.word == .ambiguousPath)
        #expect(
            found.readings == [
                PolicyEvaluation.Reading(path: "/pub/../x", isAllowed: true),
                PolicyEvaluation.Reading(path: "/x", isAllowed: false),
            ])
        #expect(try evaluation("GET http://h.test/pub/x", policy).readings.isEmpty)
    }

    @Test("A rule is suggested only to a request that no rule allows")
    func suggests() throws {
        let policy = Policies.denying(try Policies.rule("d", ["h.test"], denies: true))
        #expect(try evaluation("GET http://h.test/", policy).suggestion == nil)
        let suggestion = try evaluation("GET http://i.test/", policy).suggestion
        #expect(suggestion == #"{"match":{"host":"i.test","method":"GET","path":"/"},"allow":{}}"#)
    }

    @Test(
        "The evaluation of an https request also shows the verdict on its tunnel",
        arguments: [("/**", "allow"), ("/a", "intercept")])
    func showsTheTunnel(path: String, word: String) throws {
        let policy = Policies.denying(try Policies.rule("a", ["h.test"], paths: [path]))
        #expect(try evaluation("GET https://h.test/a", policy).tunnel?.word.rawValue == word)
        #expect(try evaluation("GET http://h.test/a", policy).tunnel == nil)
    }

    @Test(
        "Text that is not a request is refused",
        arguments: ["GET", "GET /a", "GET h.test", "GET ftp://h.test/", "GET https://h.test/ b"])
    func refuses(line: String) {
        #expect(throws: PolicyRequest.Fault.self) { try PolicyRequest(line) }
    }
}
