import ProxyPolicy
import Testing

@Suite("How origin servers may read a path")
struct PathReadingsTests {
    @Test(
        "T17, T21: no spelling of a path evades a rule that denies",
        arguments: [
            "/admin/x", "/%61dmin/x", "/%61%64%6d%69%6e/x", "/%61%64%6D%69%6E/x", "/admin%2Fx", "/admin%2fx", "/./admin/x",
            "/a/../admin/x", "/a/%2e%2e/admin/x", "/a/.%2E/admin/x", "/a%2f..%2fadmin/x", "//admin/x", "/%2Fadmin/x",
            "///admin//x", "/a//../admin/x", "/a//../../admin/x", "/../admin/x", "/../../admin/x", "/a/b/../../admin/./x",
            // A server that keeps %2F within its segment and one that splits there see different paths.
            "/a%2fb/../%61dmin/x", "/%61dmin/%2e%2e%2fpublic", "/admin/..%2fpublic", "/admin/x/..", "/a%2fb/%2e%2e/%61dmin/x",
            // Decoded twice, with `\\` for a slash, without parameters.
            "/%2561dmin/x", "/%25%361dmin/x", "/a/%252e%252e/admin/x", "/a%252f..%252fadmin/x", "/a%5c..%5cadmin/x", "/admin%5Cx",
            "/admin%255cx", "/admin;v=1/x", "/admin%3bv=1/x", "/a/..;/admin/x", "/a;b/..;c/admin;d/x", "/;/admin/x",
            "/a/%2e%2e%3b/admin/x",
        ])
    func denied(path: String) throws {
        let rules = try ruleSet("[{name: n, match: {path: /admin/**}, deny: {}}]")
        var matched = MatchedRules()
        #expect(rules.match(try request("GET http://h\(path)"), into: &matched) == .deny)
    }

    @Test(
        "A path that only resembles a denied one is allowed",
        arguments: ["/administrator", "/a/admin/x", "/%252561dmin/x", "/adm", "/admin", "/%zzadmin/", "/admin;x", "/x;/admin/y"])
    func allowed(path: String) throws {
        let rules = try ruleSet("[{name: n, match: {path: /admin/**}, deny: {}}]")
        var matched = MatchedRules()
        #expect(rules.match(try request("GET http://h\(path)"), into: &matched).isAllowed)
    }

    @Test(
        "A server that decodes the path before it looks for the query sees it end at %3F or %23: both readings count",
        arguments: [
            ("/secret%3f", true), ("/secret%3Fa=b", true), ("/secret%23x", true), ("/secret%253fx", true),
            ("/a/..%2fsecret%3f/x", true),
            ("/a/../secret%23/../../x", true), ("/secret%3f?x", true), ("/a%3f/secret", false), ("/secrets%3f", false),
        ])
    func endsAtQuery(path: String, isDenied: Bool) throws {
        var matched = MatchedRules()
        let deny = try ruleSet("[{name: n, match: {path: /secret}, deny: {}}]")
        #expect((deny.match(try request("GET http://h\(path)"), into: &matched) == .deny) == isDenied)
        let allow = try ruleSet("[{name: n, match: {path: /**/*.json}, allow: {}}]").under(EgressTerms(.deny))
        #expect(!allow.match(try request("GET http://h\(path)/a.json"), into: &matched).isAllowed)
        let wide = try ruleSet("[{name: n, match: {path: /**}, allow: {}}]").under(EgressTerms(.deny))
        #expect(wide.match(try request("GET http://h\(path)"), into: &matched).isAllowed)
    }

    @Test("The empty path of an absolute target is the root")
    func emptyPath() throws {
        let rules = try ruleSet("[{name: n, match: {path: /}, deny: {}}]")
        var matched = MatchedRules()
        #expect(rules.match(try request("GET http://h"), into: &matched) == .deny)
        #expect(rules.match(try request("GET http://h?q"), into: &matched) == .deny)
        #expect(rules.match(try request("GET http://h/a/.."), into: &matched) == .deny)
    }

    @Test("Rules that do not deny use the path as received")
    func onlyDenials() throws {
        let rules = try ruleSet("[{name: n, match: {path: /admin/**}, request: {set: {X: a}}}]")
        var matched = MatchedRules()
        _ = rules.match(try request("GET http://h/%61dmin/x"), into: &matched)
        #expect(matched.isEmpty)
    }

    @Test("The readings of one request are not used for the next")
    func reuse() throws {
        let rules = try ruleSet("[{name: n, match: {path: /admin/**}, deny: {}}]")
        var matched = MatchedRules()
        #expect(rules.match(try request("GET http://h/%61dmin/x"), into: &matched) == .deny)
        #expect(rules.match(try request("GET http://h/%62dmin/x"), into: &matched).isAllowed)
        let long = String(repeating: "/%61", count: 2000)
        #expect(rules.match(try request("GET http://h\(long)"), into: &matched).isAllowed)
        #expect(rules.match(try request("GET http://h/%61dmin/x"), into: &matched) == .deny)
    }
}
