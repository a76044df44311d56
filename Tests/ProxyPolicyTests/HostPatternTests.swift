import TestSupport
import ProxyPolicy
import Testing

@Suite("Host patterns in rules")
struct HostPatternTests {
    struct Row: Sendable {
        let pattern: String
        let host: String
        let matches: Bool

        init(_ pattern: String, _ host: String, _ matches: Bool) {
            self.pattern = pattern
            self.host = host
            self.matches = matches
        }
    }

    @Test(
        "T17: exact, suffix and any; case and a final dot do not matter",
        arguments: [
            Row("example.com", "example.com", true), Row("example.com", "EXAMPLE.Com", true),
            Row("Example.COM", "example.com", true),
            Row("example.com", "example.com.", true), Row("example.com.", "example.com", true),
            Row("example.com", "www.example.com", false), Row("example.com", "example.co", false),
            Row("example.com", "notexample.com", false), Row("*.example.com", "www.example.com", true),
            Row("*.example.com", "a.b.EXAMPLE.com.", true), Row("*.example.com", "example.com", false),
            Row("*.example.com", "notexample.com", false), Row("*.com", "example.com", true), Row("*.com", "com", false),
            Row("*", "anything", true), Row("*", "[::1]", true), Row("localhost", "localhost", true),
            Row("127.0.0.1", "127.0.0.1", true), Row("127.0.0.1", "127.0.0.11", false), Row("\"[::1]\"", "[::1]", true),
            Row("\"::1\"", "[::1]", true), Row("\"[FE80::A]\"", "[fe80::a]", true), Row("\"[::1]\"", "[::2]", false),
            Row("a_b.example", "a_b.example", true),
            // T03: an address in any spelling that a request may use.
            Row("\"::1\"", "[0:0::0:1]", true), Row("\"[0:0:0:0:0:0:0:1]\"", "[::1]", true),
            Row("169.254.169.254", "[::ffff:a9fe:a9fe]", true), Row("169.254.169.254", "[::169.254.169.254]", true),
            Row("169.254.169.254", "[64:ff9b::169.254.169.254]", true), Row("\"::ffff:10.0.0.1\"", "10.0.0.1", true),
            Row("10.0.0.1", "[::ffff:10.0.0.2]", false),
        ])
    func table(row: Row) throws {
        let rules = try ruleSet("[{name: n, match: {host: \(row.pattern)}, deny: {}}]")
        var matched = MatchedRules()
        for line in ["GET http://\(row.host)/", "GET http://\(row.host):8080/", "CONNECT \(row.host):443"] {
            #expect(rules.match(try request(line), into: &matched).isAllowed != row.matches, "\(line)")
        }
    }

    @Test("The target's host is matched, never the Host field (RFC 9112 §3.2.2)")
    func hostField() throws {
        let rules = try ruleSet("[{name: n, match: {host: ignored.example}, deny: {}}]")
        var matched = MatchedRules()
        #expect(rules.match(try request("GET http://other.example/"), into: &matched).isAllowed)
    }

    @Test(
        "Invalid hosts are refused",
        arguments: [
            ("", HostPattern.Fault.empty), ("*.", .empty), (".", .empty), ("a..b", .emptyLabel), (".a", .emptyLabel),
            ("a..", .emptyLabel),
            ("a.*.b", .starNotInFront), ("*a", .starNotInFront), ("*.0.0.1", .starNotInFront), ("http://a", .moreThanHost),
            ("a/b", .moreThanHost), ("u@a", .moreThanHost), ("a:80", .port), ("[::1]:80", .port), ("a b", .notInHosts(" ")),
            ("bücher.example", .notInHosts("ü")), ("[::g]", .malformedAddress), ("[::1", .malformedAddress),
            ("::1]", .malformedAddress),
            ("2130706433", .malformedAddress), ("127.1", .malformedAddress), ("0x7f.0.0.0x1", .malformedAddress),
            ("0177.0.0.1", .malformedAddress), (String(repeating: "a", count: 64), .tooLong),
            (String(repeating: "a.", count: 127) + "a", .tooLong),
        ])
    func refused(text: String, fault: HostPattern.Fault) {
        #expect(throws: fault) { try HostPattern(text) }
    }

    @Test("Among hundreds of host rules, each matches its own host and no other", arguments: 0..<6 as Range<UInt64>)
    func index(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let names = Array(Set((0..<400).map { _ in Self.name(&generator) })).sorted()
        let rules = names.enumerated().map { "{name: r\($0), match: {host: \($1)}, request: {set: {X: a}}}" }
        let set = try ruleSet("[" + rules.joined(separator: ",") + "]")
        var matched = MatchedRules()
        for (number, name) in names.enumerated() {
            let host = name.hasPrefix("*.") ? "x" + name.dropFirst() : name
            _ = set.match(try request("GET http://\(host.uppercased())/"), into: &matched)
            let found = (0..<matched.count).map { matched[$0].name }
            let expected = names.enumerated().filter { Self.plainMatch($1, host) }.map { "r\($0.offset)" }
            #expect(found == expected)
            #expect(found.contains("r\(number)"))
            _ = set.match(try request("GET http://\(host)x/"), into: &matched)
            #expect(matched.count == names.count { Self.plainMatch($0, host + "x") })
        }
    }

    private static func name(_ generator: inout SeededGenerator) -> String {
        let labels = (0..<Int.random(in: 1...3, using: &generator)).map { _ in "h\(Int.random(in: 0...40, using: &generator))" }
        return (Bool.random(using: &generator) ? "*." : "") + labels.joined(separator: ".")
    }

    private static func plainMatch(_ pattern: String, _ host: String) -> Bool {
        pattern.hasPrefix("*.") ? host.hasSuffix(pattern.dropFirst()) : host == pattern
    }
}
