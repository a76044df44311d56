import ProxyPolicy
import Testing

@Suite("Conditions of rules")
struct RuleConditionTests {
    struct Row: Sendable {
        let match: String
        let line: String
        let matches: Bool

        init(_ match: String, _ line: String, _ matches: Bool) {
            self.match = match
            self.line = line
            self.matches = matches
        }
    }

    @Test(
        "Each key of match works alone and with others",
        arguments: [
            Row("{port: 80}", "GET http://h/", true), Row("{port: 80}", "GET http://h:81/", false),
            Row("{port: [81, 8000-8002]}", "GET http://h:8002/", true),
            Row("{port: [81, 8000-8002]}", "GET http://h:8003/", false),
            Row("{port: 443}", "CONNECT h:443", true), Row("{port: 443}", "GET https://h/", true),
            Row("{scheme: http}", "GET http://h/", true), Row("{scheme: http}", "GET https://h/", false),
            Row("{scheme: [http, https]}", "GET https://h/", true),
            // The scheme inside a tunnel is not visible; it counts as https.
            Row("{scheme: https}", "CONNECT h:443", true), Row("{scheme: http}", "CONNECT h:80", false),
            Row("{method: GET}", "GET http://h/", true), Row("{method: GET}", "HEAD http://h/", false),
            Row("{method: [GET, HEAD]}", "HEAD http://h/", true), Row("{method: PURGE}", "PURGE http://h/", true),
            Row("{method: PURGE}", "BREW http://h/", false), Row("{method: CONNECT}", "CONNECT h:443", true),
            Row("{path: /a}", "GET http://h/a", true), Row("{path: /a}", "GET http://h/a?x=/b", true),
            Row("{path: [/a, /b]}", "GET http://h/b", true), Row("{path: /a}", "GET http://h/b?/a", false),
            // A tunnel has no visible path, and OPTIONS * has none.
            Row("{path: /a}", "CONNECT h:443", false), Row("{path: /**}", "CONNECT h:443", true),
            Row("{path: /**}", "OPTIONS *", true),
            Row("{path: /*}", "OPTIONS *", false),
            Row("{host: [h, i], port: 80, scheme: http, path: /a/*, method: GET}", "GET http://i/a/b", true),
            Row("{host: [h, i], port: 80, scheme: http, path: /a/*, method: GET}", "GET http://j/a/b", false),
            Row("{host: [h, i], port: 80, scheme: http, path: /a/*, method: GET}", "GET http://i:81/a/b", false),
            Row("{host: [h, \"*\"]}", "GET http://x/", true),
        ])
    func table(row: Row) throws {
        var matched = MatchedRules()
        for action in ["deny: {}", "cache: {store: never}"] {
            _ = try ruleSet("[{name: n, match: \(row.match), \(action)}]").match(try request(row.line), into: &matched)
            #expect(matched.count == (row.matches ? 1 : 0), "\(action)")
        }
    }

    @Test("A rule without match applies to every request")
    func noMatch() throws {
        var matched = MatchedRules()
        #expect(try ruleSet("[{name: n, deny: {}}]").match(try request("GET http://h/"), into: &matched) == .deny)
    }
}
