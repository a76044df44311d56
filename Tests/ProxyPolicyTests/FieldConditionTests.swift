import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Rules for fields")
struct FieldConditionTests {
    private func isAllowed(_ field: String, _ lines: [String]) throws -> Bool {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {host: h, field: \(field)}, allow: {}}]").under(EgressTerms(.deny))
        return rules.match(try request("GET http://h/x", lines), into: &matched).isAllowed
    }

    private func isDenied(_ field: String, _ lines: [String]) throws -> Bool {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {host: h, field: \(field)}, deny: {}}]")
        return rules.match(try request("GET http://h/x", lines), into: &matched) == .deny
    }

    @Test(
        "A rule that allows needs the field, and every line of it has to match",
        arguments: [
            (["Git-Protocol: version=2"], true), (["git-protocol: version=2"], true),
            (["A: b", "Git-Protocol: version=2"], true),
            (["Git-Protocol: version=2", "Git-Protocol: version=2"], true),
            ([], false), (["Git-Protocol: version=1"], false), (["Git-Protocol:"], false), (["Git_Protocol: version=2"], false),
            (["Git-Protocol: version=2", "Git-Protocol: version=1"], false),
            (["Git-Protocol: version=2", "GIT_PROTOCOL: version=1"], false), (["Git-Protocol: Version=2"], false),
            (["Git-Protocol: version=2, version=1"], false),
        ])
    func allows(lines: [String], isExpected: Bool) throws {
        #expect(try isAllowed("{Git-Protocol: version=2}", lines) == isExpected)
    }

    @Test(
        "A rule that denies needs one line, or one element of a line, that matches in either case",
        arguments: [
            (["X-Mode: write"], true), (["X-Mode: read", "x-mode: WRITE"], true), (["X-Mode: read, write"], true),
            (["X_Mode: write"], true), (["X-Mode: read"], false), (["X-Modes: write"], false), ([], false),
            (["X-Mode: \"read, write\""], false),
        ])
    func denies(lines: [String], isExpected: Bool) throws {
        #expect(try isDenied("{X-Mode: write}", lines) == isExpected)
    }

    @Test("Values are globs; one of several must match, and all names must match")
    func values() throws {
        #expect(try isAllowed("{Content-Type: \"application/*\"}", ["Content-Type: application/json"]))
        #expect(try isAllowed("{Content-Type: [\"text/*\", application/json]}", ["Content-Type: application/json"]))
        #expect(try isAllowed("{A: \"*\", B: \"*\"}", ["A: ", "B: x"]))
        #expect(try !isAllowed("{A: \"*\", B: \"*\"}", ["A: "]))
    }

    @Test("A rule with field allows no tunnel, and sees the fields of CONNECT")
    func tunnels() throws {
        var matched = MatchedRules()
        let allow = try ruleSet("[{name: n, match: {host: h, field: {A: x}}, allow: {}}]").under(EgressTerms(.deny))
        guard case .allow(let obligations) = allow.match(try request("CONNECT h:443", ["A: x"]), into: &matched) else {
            return #expect(Bool(false))
        }
        #expect(obligations.tunnel == .inspectedOnly)
        let deny = try ruleSet("[{name: n, match: {host: h, field: {User-Agent: \"curl/*\"}}, deny: {}}]")
        #expect(deny.match(try request("CONNECT h:443", ["User-Agent: curl/8.5"]), into: &matched) == .deny)
        #expect(deny.match(try request("CONNECT h:443"), into: &matched).isAllowed)
    }

    @Test(
        "Mistakes are reported with their place, and without values",
        arguments: [
            ("{}", "f:1:27: rules[0].match.field: the mapping is empty; remove the key instead"),
            ("{a b: x}", "f:1:28: rules[0].match.field.a b: `a b` is not a field name"),
            (
                "{Host: x}",
                "f:1:28: rules[0].match.field.Host: rules cannot match the Host field; match the host of the target with `host`"
            ),
            (
                "{Proxy-Authorization: x}",
                "f:1:28: rules[0].match.field.Proxy-Authorization: Proxy-Authorization belongs to one connection; rules cannot match this field"
            ),
        ])
    func mistakes(field: String, problem: String) throws {
        #expect(try problems("[{name: n, match: {field: \(field)}, deny: {}}]") == [problem])
        let secret = String(repeating: "s", count: 257)
        #expect(
            try problems("[{name: n, match: {field: {a: \(secret)}}, deny: {}}]") == [
                "f:1:31: rules[0].match.field.a: a value must have at most 256 bytes, and no control characters"
            ])
    }
}
