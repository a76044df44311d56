import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Rules for clients and for the length of content")
struct ClientConditionTests {
    private func facts(
        _ address: String? = nil, user: String = "", certificate: [String] = [], run: String = "", length: UInt64? = 0
    ) -> RequestFacts {
        let client = ClientFacts(
            address: address.flatMap { IPAddress($0) }, user: Array(user.utf8),
            certificateNames: certificate.map { Array($0.utf8) },
            run: Array(run.utf8))
        return RequestFacts(client: client, contentLength: length)
    }

    /// Whether a rule with this match allows the request, and whether one denies it.
    private func verdicts(_ match: String, _ facts: RequestFacts, _ line: String = "GET http://h/") throws -> [Bool] {
        var matched = MatchedRules()
        let allow = try ruleSet("[{name: n, match: {\(match)}, allow: {}}]").under(EgressTerms(.deny))
        let deny = try ruleSet("[{name: n, match: {\(match)}, deny: {}}]")
        return [
            allow.match(try request(line), facts, into: &matched).isAllowed,
            deny.match(try request(line), facts, into: &matched) == .deny,
        ]
    }

    @Test(
        "A client matches by its address, in every spelling",
        arguments: [
            ("10.1.2.3", "10.1.2.3", true), ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.1.2.3", false),
            ("[192.0.2.1, 10.1.2.3]", "10.1.2.3", true), ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("\"::1\"", "::1", true),
            ("\"2001:db8::/32\"", "2001:db8::5", true), ("\"2001:db8::/32\"", "2001:db9::5", false),
        ])
    func addresses(client: String, address: String, matches: Bool) throws {
        #expect(try verdicts("client: \(client)", facts(address)) == [matches, matches])
    }

    @Test("A client whose address is unknown matches rules that deny by address, and no rule that allows by address")
    func unknownClient() throws {
        #expect(try verdicts("client: 10.0.0.0/8", facts()) == [false, true])
        #expect(try verdicts("not: {client: 10.0.0.0/8}", facts()) == [false, true])
    }

    @Test("Users, certificates and runs match by globs, letter by letter; a client without a name matches none")
    func names() throws {
        #expect(try verdicts("user: alice", facts(user: "alice")) == [true, true])
        #expect(try verdicts("user: \"al*\"", facts(user: "alice")) == [true, true])
        #expect(try verdicts("user: [bob, alice]", facts(user: "alice")) == [true, true])
        #expect(try verdicts("user: alice", facts(user: "Alice")) == [false, false])
        #expect(try verdicts("user: \"*\"", facts()) == [false, false])
        #expect(try verdicts("certificate: \"CN=ci,*\"", facts(certificate: ["CN=ci,O=Example", "ci.example"])) == [true, true])
        #expect(try verdicts("certificate: ci.example", facts(certificate: ["CN=ci,O=Example", "ci.example"])) == [true, true])
        #expect(try verdicts("certificate: \"*\"", facts(user: "alice")) == [false, false])
        #expect(try verdicts("run: \"build-*\"", facts(run: "build-7")) == [true, true])
        #expect(try verdicts("run: \"*\"", facts()) == [false, false])
        #expect(try verdicts("user: alice, client: 10.1.2.3", facts("10.1.2.4", user: "alice")) == [false, false])
    }

    @Test("A rule for clients allows and denies their tunnels, and no other client's")
    func tunnels() throws {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: n, match: {host: h, user: alice}, allow: {}}]").under(EgressTerms(.deny))
        let connect = try request("CONNECT h:443")
        guard case .allow(let obligations) = rules.match(connect, facts(user: "alice"), into: &matched) else {
            return #expect(Bool(false))
        }
        #expect(obligations.tunnel == .named)
        #expect(rules.match(connect, facts(user: "bob"), into: &matched) == .unlisted)
        #expect(try verdicts("client: 10.0.0.0/8", facts("10.1.2.3"), "CONNECT h:443") == [true, true])
    }

    @Test("Before the client is known, not every request to the host counts as allowed")
    func openness() throws {
        let origin = TunnelAuthority(scheme: .https, host: Array("h".utf8), kind: .name, port: 443, isNamedInside: false)
        for (match, denies) in [
            ("host: h", false), ("host: h, user: alice", true), ("not: {host: i}", true), ("host: h, query: {a: b}", true),
        ] {
            let rules = try ruleSet("[{name: n, match: {\(match)}, allow: {}}]").under(EgressTerms(.deny))
            #expect(rules.rules(for: origin).deniesUnlisted == denies, "\(match)")
        }
        #expect(try ruleSet("[{name: n, match: {not: {user: alice}}, deny: {}}]").looksAtClients)
        #expect(try !ruleSet("[{name: n, match: {host: h}, deny: {}}]").looksAtClients)
    }

    @Test(
        "The length of content is a range of bytes; unknown length matches rules that deny, and no rule that allows",
        arguments: [
            ("0", "0", [true, true]), ("0", "1", [false, false]), ("0-1MiB", "1048576", [true, true]),
            ("0-1MiB", "1048577", [false, false]), ("1MiB-", "1048577", [true, true]), ("1MiB-", "1", [false, false]),
            ("[0, 10-20]", "15", [true, true]), ("0-1MiB", "", [false, true]), ("0-", "", [false, true]),
        ])
    func contentLength(range: String, length: String, expected: [Bool]) throws {
        #expect(try verdicts("content_length: \(range)", facts(length: UInt64(length))) == expected)
    }

    @Test("A rule for the length of content allows no tunnel, and denies none")
    func tunnelsHaveNoLength() throws {
        var matched = MatchedRules()
        let allow = try ruleSet("[{name: n, match: {content_length: 0}, allow: {}}]").under(EgressTerms(.deny))
        guard case .allow(let obligations) = allow.match(try request("CONNECT h:443"), into: &matched) else {
            return #expect(Bool(false))
        }
        #expect(obligations.tunnel == .inspectedOnly)
        #expect(try verdicts("content_length: 0", facts(), "CONNECT h:443")[1] == false)
    }

    @Test(
        "Mistakes are reported with their place",
        arguments: [
            ("client: h", "f:1:28: rules[0].match.client: expected an address or a range such as 10.0.0.0/8, found `h`"),
            (
                "client: 10.0.0.0/33",
                "f:1:28: rules[0].match.client: expected an address or a range such as 10.0.0.0/8, found `10.0.0.0/33`"
            ),
            (
                "content_length: 5-4",
                "f:1:36: rules[0].match.content_length: expected a number of bytes or a range such as 0-1MiB or 1MiB-, found `5-4`"
            ),
            (
                "content_length: x",
                "f:1:36: rules[0].match.content_length: expected a number of bytes or a range such as 0-1MiB or 1MiB-, found `x`"
            ),
            ("users: x", "f:1:20: rules[0].match: unknown key `users`; did you mean `user`?"),
        ])
    func mistakes(match: String, problem: String) throws {
        #expect(try problems("[{name: n, match: {\(match)}, deny: {}}]") == [problem])
    }

    @Test("A rule that changes keys must not look at the client, the fields or the length of content")
    func keys() throws {
        for (match, count) in [
            ("host: h, query: {a: b}", 0), ("client: 10.0.0.0/8", 1), ("field: {A: b}", 1), ("not: {user: a}", 1),
        ] {
            let rules = "[{name: n, match: {\(match)}, cache: {key: {sort_query: true}}}]"
            #expect(try problems(rules).count == count, "\(match)")
        }
    }
}
