import ProxyPolicy
import Testing

@Suite("Report mode")
struct ReportModeTests {
    private func verdict(_ rules: String, _ terms: EgressTerms, _ line: String = "GET http://h/x") throws -> Verdict {
        var matched = MatchedRules()
        return try ruleSet(rules).under(terms).match(try request(line), into: &matched)
    }

    private func reported(_ verdict: Verdict) -> ReportedDenial? {
        if case .allow(let obligations) = verdict { obligations.reported } else { nil }
    }

    private static let report = EgressTerms(.deny, enforcement: .report)

    @Test("A request that would be denied is allowed, with the reason")
    func reports() throws {
        #expect(try reported(verdict("[]", Self.report)) == .unlisted)
        #expect(try reported(verdict("[{name: a, match: {host: i}, allow: {}}]", Self.report)) == .unlisted)
        #expect(try reported(verdict("[{name: a, match: {host: i}, allow: {}}]", Self.report, "CONNECT h:443")) == .unlisted)
        #expect(try reported(verdict("[{name: a, allow: {}}, {name: d, deny: {}}]", Self.report)) == .rule(index: 1))
        #expect(
            try reported(verdict("[{name: a, match: {path: /x/**}, allow: {}}]", Self.report, "GET http://h/x/../y"))
                == .ambiguousPath)
        #expect(try reported(verdict("[{name: a, allow: {}}]", Self.report)) == nil)
    }

    @Test("A rule's own enforce has precedence over that of egress")
    func ruleDecides() throws {
        #expect(try verdict("[{name: d, enforce: deny, deny: {}}]", EgressTerms(enforcement: .report)) == .deny)
        #expect(try reported(verdict("[{name: d, enforce: report, deny: {}}]", EgressTerms())) == .rule(index: 0))
        #expect(try verdict("[{name: d, enforce: report, deny: {}}, {name: e, deny: {}}]", EgressTerms()) == .deny)
        #expect(try verdict("[{name: d, enforce: report, deny: {}}]", EgressTerms(.deny)) == .unlisted)
    }

    @Test("A rule that only reports does not end the list")
    func laterRulesApply() throws {
        let rules = "[{name: d, enforce: report, deny: {}}, {name: c, cache: {store: never}}]"
        guard case .allow(let obligations) = try verdict(rules, EgressTerms()) else { return #expect(Bool(false)) }
        #expect(obligations.cache.storeNever)
    }
}
