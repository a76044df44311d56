import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Rules for a query")
struct QueryConditionTests {
    private static let fetch = "query: {service: git-upload-pack}"

    private func verdict(_ match: String, allowing query: String) throws -> Bool {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {host: h, \(match)}, allow: {}}]").under(EgressTerms(.deny))
        return rules.match(try request("GET http://h/x\(query)"), into: &matched).isAllowed
    }

    private func isDenied(_ match: String, _ query: String) throws -> Bool {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {host: h, \(match)}, deny: {}}]")
        return rules.match(try request("GET http://h/x\(query)"), into: &matched) == .deny
    }

    @Test(
        "A rule that allows needs the parameter, and every occurrence of it has to match in every reading",
        arguments: [
            ("?service=git-upload-pack", true), ("?a=b&service=git-upload-pack", true), ("?service=git-upload-pack&", true),
            ("?service=git-upload-pack&service=git-upload-pack", true), ("?service=git%2Dupload-pack", true),
            ("?%73ervice=git-upload-pack", true),
            ("", false), ("?", false), ("?service", false), ("?service=", false), ("?x=git-upload-pack", false),
            ("?service=git-receive-pack", false), ("?service=git-upload-pack&service=git-receive-pack", false),
            ("?service=git-receive-pack&service=git-upload-pack", false),
            ("?service=git-upload-pack&%73ervice=git-receive-pack", false),
            ("?service=git-upload-pack&%2573ervice=git-receive-pack", false),
            ("?service=git-upload-pack;service=git-receive-pack", false), ("?service=git-upload-pack;x=y", false),
            ("?x=y;service=git-receive-pack&service=git-upload-pack", false), ("?x=y;service=git-upload-pack", false),
            ("?service=git-upload-pack&SERVICE=git-receive-pack", false), ("?SERVICE=git-upload-pack", false),
            ("?service=git-upload-pack&service[]=git-receive-pack", false), ("?service=git-upload-pack&+service=x", false),
            ("?service=git%252Dupload-pack", false), ("?service=GIT-UPLOAD-PACK", false),
        ])
    func allows(query: String, isAllowed: Bool) throws {
        #expect(try verdict(Self.fetch, allowing: query) == isAllowed)
    }

    @Test(
        "A rule that denies needs one occurrence that matches in one reading",
        arguments: [
            ("?service=git-receive-pack", true), ("?service=x&service=git-receive-pack", true),
            ("?a&service=git-receive-pack&b", true),
            ("?service=git%2Dreceive-pack", true), ("?service=git%252dreceive-pack", true),
            ("?%2573ervice=git-receive-pack", true),
            ("?x;service=git-receive-pack;y", true), ("?Service=Git-Receive-Pack", true), ("?service[0]=git-receive-pack", true),
            ("", false), ("?service=git-upload-pack", false), ("?services=git-receive-pack", false),
            ("?x=service=git-receive-pack", false),
            ("?git-receive-pack=service", false),
        ])
    func denies(query: String, isDenied isExpected: Bool) throws {
        #expect(try isDenied("query: {service: git-receive-pack}", query) == isExpected)
    }

    @Test(
        "Values are globs; one of several must match, and all names must match",
        arguments: [
            ("query: {a: \"*\"}", "?a", true), ("query: {a: \"*\"}", "?b", false), ("query: {a: \"\"}", "?a=", true),
            ("query: {a: \"x*z\"}", "?a=xyz", true), ("query: {a: \"x*z\"}", "?a=xy", false),
            ("query: {a: [x, y]}", "?a=y", true),
            ("query: {a: \"1 2\"}", "?a=1%202", true), ("query: {a: \"1 2\"}", "?a=1+2", false),
            ("query: {a: [\"1 2\", \"1+2\"]}", "?a=1+2", true),
            ("query: {a: x, b: y}", "?a=x&b=y", true), ("query: {a: x, b: y}", "?a=x", false),
            ("query: {a.b: x}", "?a.b=x", true),
        ])
    func values(match: String, query: String, isAllowed: Bool) throws {
        #expect(try verdict(match, allowing: query) == isAllowed)
    }

    @Test("A query with more parameters than Larder reads is not allowed, and is denied")
    func bounds() throws {
        let long = "?" + Array(repeating: "x=y", count: 255).joined(separator: "&")
        #expect(try verdict(Self.fetch, allowing: long + "&service=git-upload-pack"))
        #expect(try !isDenied(Self.fetch, long + "&z=z"))
        #expect(try !verdict(Self.fetch, allowing: long + "&service=git-upload-pack&z=z"))
        #expect(try isDenied(Self.fetch, long + "&z=z&z=z"))
    }

    @Test(
        "A path with an encoded ? or # may hide another query, so a rule that allows does not match it, and one that denies does",
        arguments: ["/x%3fservice=git-receive-pack", "/x%3F", "/x%23", "/x%253f", "/a%3fb/x"])
    func hiddenQueries(path: String) throws {
        var matched = MatchedRules()
        let allow = try ruleSet("[{name: n, match: {path: /**, \(Self.fetch)}, allow: {}}]").under(EgressTerms(.deny))
        #expect(allow.match(try request("GET http://h\(path)?service=git-upload-pack"), into: &matched) == .unlisted)
        let deny = try ruleSet("[{name: n, match: {query: {service: git-receive-pack}}, deny: {}}]")
        #expect(deny.match(try request("GET http://h\(path)"), into: &matched) == .deny)
        let other = try ruleSet("[{name: n, match: {\(Self.fetch)}, cache: {store: never}}]")
        _ = other.match(try request("GET http://h\(path)?service=git-upload-pack"), into: &matched)
        #expect(matched.count == 1)
    }

    @Test(
        "PHP reads ., a space and a [ without ] in a name as _, and a rule that denies counts these names too",
        arguments: [
            ("?run_as=root", true), ("?run.as=root", true), ("?run+as=root", true), ("?run[as=root", true),
            ("?run%5Bas=root", true),
            ("?run_as[]=root", true), ("?+run[as=root", true), ("?run[as]=root", false), ("?runas=root", false),
        ])
    func namesOfPHP(query: String, isDenied isExpected: Bool) throws {
        #expect(try isDenied("query: {run_as: root}", query) == isExpected)
    }

    @Test("Other rules use the query as the client sent it")
    func asSent() throws {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {query: {a: x}}, cache: {store: never}}]")
        for (query, matches) in [
            ("?a=x", true), ("?a=%78", true), ("?a=y&a=x", true), ("?A=x", false), ("?b;a=x", false), ("?a=X", false),
        ] {
            _ = rules.match(try request("GET http://h/\(query)"), into: &matched)
            #expect(matched.isEmpty != matches, "\(query)")
        }
    }

    @Test("The parameters of one request are not used for the next")
    func reuse() throws {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {query: {a: x}}, deny: {}}]")
        #expect(rules.match(try request("GET http://h/?a=x"), into: &matched) == .deny)
        #expect(rules.match(try request("GET http://h/?b=x"), into: &matched).isAllowed)
        #expect(rules.match(try request("GET http://h/"), into: &matched).isAllowed)
        #expect(rules.match(try request("GET http://h/?b=x&a=x"), into: &matched) == .deny)
    }

    @Test("A rule with query allows no tunnel, and denies none")
    func tunnels() throws {
        var matched = MatchedRules()
        let allow = try ruleSet("[{name: n, match: {host: h, \(Self.fetch)}, allow: {}}]").under(EgressTerms(.deny))
        guard case .allow(let obligations) = allow.match(try request("CONNECT h:443"), into: &matched) else {
            return #expect(Bool(false))
        }
        #expect(obligations.tunnel == .inspectedOnly)
        let deny = try ruleSet("[{name: n, match: {host: h, query: {a: \"*\"}}, deny: {}}]")
        #expect(deny.match(try request("CONNECT h:443"), into: &matched).isAllowed)
    }

    @Test(
        "Mistakes are reported with their place",
        arguments: [
            ("query: {}", "f:1:27: rules[0].match.query: the mapping is empty; remove the key instead"),
            ("query: [a]", "f:1:27: rules[0].match.query: expected a mapping, found a list"),
            ("query: {a: []}", "f:1:31: rules[0].match.query.a: the list is empty; remove the key instead"),
            ("query: {a: {b: c}}", "f:1:31: rules[0].match.query.a: expected a value or a list, found a mapping"),
            ("query: {a:}", "f:1:30: rules[0].match.query.a: expected a value, found nothing"),
            ("query: {a: x, a: y}", "f:1:34: rules[0].match.query.a: this key is set twice"),
            ("qurey: {a: x}", "f:1:20: rules[0].match: unknown key `qurey`; did you mean `query`?"),
        ])
    func mistakes(match: String, problem: String) throws {
        #expect(try problems("[{name: n, match: {\(match)}, deny: {}}]") == [problem])
    }
}
