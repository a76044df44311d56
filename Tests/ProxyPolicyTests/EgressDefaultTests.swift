import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Requests that no rule allows")
struct EgressDefaultTests {
    private func verdict(_ rules: String, _ line: String) throws -> Verdict {
        var matched = MatchedRules()
        return try ruleSet(rules).under(EgressTerms(.deny)).match(try request(line), into: &matched)
    }

    private func isAllowed(_ rules: String, _ line: String) throws -> Bool { try verdict(rules, line).isAllowed }

    @Test("A request is denied if there are no rules, or if no rule allows it")
    func deniesUnlisted() throws {
        #expect(try verdict("[]", "GET http://h/") == .unlisted)
        #expect(try verdict("[{name: n, cache: {store: never}}]", "GET http://h/") == .unlisted)
        #expect(try verdict("[{name: n, match: {host: i}, allow: {}}]", "GET http://h/") == .unlisted)
        #expect(try verdict("[{name: n, match: {host: i}, allow: {}}]", "CONNECT h:443") == .unlisted)
        #expect(try verdict("[{name: n, match: {host: h}, allow: {}}]", "GET http://h.i/") == .unlisted)
    }

    @Test("A request is allowed by one rule, and denied by one, in either order")
    func orderDoesNotMatter() throws {
        let allow = "{name: a, match: {host: h}, allow: {}}"
        let deny = "{name: d, match: {host: h, path: /no}, deny: {}}"
        for rules in ["[\(allow), \(deny)]", "[\(deny), \(allow)]"] {
            #expect(try isAllowed(rules, "GET http://h/yes"))
            #expect(try verdict(rules, "GET http://h/no") == .deny)
        }
    }

    @Test("Under the default allow, `allow` has no effect, and the rule's other keys apply")
    func changesNothing() throws {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {host: h}, allow: {}, cache: {store: never}}]")
        #expect(rules.match(try request("GET http://i/"), into: &matched).isAllowed)
        guard case .allow(let obligations) = rules.match(try request("GET http://h/"), into: &matched) else {
            return #expect(Bool(false))
        }
        #expect(obligations.cache.storeNever)
    }

    @Test(
        "Every reading of the path has to be allowed",
        arguments: [
            ("/pub/a", true), ("/%70ub/a", true), ("/pub/a%20b", true), ("/pub%2Fa", true), ("/pub/./a", true), ("/pub//a", true),
            ("/pub/../x", false), ("/pub/..%2fx", false), ("/pub/%2e%2e/x", false), ("/pub/%252e%252e/x", false),
            ("/pub/..;/x", false),
            ("/pub/..%5cx", false), ("/x/../pub/a", false), ("//pub/a", false), ("/pub;x/a", false), ("/pub/a;x", true),
        ])
    func needsEveryReading(path: String, isAllowed: Bool) throws {
        let rules = "[{name: n, match: {host: h, path: /pub/**}, allow: {}}]"
        #expect(try verdict(rules, "GET http://h\(path)") == (isAllowed ? .allow(.none) : .ambiguousPath))
    }

    @Test(
        "A path whose escaping readings are not among the first ones is ambiguous too",
        arguments: ["/pub/%2f//.;/%5c//../;/%2e%2e/%2e%2e/%2e%2e/secret", "/pub/;%2f%5c//%2e%252e/%2e%2e/%2e%252e/secret"])
    func findsLateReadings(path: String) throws {
        for rules in [
            "[{name: n, match: {host: h, path: /pub/**}, allow: {}}]",
            "[{name: n, match: {path: /pub/**}, allow: {}}, {name: m, match: {path: /pub/*/**}, allow: {}}]",
        ] {
            #expect(try verdict(rules, "GET http://h\(path)") == .ambiguousPath)
        }
    }

    @Test(
        "A rule that denies may be written with escapes too",
        arguments: ["/@priv%2fpkg", "/@priv%2Fpkg", "/%40priv%2fpkg", "/@priv/pkg", "/@priv//pkg"])
    func deniesByEscapes(path: String) throws {
        let rules = "[{name: d, match: {path: \"/@priv%2fpkg\"}, deny: {}}, {name: a, allow: {}}]"
        #expect(try verdict(rules, "GET http://h\(path)") == .deny)
    }

    @Test("Two rules may allow the readings of a path together")
    func joinsRules() throws {
        let rules = "[{name: a, match: {path: /a/**}, allow: {}}, {name: b, match: {path: /b/**}, allow: {}}]"
        #expect(try isAllowed(rules, "GET http://h/a/../b/x"))
        #expect(try verdict(rules, "GET http://h/a/../c/x") == .ambiguousPath)
        #expect(try verdict(rules, "GET http://h/c/x") == .unlisted)
    }

    @Test("npm's encoded slash is a slash, and a pattern may be written with escapes")
    func decodesSlash() throws {
        let rules = "[{name: n, match: {path: \"/@scope/*\"}, allow: {}}, {name: m, match: {path: /a%20b}, allow: {}}]"
        #expect(try isAllowed(rules, "GET http://h/@scope%2fname"))
        #expect(try isAllowed(rules, "GET http://h/a%20b"))
        #expect(try verdict(rules, "GET http://h/@scope%2fname%2fx") == .unlisted)
    }

    @Test("An escaped star in a pattern matches a literal star in the path")
    func escapesStar() throws {
        let rules = "[{name: n, match: {path: \"/a%2Ab\"}, allow: {}}]"
        #expect(try isAllowed(rules, "GET http://h/a*b"))
        #expect(try isAllowed(rules, "GET http://h/a%2Ab"))
        #expect(try isAllowed(rules, "GET http://h/a%2ab"))
        #expect(try verdict(rules, "GET http://h/axb") == .unlisted)
        #expect(try verdict(rules, "GET http://h/a%252Ab") == .ambiguousPath)
    }

    @Test("A path with more readings than Larder makes is allowed only if every path is allowed")
    func boundsReadings() throws {
        let path = "/a" + String(repeating: "/..;/%2e%2e/%252e%255c%2f;x/b%5cc//.", count: 40)
        #expect(try verdict("[{name: n, match: {path: /a/**}, allow: {}}]", "GET http://h\(path)") == .ambiguousPath)
        #expect(try isAllowed("[{name: n, match: {host: h}, allow: {}}]", "GET http://h\(path)"))
        #expect(try verdict("[{name: n, allow: {}}, {name: d, match: {path: /z}, deny: {}}]", "GET http://h\(path)") == .deny)
    }

    @Test(
        "Only a rule without path and method allows a tunnel; any rule for the host allows its interception",
        arguments: [
            ("{host: h}", TunnelPermission.named), ("{host: h, port: 443}", .named), ("{host: h, scheme: https}", .named),
            ("{path: /**}", .named), ("{host: h, path: /x}", .inspectedOnly), ("{host: h, method: GET}", .inspectedOnly),
            ("{host: h, scheme: http}", .inspectedOnly),
        ])
    func allowsTunnels(match: String, permission: TunnelPermission) throws {
        guard case .allow(let obligations) = try verdict("[{name: n, match: \(match), allow: {}}]", "CONNECT h:443") else {
            return #expect(Bool(false))
        }
        #expect(obligations.tunnel == permission)
        let other = try verdict("[{name: n, match: {host: h, port: 8443}, allow: {}}]", "CONNECT h:443")
        #expect(other == .unlisted)
    }

    @Test("tunnel: any allows other protocols, and needs a rule that allows tunnels")
    func allowsAnyTunnel() throws {
        guard case .allow(let obligations) = try verdict("[{name: n, match: {host: h}, allow: {}, tunnel: any}]", "CONNECT h:22")
        else {
            return #expect(Bool(false))
        }
        #expect(obligations.tunnel == .any)
        #expect(try problems("[{name: n, match: {host: h}, tunnel: any, cache: {store: never}}]").count == 1)
        #expect(try problems("[{name: n, match: {host: h, path: /x}, allow: {}, tunnel: any}]").count == 1)
    }

    @Test("allow takes no value, and does not stand beside deny", arguments: ["true", "false", "{host: h}", "[h]"])
    func parsesAllow(value: String) throws {
        #expect(try problems("[{name: n, match: {host: h}, allow: \(value)}]").count == 1)
        #expect(try problems("[{name: n, match: {host: h}, allow: {}, deny: {}}]").count == 1)
        #expect(try problems("[{name: n, match: {host: h}, allow:}]").isEmpty)
    }
}
