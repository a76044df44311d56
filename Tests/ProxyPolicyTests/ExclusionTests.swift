import HTTPMessage
import ProxyPolicy
import Testing

@Suite("What a rule excludes")
struct ExclusionTests {
    private func isAllowed(_ match: String, _ line: String, _ fields: [String] = []) throws -> Bool {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {\(match)}, allow: {}}]").under(EgressTerms(.deny))
        return rules.match(try request(line, fields), into: &matched).isAllowed
    }

    private func isDenied(_ match: String, _ line: String, _ fields: [String] = []) throws -> Bool {
        var matched = MatchedRules()
        return try ruleSet("[{name: n, match: {\(match)}, deny: {}}]").match(try request(line, fields), into: &matched) == .deny
    }

    @Test(
        "A request matches a rule with `not` unless it matches all keys of one mapping",
        arguments: [
            ("not: {host: h}", "GET http://h/", false), ("not: {host: h}", "GET http://H./", false),
            ("not: {host: h}", "GET http://i/", true),
            ("not: {host: \"*.h\"}", "GET http://a.h/", false), ("not: {host: \"*.h\"}", "GET http://h/", true),
            ("not: {host: \"*.h\"}", "GET http://ah/", true), ("not: {host: 10.0.0.1}", "GET http://[::ffff:10.0.0.1]/", false),
            ("not: {host: 10.0.0.1}", "GET http://10.0.0.2/", true), ("not: {host: \"*\"}", "GET http://h/", false),
            ("not: {port: 8000-8999}", "GET http://h:8080/", false), ("not: {port: 8000-8999}", "GET http://h/", true),
            ("not: {scheme: http}", "GET http://h/", false), ("not: {method: [GET, HEAD]}", "HEAD http://h/", false),
            ("not: {method: [GET, HEAD]}", "POST http://h/", true), ("not: {path: /a/**}", "GET http://h/a/b", false),
            ("not: {path: /a/**}", "GET http://h/b", true), ("not: {query: {a: \"*\"}}", "GET http://h/?a=1", false),
            ("not: {query: {a: \"*\"}}", "GET http://h/?b=1", true), ("host: h, not: {path: /a}", "GET http://h/b", true),
            ("host: h, not: {path: /a}", "GET http://i/b", false),
            ("not: {path: /a, method: POST}", "GET http://h/a", true),
            ("not: {path: /a, method: POST}", "POST http://h/a", false),
            ("not: [{path: /a}, {method: POST}]", "GET http://h/a", false),
            ("not: [{path: /a}, {method: POST}]", "POST http://h/b", false),
            ("not: [{path: /a}, {method: POST}]", "GET http://h/b", true),
        ])
    func excludes(match: String, line: String, matches: Bool) throws {
        #expect(try isAllowed(match, line) == matches)
        #expect(try isDenied(match, line) == matches)
    }

    @Test("A rule that allows excludes requests that match in any reading; a rule that denies, those that match in every reading")
    func readings() throws {
        for path in ["/%61", "/x/../a", "/b/..;/a", "//a"] {
            #expect(try !isAllowed("not: {path: /a}", "GET http://h\(path)"), "\(path)")
        }
        #expect(try !isAllowed("not: {query: {a: x}}", "GET http://h/?a=y&a=x"))
        #expect(try !isAllowed("not: {query: {a: x}}", "GET http://h/?b;%2561=X"))
        #expect(try !isAllowed("not: {field: {A: x}}", "GET http://h/", ["A: y, X"]))
        #expect(try isDenied("not: {path: /pub/**}", "GET http://h/pub/../a"))
        #expect(try isDenied("not: {query: {a: x}}", "GET http://h/?a=x&a=y"))
        #expect(try isDenied("not: {field: {A: x}}", "GET http://h/", ["A: x", "A: y"]))
        #expect(try !isDenied("not: {path: /pub/**}", "GET http://h/pub/a%20b"))
    }

    @Test("A CONNECT does not match a rule that excludes requests by properties that a tunnel hides")
    func tunnels() throws {
        for match in [
            "not: {method: GET}", "not: {path: /a}", "not: {query: {a: x}}", "not: {field: {A: x}}", "not: {scheme: http}",
        ] {
            #expect(try !isDenied(match, "CONNECT h:443"), "\(match)")
            var matched = MatchedRules()
            let rules = try ruleSet("[{name: n, match: {\(match)}, allow: {}}]").under(EgressTerms(.deny))
            guard case .allow(let obligations) = rules.match(try request("CONNECT h:443"), into: &matched) else {
                return #expect(Bool(false))
            }
            #expect(obligations.tunnel == .inspectedOnly, "\(match)")
        }
        #expect(try isDenied("not: {host: h}", "CONNECT i:443"))
        #expect(try !isDenied("not: {host: h}", "CONNECT h:443"))
        #expect(try isAllowed("not: {host: h}", "CONNECT i:443"))
        #expect(try !isAllowed("not: {host: h}", "CONNECT h:443"))
        #expect(try !isAllowed("not: {port: 22}", "CONNECT h:22"))
    }

    @Test(
        "Mistakes are reported with their place",
        arguments: [
            ("not: {}", "f:1:25: rules[0].match.not: `match` is empty; remove this key if the rule is for every request"),
            ("not: []", "f:1:25: rules[0].match.not: the list is empty; remove the key instead"),
            ("not: {not: {host: h}}", "f:1:26: rules[0].match.not: unknown key `not`"),
            ("not: x", "f:1:25: rules[0].match.not: expected a mapping, found a single value"),
            ("not: [{pathh: /a}]", "f:1:27: rules[0].match.not[0]: unknown key `pathh`; did you mean `path`?"),
        ])
    func mistakes(match: String, problem: String) throws {
        #expect(try problems("[{name: n, match: {\(match)}, deny: {}}]").first?.hasPrefix(problem) == true)
    }
}
