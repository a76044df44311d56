import HTTPMessage
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
        #expect(found.readings.map(\.path) == ["/pub/../x", "/x"].map { Array($0.utf8) })
        #expect(found.readings.map(\.outcome) == [.allowed, .denied])
        #expect(try evaluation("GET http://h.test/pub/x", policy).readings.isEmpty)
    }

    private static func asking(_ host: String, otherwise: Bool = false) throws -> PolicyRule {
        var condition = RuleCondition()
        condition.hosts = [try HostPattern(host)]
        return PolicyRule(name: "q", condition: condition, question: RuleQuestion(allowsOtherwise: otherwise))
    }

    @Test("A request that waits for an approver has a verdict of its own, which is neither allowed nor denied")
    func asks() throws {
        let policy = Policies.denying(try Self.asking("h.test"), try Policies.rule("a", ["a.test"]))
        let found = try evaluation("GET http://h.test/", policy)
        #expect(found.decision.word == .ask && found.decision.rule == "q" && !found.isAllowed)
        #expect(found.lines.contains("verdict: waits for an approver, by rule `q`"))
        #expect(try evaluation("CONNECT h.test:443", policy).decision.word == .ask)
        #expect(try evaluation("GET http://a.test/", policy).decision.word == .allow)
        #expect(PolicyTest.Expected.exactly(.ask).accepts(.ask))
        #expect(!PolicyTest.Expected.allow.accepts(.ask) && !PolicyTest.Expected.deny.accepts(.ask))
    }

    @Test("A comparison shows which requests only one policy asks about, and that a question opens what was denied")
    func comparesQuestions() throws {
        let allowed = Policies.denying(try Policies.rule("a", ["h.test"]))
        let asked = Policies.denying(try Self.asking("h.test"))
        let before = PolicyComparison.differences(from: allowed, to: asked)
        #expect(
            before.lines == [
                "closes GET https://h.test/ (before: rule `a` allows the request; now: rule `q` asks an approver)"
            ])
        #expect(!before.mayOpen)
        #expect(PolicyComparison.differences(from: asked, to: allowed).mayOpen)
        #expect(PolicyComparison.differences(from: Policies.denying(), to: asked).mayOpen)
        #expect(PolicyComparison.differences(from: asked, to: asked).isEmpty)
        #expect(
            !PolicyComparison.differences(from: asked, to: Policies.denying(try Self.asking("h.test", otherwise: true))).isEmpty)
    }

    @Test("In report mode no reading is denied, and the verdict says what would deny the request")
    func reports() throws {
        let rules = PolicyRuleSet(rules: [
            try Policies.rule("a", ["h.test"], paths: ["/pub/**"]),
            try Policies.rule("d", ["h.test"], paths: ["/x"], denies: true),
        ])
        let policy = rules.under(EgressTerms(.deny, enforcement: .report))
        let found = try evaluation("GET http://h.test/pub/../x", policy)
        #expect(found.isAllowed && found.decision.reported == .deniedByRule)
        #expect(found.readings.map(\.outcome) == [.allowed, .reported])
        #expect(
            found.lines == [
                "GET http://h.test/pub/../x", "verdict: allowed in report mode, otherwise denied by rule `d`",
                "would deny: denied_by_rule", "rules: `a`, `d`", "reading: /pub/../x (allowed)", "reading: /x (reported)",
            ])
        let unlisted = try evaluation("GET http://i.test/%61", policy)
        #expect(unlisted.decision.text == "allowed in report mode, otherwise denied: no rule allows the request")
        #expect(!unlisted.readings.contains { $0.outcome == .denied })
    }

    @Test("The readings of a path follow the operations of a rule")
    func readsOperations() throws {
        let policy = try LearnedStage.policy(
            "[{name: o, match: {host: h.test, path: /npm/**, operation: npm-install}, allow: {}}]")
        let found = try evaluation("GET http://h.test/npm/@scope%252fname", policy)
        #expect(found.isAllowed && found.readings.map(\.outcome) == [.allowed, .allowed], "\(found.lines)")
    }

    @Test("A PURGE needs no rule, is denied by rules that deny, and only clients in clients.purge may send it")
    func purges() throws {
        let policy = Policies.denying(try Policies.rule("d", ["h.test"], denies: true))
        let purgers = [try #require(AddressRange("10.0.0.0/8"))]
        func found(_ url: String, from client: String? = nil, _ purgers: [AddressRange]) throws -> PolicyEvaluation {
            let facts = ClientFacts(address: client.flatMap { IPAddress($0) })
            return PolicyEvaluation(try PolicyRequest("PURGE", url, from: facts), under: policy, purgers: purgers)
        }
        let free = try found("http://i.test/a/../b", purgers)
        #expect(free.isAllowed && free.lines[1] == "verdict: allowed: a PURGE needs no rule")
        #expect(!free.readings.contains { $0.outcome == .denied })
        #expect(try found("http://i.test/", from: "10.1.1.1", purgers).isAllowed)
        #expect(try found("http://i.test/", from: "192.0.2.1", purgers).lines.contains("code: purge_not_allowed"))
        let off = try found("http://i.test/", [])
        #expect(!off.isAllowed && off.lines.contains("code: purge_off"))
        #expect(try found("http://h.test/", purgers).decision.word == .deniedByRule)
    }

    @Test("What is known of the client and of the content counts")
    func knowsTheClient() throws {
        let policy = try LearnedStage.policy(
            "[{name: c, match: {client: 10.0.0.0/8, user: alice, certificate: ci.test, run: build, content_length: 0-9}, allow: {}}]"
        )
        let known = ClientFacts(
            address: IPAddress("10.1.1.1"), user: Array("alice".utf8), certificateNames: [Array("ci.test".utf8)],
            run: Array("build".utf8))
        func isAllowed(_ client: ClientFacts, _ fields: String...) throws -> Bool {
            PolicyEvaluation(try PolicyRequest("PUT", "http://h.test/", fields: fields, from: client), under: policy).isAllowed
        }
        #expect(try isAllowed(known, "Content-Length: 9"))
        #expect(try !isAllowed(known, "Content-Length: 10") && !isAllowed(known, "Transfer-Encoding: chunked"))
        #expect(try !isAllowed(ClientFacts(address: known.address, user: known.user)))
        #expect(try !isAllowed(ClientFacts()))
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
