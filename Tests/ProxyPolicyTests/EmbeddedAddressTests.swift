import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Rules for an address, and IPv6 addresses that embed it")
struct EmbeddedAddressTests {
    /// Spellings that a socket takes for the address itself.
    private static let plain = ["10.0.0.1", "[::ffff:10.0.0.1]", "[::ffff:a00:1]"]
    /// IPv4-compatible, IPv4-translated, NAT64 (both prefixes), 6to4, and Teredo with the address as client and as server.
    private static let embedding = [
        "[::10.0.0.1]", "[::ffff:0:10.0.0.1]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::a00:1]", "[2002:a00:1::1]",
        "[2002:a00:1:5::9]",
        "[2001:0:c000:201:0:0:f5ff:fffe]", "[2001:0:a00:1:0:0:3fff:fdfe]",
    ]

    private func verdict(_ rules: String, _ host: String, _ terms: EgressTerms = EgressTerms(.deny)) throws -> Verdict {
        var matched = MatchedRules()
        return try ruleSet(rules).under(terms).match(try request("GET http://\(host)/"), into: &matched)
    }

    @Test("A rule that allows an address allows its IPv4-mapped form, and no other address that embeds it")
    func allowsPlainForms() throws {
        for pattern in ["10.0.0.1", "\"[::ffff:10.0.0.1]\""] {
            let rules = "[{name: a, match: {host: \(pattern)}, allow: {}}]"
            for host in Self.plain { #expect(try verdict(rules, host).isAllowed, "\(host)") }
            for host in Self.embedding { #expect(try verdict(rules, host) == .unlisted, "\(host)") }
        }
        let nat64 = "[{name: a, match: {host: \"[64:ff9b::a00:1]\"}, allow: {}}]"
        #expect(try verdict(nat64, "[64:ff9b::10.0.0.1]").isAllowed)
        #expect(try verdict(nat64, "10.0.0.1") == .unlisted)
    }

    @Test("A rule that denies an address denies every address that embeds it, and that it embeds")
    func deniesAllForms() throws {
        for pattern in ["10.0.0.1", "\"[::ffff:10.0.0.1]\"", "\"[64:ff9b::a00:1]\""] {
            let rules = "[{name: a, allow: {}}, {name: d, match: {host: \(pattern)}, deny: {}}]"
            for host in Self.plain + Self.embedding { #expect(try verdict(rules, host) == .deny, "\(pattern) \(host)") }
            #expect(try verdict(rules, "[64:ff9b::10.0.0.2]").isAllowed)
        }
    }

    @Test("An address that an allow excludes is excluded in every form; one that a deny excludes, only in its plain form")
    func excludes() throws {
        let allow = "[{name: a, match: {not: {host: 10.0.0.1}}, allow: {}}]"
        for host in Self.plain + Self.embedding { #expect(try verdict(allow, host) == .unlisted, "\(host)") }
        #expect(try verdict(allow, "10.0.0.2").isAllowed)
        let deny = "[{name: d, match: {not: {host: 10.0.0.1}}, deny: {}}]"
        for host in Self.plain { #expect(try verdict(deny, host, EgressTerms()).isAllowed, "\(host)") }
        for host in Self.embedding { #expect(try verdict(deny, host, EgressTerms()) == .deny, "\(host)") }
    }

    @Test("Rules that neither allow nor deny apply to every form")
    func otherRules() throws {
        var matched = MatchedRules()
        let rules = try ruleSet("[{name: l, match: {host: 10.0.0.1}, limit: {rate: 1/s}}]")
        for host in Self.plain + Self.embedding {
            _ = rules.match(try request("GET http://\(host)/"), into: &matched)
            #expect(matched.count == 1, "\(host)")
        }
    }
}
