import ProxyPolicy
import Testing

@Suite("Rules with ask")
struct AskingTests {
    private func obligations(
        _ rules: String, _ line: String, _ terms: EgressTerms = EgressTerms(.deny)
    ) throws -> Obligations? {
        var matched = MatchedRules()
        let verdict = try ruleSet(rules).under(terms).match(try request(line), into: &matched)
        if case .allow(let obligations) = verdict { return obligations }
        return nil
    }

    @Test("A request that no rule allows is asked about, wherever the rules stand, and a rule that denies needs no question")
    func order() throws {
        let rules = [
            "{name: a, match: {host: known}, allow: {}}", "{name: q, ask: {}}", "{name: d, match: {host: evil}, deny: {}}",
        ]
        for order in [rules, rules.reversed()] {
            let text = "[\(order.joined(separator: ", "))]"
            #expect(try obligations(text, "GET http://other/")?.asks == true)
            #expect(try obligations(text, "GET http://known/")?.asks == false)
            #expect(try obligations(text, "GET http://evil/") == nil)
            #expect(try obligations(text, "CONNECT other:443")?.asks == true)
            #expect(try obligations(text, "CONNECT known:443")?.asks == false)
        }
        #expect(try obligations("[{name: q, match: {host: h}, ask: {}}]", "GET http://i/") == nil)
    }

    @Test("Under egress.default: allow, only what the rule matches is asked about, in every reading of the path")
    func underAllow() throws {
        let rules = "[{name: q, match: {host: h, path: /admin/**}, ask: {}}]"
        for line in ["GET http://h/admin/x", "GET http://h/%61dmin/x", "GET http://h/a/../admin/x"] {
            #expect(try obligations(rules, line, EgressTerms())?.asks == true)
        }
        #expect(try obligations(rules, "GET http://h/x", EgressTerms())?.asks == false)
    }

    @Test("If one reading of the path is allowed and another needs a question, the request is asked about")
    func readings() throws {
        let rules = "[{name: a, match: {host: h, path: /v1/**}, allow: {}}, {name: q, match: {host: h}, ask: {}}]"
        #expect(try obligations(rules, "GET http://h/v1/x")?.asks == false)
        #expect(try obligations(rules, "GET http://h/v1/../x")?.asks == true)
    }

    @Test("A tunnel that a rule allows only if it is intercepted is asked about if a rule asks about the host")
    func tunnels() throws {
        let rules = "[{name: a, match: {host: h, path: /v1/**}, allow: {}}, {name: q, match: {host: h}, ask: {}}]"
        let found = try obligations(rules, "CONNECT h:443")
        #expect(found?.asks == true && found?.tunnel == .named)
        let inside = try obligations("[{name: q, match: {host: h, path: /x}, ask: {}}]", "CONNECT h:443")
        #expect(inside?.tunnel == .inspectedOnly)
    }

    @Test("Report mode asks nothing")
    func reportMode() throws {
        let terms = EgressTerms(.deny, enforcement: .report)
        let found = try obligations("[{name: q, ask: {}}]", "GET http://h/", terms)
        #expect(found?.asks == false && found?.reported == nil)
    }

    @Test("The defaults are a minute and deny; a rule with ask has no other action")
    func parsing() throws {
        let rules = try ruleSet("[{name: q, ask: {}}, {name: r, ask: {timeout: 5s, otherwise: allow}}]").rules
        #expect(rules.map(\.question) == [RuleQuestion(), RuleQuestion(timeout: 5000, allowsOtherwise: true)])
        #expect(rules[0].question?.description == "timeout: 1m, otherwise: deny")
        for bad in ["deny: {}", "allow: {}", "cache: {store: never}", "limit: {rate: 1/s}"] {
            #expect(try problems("[{name: q, ask: {}, \(bad)}]").count == 1)
        }
        #expect(try !problems("[{name: q, ask: {timeout: 2h}}]").isEmpty)
        #expect(try !problems("[{name: q, ask: {otherwise: perhaps}}]").isEmpty)
    }

    @Test("An answer for equal requests matches only these, and an answer for the host matches all of the host's port")
    func scopes() throws {
        let scopes = ApprovalScopes(try request("GET https://h/a?b=c"), user: Array("ann".utf8))
        #expect(
            scopes[.request]?.text
                == #"{"host":"h","scheme":"https","port":443,"method":"GET","path":"/a","user":"ann"}"#)
        #expect(scopes[.host]?.text == #"{"host":"h","scheme":"https","port":443,"user":"ann"}"#)
        // A pattern for this path would match other paths too.
        #expect(ApprovalScopes(try request("GET https://h/a*"), user: [])[.request] == nil)
        #expect(ApprovalScopes(try request("GET https://h/a"), user: Array("*".utf8))[.host] == nil)
        let match = try #require(ApprovalScopes(try request("GET https://h/a"), user: [])[.request])
        let rules = PolicyRuleSet(rules: [match.rule(named: "r", allows: true)]).under(EgressTerms(.deny))
        var matched = MatchedRules()
        for (line, isAllowed) in [
            ("GET https://h/a?x=y", true), ("GET https://h/a/b", false), ("GET https://h:444/a", false),
            ("GET http://h/a", false),
            ("POST https://h/a", false), ("GET https://h/b/../a", false),
        ] {
            #expect(rules.match(try request(line), into: &matched).isAllowed == isAllowed, "\(line)")
        }
    }
}
