import HTTPMessage
import ProxyPolicy
import Testing
import TextCoding

@testable import LarderSettings

@Suite("Reading settings")
struct SettingsReaderTests {
    @Test(
        "Every problem is reported with file, line, column, and a suggestion",
        arguments: [
            ("stroe: {}", "larder.yaml:1:1: unknown key `stroe`; did you mean `store`?"),
            ("store:\n  memory:\n    hihg: 1MiB", "larder.yaml:3:5: store.memory: unknown key `hihg`; did you mean `high`?"),
            (
                "targeted_cache_control: [a]",
                "larder.yaml:1:1: unknown key `targeted_cache_control`; did you mean `cache.targeted_cache_control`?"
            ),
            ("targetd_cache_control: [a]", "unknown key `targetd_cache_control`; did you mean `cache.targeted_cache_control`?"),
            ("store:\n  verdict_ttl: 5s", "store: unknown key `verdict_ttl`; did you mean `tls.connect.verdict_ttl`?"),
            ("cache: {authority: {}}", "cache: unknown key `authority`; did you mean `tls.authority`?"),
            ("rules: [{name: a, ttl: 1h}]", "1:19: rules[0]: unknown key `ttl`; did you mean `cache.ttl`?"),
            ("rules: [{name: a, sort_query: true}]", "rules[0]: unknown key `sort_query`; did you mean `cache.key.sort_query`?"),
            ("rules: [{name: a, cahe: {}}]", "rules[0]: unknown key `cahe`; did you mean `cache`?"),
            ("tls: {default: {backup: []}}", "tls.default: unknown key `backup`; did you mean `pins.backup`?"),
            ("store: 3", "larder.yaml:1:8: store: expected a mapping, found a single value"),
            ("- a", "larder.yaml:1:1: expected a mapping, found a list"),
            ("loops: 0", "larder.yaml:1:8: loops: expected a whole number from 1 to 256, found `0`"),
            ("loops: '2'", "larder.yaml:1:8: loops: expected a whole number from 1 to 256, found the text \"2\""),
            (
                "log: {access: {format: squidd}}",
                "larder.yaml:1:24: log.access.format: expected one of ndjson, squid, combined, off, found `squidd`; "
                    + "did you mean `squid`?"
            ),
            (
                "log: {access: {query: yes}}",
                "larder.yaml:1:23: log.access.query: expected true or false, found `yes`; did you mean `true`?"
            ),
            (
                "listen:\n  - 127.0.0.1:3180\n  - '::1:3180'",
                "larder.yaml:3:5: listen[1]: expected an address and a port, such as 127.0.0.1:3180 or [::1]:0, found `::1:3180`"
            ),
            ("listen: [127.1:80]", "expected an address and a port"),
            ("listen: [0x7f000001:80]", "expected an address and a port"),
            ("listen: ['127.0.0.1:65536']", "expected an address and a port"),
            ("listen: []", "larder.yaml:1:9: listen: at least one address is needed"),
            (
                "egress: {addresses: {deny: [10.0.0.0/33]}}",
                "larder.yaml:1:29: egress.addresses.deny[0]: expected an address or a range"
            ),
            ("egress: {addresses: {deny: [010.0.0.1]}}", "expected an address or a range"),
            (
                "egress: {addresses: {allow: ['10.0.0.1:0']}}",
                "larder.yaml:1:30: egress.addresses.allow[0]: expected an address or a range"
            ),
            ("egress: {addresses: {allow: ['10.0.0.1:']}}", "expected an address or a range"),
            ("egress: {addresses: {allow: ['[10.0.0.1]:80']}}", "expected an address or a range"),
            ("egress: {addresses: {private: perhaps}}", "expected one of allow, deny"),
            ("resolve: {a.test: b.test}", "larder.yaml:1:19: resolve.a.test: expected an IP address, found `b.test`"),
            ("resolve: {'a b': 127.0.0.1}", "expected a host name before the address"),
            ("tunnel: {ports: [0]}", "larder.yaml:1:18: tunnel.ports[0]: expected a whole number from 1 to 65535, found `0`"),
            ("upstream: {proxy: 'ftp://proxy:1'}", "larder.yaml:1:19: upstream.proxy: expected "),
            ("limits: {head: 10}", "larder.yaml:1:16: limits.head: expected 256 to 16MiB, found `10`"),
            ("limits: {head: 1.00001KiB}", "larder.yaml:1:16: limits.head: expected a number of bytes"),
            ("timeouts: {idle: 0}", "larder.yaml:1:18: timeouts.idle: expected 1ms to 365d, found `0`"),
            (
                "store:\n  disk: {high: 1MiB, low: 2MiB}",
                "larder.yaml:2:27: store.disk.low: the value of `low` is above the value of `high`"
            ),
            ("store: {disk: {high: 1MiB}}", "larder.yaml:1:22: store.disk.high: the value of `low` is above the value of `high`"),
            ("loops: 1\nloops: 2", "larder.yaml:1:1: `loops` is set twice"),
            ("a: [b\nc: 1", "larder.yaml:2:2: not YAML: did not find expected ',' or ']'"),
            ("rules: [*.example]", "(put quotes around a value that starts with `*` or `&`)"),
            ("[a]: 1", "larder.yaml:1:1: a key must be a single value"),
            ("loops: 1\n---\nloops: 2", "larder.yaml:2:1: not YAML: but found another document"),
            ("loops: \u{1}", "larder.yaml:1:8: not YAML: control characters are not allowed"),
        ])
    func saysWhatIsWrong(yaml: String, expected: String) throws {
        let found = problems(yaml)
        #expect(found.count == 1)
        #expect(found.first?.contains(expected) == true, "\(found)")
    }

    @Test("All problems of a file are found at once, in its order")
    func findsAll() {
        let found = problems("loops: x\nstore:\n  disk: {high: y}\nhost_mismatch: z\n")
        #expect(found.map { $0.prefix(16) } == ["larder.yaml:1:8:", "larder.yaml:3:16", "larder.yaml:4:16"])
    }

    @Test(
        "An empty file, and keys without a value, give the defaults", arguments: ["", "# nothing\n", "store:\nloops:\n"])
    func emptyIsDefault(yaml: String) throws {
        #expect(try settings(yaml) == LarderSettings())
    }

    @Test(
        "T01: a non-loopback address is refused without a list of clients",
        arguments: ["0.0.0.0:3180", "[::]:3180", "192.0.2.1:1"])
    func refusesToBeAnOpenProxy(address: String) throws {
        let found = problems("listen: [127.0.0.1:1, '\(address)']")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("larder.yaml:1:9: listen: other machines can reach \(address)") == true)
        #expect(
            try settings("listen: ['\(address)']\nclients: {allow: [192.0.2.0/24]}").clients.allow == [
                AddressRange("192.0.2.0/24")
            ])
        #expect(try settings("listen: [127.3.4.5:1, '[::1]:1']").listen.count == 2)
    }

    @Test(
        "The limit of a size is accepted, and one byte more is refused",
        arguments: [("16MiB", true), ("16777217", false), ("256", true), ("255", false)])
    func sizesHaveLimits(text: String, isGood: Bool) {
        #expect(problems("limits: {head: \(text)}").isEmpty == isGood)
    }

    @Test(
        "Characters that YAML forbids are reported at their place, with any line ends and any letters",
        arguments: [
            ("log: {level: \u{1}}", "1:14"), ("a: é\r\nloops: \u{1}", "2:8"), ("a: 1\rloops: \u{1}", "2:8"),
            ("a: e\u{301}\u{1}", "1:6"),
        ])
    func placesControls(text: String, place: String) {
        #expect(problems(text) == ["larder.yaml:\(place): not YAML: control characters are not allowed"])
    }

    @Test("A missing end is reported at the end", arguments: [("store: {path: a", "1:16"), ("store: {path: a\n", "2:1")])
    func placesTheEnd(text: String, place: String) {
        #expect(problems(text) == ["larder.yaml:\(place): not YAML: did not find expected ',' or '}'"])
    }

    @Test("Aliases are read, and limited")
    func boundsAliases() throws {
        #expect(
            try settings("egress: {addresses: {deny: &local [10.0.0.0/8]}}\nclients: {allow: *local}").clients.allow == [
                AddressRange("10.0.0.0/8")
            ])
        var laughs = "egress: {addresses: {deny: &a0 [10.0.0.1, 10.0.0.2]}}\nrules:\n"
        for level in 1...30 { laughs += "  - &a\(level) [*a\(level - 1), *a\(level - 1), *a\(level - 1)]\n" }
        #expect(
            problems(laughs) == [
                "larder.yaml:8:15: more than 16 aliases (`*name`); put quotes around a value that is not an alias"
            ])
    }

    @Test("A file that is too long or too deep is refused")
    func boundsTheFile() {
        #expect(problems(String(repeating: "# x\n", count: 300_000)) == ["larder.yaml: the file is longer than 1MiB"])
        let deep = problems("rules: " + String(repeating: "[", count: 70) + String(repeating: "]", count: 70))
        #expect(deep.count == 1 && deep[0].contains("nested more than 64 levels deep"))
        #expect(problems("rules: " + String(repeating: "[", count: 100_000)).count == 1)
        #expect(problems(String(repeating: "- ", count: 100_000) + "a").count == 1)
    }

    @Test("No message moves a terminal's cursor (T43)")
    func messagesAreClean() {
        for problem in problems("\"\\e[31mred\": 1\nhost_mismatch: \"\\e]0;x\\a\"\nupstream: {proxy: \"a\\nb\"}") {
            let controls = problem.unicodeScalars.filter(\.isControl)
            #expect(controls.isEmpty, "\(problem.debugDescription)")
        }
    }

    @Test("The message about an invalid word lists the allowed words, including the one for the default")
    func namesAllWords() throws {
        #expect(
            problems("egress: {addresses: {private: maybe}}") == [
                "larder.yaml:1:31: egress.addresses.private: expected one of allow, deny, auto, found `maybe`"
            ])
        #expect(problems("egress: {addresses: {private: atuo}}")[0].hasSuffix("; did you mean `auto`?"))
    }
}
