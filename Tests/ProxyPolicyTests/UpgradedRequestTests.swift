import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Requests that a rule upgrades to https")
struct UpgradedRequestTests {
    private static let upgrade = "{name: up, match: {host: h, scheme: http}, request: {upgrade: https}}"

    private func judged(_ rules: String, _ url: String, _ terms: EgressTerms = EgressTerms()) throws -> (Verdict, [String]) {
        var matched = MatchedRules()
        let verdict = try ruleSet("[\(Self.upgrade), \(rules)]").under(terms).match(try request("GET \(url)"), into: &matched)
        return (verdict, (0..<matched.count).map { matched[$0].name })
    }

    @Test(
        "A rule that denies the https URL denies the request",
        arguments: ["{scheme: https, path: /x}", "{port: 443, path: /x}", "{not: {scheme: http}, path: /x}"])
    func denies(match: String) throws {
        let rules = "{name: no, match: \(match), deny: {}}"
        let (denied, names) = try judged(rules, "http://h/x")
        #expect(denied == .deny && names == ["no"])
        #expect(try judged(rules, "http://h/y").0.isAllowed)
        #expect(try judged(rules, "http://i/x").0.isAllowed)
    }

    @Test("Where the settings deny all other requests, both URLs have to be allowed")
    func needsBoth() throws {
        let terms = EgressTerms(.deny)
        #expect(try judged("{name: a, match: {scheme: http}, allow: {}}", "http://h/x", terms).0 == .unlisted)
        #expect(try judged("{name: a, match: {scheme: https}, allow: {}}", "http://h/x", terms).0 == .unlisted)
        #expect(try judged("{name: a, match: {port: [80, 443]}, allow: {}}", "http://h/x", terms).0.isAllowed)
        #expect(try judged("{name: a, match: {port: 80}, allow: {}}", "http://h/x", terms).0 == .unlisted)
        #expect(try judged("{name: a, allow: {}}", "http://h/x", terms).0.isAllowed)
    }

    @Test("Report mode reports what would be denied for the https URL, with the rule")
    func reports() throws {
        let rules = "{name: no, match: {scheme: https}, enforce: report, deny: {}}"
        let (verdict, names) = try judged(rules, "http://h/x")
        guard case .allow(let obligations) = verdict else { return #expect(Bool(false)) }
        #expect(obligations.reported == .rule(index: 1) && names == ["up", "no"] && obligations.upgradesToTLS)
        let terms = EgressTerms(.deny, enforcement: .report)
        guard case .allow(let unlisted) = try judged("{name: a, match: {scheme: http}, allow: {}}", "http://h/x", terms).0 else {
            return #expect(Bool(false))
        }
        #expect(unlisted.reported == .unlisted)
    }

    @Test("A CONNECT is not upgraded, and rules do not decide on an https URL for it")
    func sparesConnect() throws {
        var matched = MatchedRules()
        let rules = try ruleSet(
            "[{name: up, match: {host: h}, request: {upgrade: https}}, {name: no, match: {scheme: https, method: GET}, deny: {}}]"
        )
        #expect(rules.match(try request("CONNECT h:443"), into: &matched).isAllowed)
        #expect(rules.match(try request("GET http://h/"), into: &matched) == .deny)
    }
}
