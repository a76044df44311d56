import CommandSupport
import ProxyPolicy
import Testing
import UpstreamTransport

@testable import LarderSettings

/// Problems in `tls:` before any of its files is read.
@Suite("Trust settings")
struct TrustSettingsTests {
    private static let digest = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

    private static let mistakes: [(yaml: String, expected: String)] = [
        ("tls: {defualt: deny}", "1:7: tls: unknown key `defualt`; did you mean `default`?"),
        ("tls: {insecure: true}", "1:7: tls: unknown key `insecure`"),
        ("tls: {default: dney}", "1:16: tls.default: expected deny, found `dney`; did you mean `deny`?"),
        ("tls: {default: [a]}", "1:16: tls.default: expected a mapping, found a list"),
        (
            "tls:\n  default: {validate_host: false}",
            "2:28: tls.default.validate_host: a policy for all hosts cannot be weakened: name the host in tls.hosts"
        ),
        (
            "tls:\n  default: {allow_expired: true, until: 2027-01-31}",
            "2:28: tls.default.allow_expired: a policy for all hosts cannot be weakened"
        ),
        ("tls: {default: {labels: one}}", "1:25: tls.default.labels: `labels` is only for a pattern in tls.hosts"),
        ("tls: {hosts: [a.example]}", "1:14: tls.hosts: expected a mapping, found a list"),
        ("tls:\n  hosts:\n    '*': {}", "3:5: tls.hosts.*: `*` is not a host: use tls.default for all other hosts"),
        ("tls: {hosts: {'*a.example': {}}}", "1:15: tls.hosts.*a.example: expected a host in ASCII"),
        ("tls: {hosts: {'https://a.example': {}}}", "1:15: tls.hosts.https://a.example: expected a host in ASCII"),
        ("tls: {hosts: {b\u{FC}cher.example: {}}}", "1:15: tls.hosts.b\u{FC}cher.example: expected a host in ASCII"),
        ("tls: {hosts: {'a.example:0': {}}}", "1:15: tls.hosts.a.example:0: expected a host in ASCII"),
        ("tls: {hosts: {'a.example:65536': {}}}", "1:15: tls.hosts.a.example:65536: expected a host in ASCII"),
        ("tls: {hosts: {a.example.: {}}}", "1:15: tls.hosts.a.example.: expected a host in ASCII"),
        ("tls: {hosts: {a.example: }}", "1:26: tls.hosts.a.example: expected a mapping, found nothing"),
        (
            "tls: {hosts: {a.example: {labels: all}}}",
            "1:35: tls.hosts.a.example.labels: `labels` is only for a pattern such as `*.a.example`"
        ),
        (host("allow_expierd: true"), "3:17: tls.hosts.a.example: unknown key `allow_expierd`; did you mean `allow_expired`?"),
        (
            host("anchors: sytem"),
            "3:26: tls.hosts.a.example.anchors: expected one of system, pins, found `sytem`; did you mean `system`?"
        ),
        (
            host("anchors: {bundle: a, bundel: b}"),
            "3:38: tls.hosts.a.example.anchors: unknown key `bundel`; did you mean `bundle`?"
        ),
        (
            host("validate_host: no"),
            "3:32: tls.hosts.a.example.validate_host: expected true or false, found `no`; did you mean `false`?"
        ),
        (
            host("validate_host: false"),
            "3:32: tls.hosts.a.example.validate_host: `validate_host` weakens the policy: add `until: DATE`"
        ),
        (
            host("allow_untrusted_root: true"),
            "3:39: tls.hosts.a.example.allow_untrusted_root: `allow_untrusted_root` weakens the policy"
        ),
        (host("allow_expired: true"), "3:32: tls.hosts.a.example.allow_expired: `allow_expired` weakens the policy"),
        (
            host("minimum_key_sizes: {rsa: 1024}"),
            "3:36: tls.hosts.a.example.minimum_key_sizes: `minimum_key_sizes` weakens the policy"
        ),
        (host("refuse_digests: [md5]"), "3:33: tls.hosts.a.example.refuse_digests: `refuse_digests` weakens the policy"),
        (
            host("until: 2027-01-31"),
            "3:24: tls.hosts.a.example.until: no part of this policy is weakened, so `until` has no effect"
        ),
        (
            host("allow_expired: true, until: 2027-02-29"),
            "3:45: tls.hosts.a.example.until: expected a date such as 2027-01-31, found `2027-02-29`"
        ),
        (host("allow_expired: true, until: 31.1.2027"), "3:45: tls.hosts.a.example.until: expected a date"),
        (host("minimum_tls: '1.1'"), "3:30: tls.hosts.a.example.minimum_tls: expected one of 1.2, 1.3, found the text \"1.1\""),
        (host("minimum_key_sizes: {rsa: 512}"), "3:42: tls.hosts.a.example.minimum_key_sizes.rsa: expected a whole number"),
        (host("minimum_key_sizes: {ec: 256}"), "3:37: tls.hosts.a.example.minimum_key_sizes: unknown key `ec`"),
        (
            host("refuse_digests: [md5, sha1, sha265]"),
            "3:45: tls.hosts.a.example.refuse_digests[2]: expected one of md5, sha1, sha224, sha256, sha384, sha512, found "
                + "`sha265`; did you mean `sha256`?"
        ),
        (host("crl: soft"), "3:22: tls.hosts.a.example.crl: no `crl_files` are set"),
        (host("crl_files: a.crl"), "3:28: tls.hosts.a.example.crl_files: `crl` is off, so these files are not used"),
        (
            host("ocsp: sfot"),
            "3:23: tls.hosts.a.example.ocsp: expected one of off, soft, hard, found `sfot`; did you mean `soft`?"
        ),
        (host("sct: hard"), "3:22: tls.hosts.a.example.sct: expected one of off, audit, found `hard`"),
        (
            host("connect: prope"),
            "3:26: tls.hosts.a.example.connect: expected one of tunnel, probe, intercept, deny, found `prope`; did"
        ),
        (host("mode: report_only"), "3:23: tls.hosts.a.example.mode: no `pins` are set"),
        (host("enforce_from: 2027-01-31"), "3:31: tls.hosts.a.example.enforce_from: no `pins` are set"),
        (host("pins: [a]"), "3:23: tls.hosts.a.example.pins: expected a mapping, found a list"),
        (host("pins: {}"), "3:23: tls.hosts.a.example.pins: the key `of` is missing"),
        (pins("of: []"), "3:28: tls.hosts.a.example.pins.of: the list contains no pin"),
        (pins("of: [~]"), "3:29: tls.hosts.a.example.pins.of[0]: expected a value, found nothing"),
        (
            pins("of: sha256/AAAA"),
            "3:28: tls.hosts.a.example.pins.of: not the base64 of a SHA-256 digest: expected 43 characters"
        ),
        (
            pins("of: [sha265/\(digest)]"),
            "3:29: tls.hosts.a.example.pins.of[0]: expected a key digest `sha256/…` or a file in PEM or DER, found "
                + "`sha265/\(digest)`; did you mean `sha256/…`?"
        ),
        (pins("of: '\(digest)'"), "3:28: tls.hosts.a.example.pins.of: expected a key digest `sha256/…` or a file"),
        (
            pins("mode: certificate, of: sha256/\(digest)"),
            "3:47: tls.hosts.a.example.pins.of: `mode: certificate` needs a certificate file, not the digest of a key"
        ),
        (
            pins("mode: publik_key, of: sha256/\(digest)"),
            "3:30: tls.hosts.a.example.pins.mode: expected one of public_key, certificate, found `publik_key`; did you mean "
                + "`public_key`?"
        ),
        (pins("of: sha256/\(digest), expires: soon"), "tls.hosts.a.example.pins.expires: expected a date"),
        (
            pins("of: sha256/\(digest), on_expiry: fail"),
            "tls.hosts.a.example.pins.on_expiry: `on_expiry` needs `expires`"
        ),
        (
            host("connect: tunnel, pins: {of: sha256/\(digest)}"),
            "3:26: tls.hosts.a.example.connect: the pins are enforced, but Larder cannot check them in a tunnel"
        ),
        (
            host("connect: tunnel, mode: report_only, enforce_from: 2027-01-31, pins: {of: sha256/\(digest)}"),
            "3:26: tls.hosts.a.example.connect: the pins are enforced, but Larder cannot check them in a tunnel"
        ),
        (
            host("mode: enforce, enforce_from: 2027-01-31, pins: {of: sha256/\(digest)}"),
            "3:23: tls.hosts.a.example.mode: `enforce_from` needs `mode: report_only`: from that day on, Larder enforces the pins; did you mean `report_only`?"
        ),
        ("tls: {pins_from: [a]}", "1:18: tls.pins_from: expected a value, found a list"),
    ]

    @Test("Every problem is reported with file, line, column, and a suggestion", arguments: mistakes)
    func saysWhatIsWrong(yaml: String, expected: String) {
        let found = problems(yaml)
        #expect(found.count == 1)
        #expect(found.first?.contains(expected) == true, "\(found)")
        #expect(found.first?.hasPrefix("larder.yaml:") == true)
    }

    @Test("All problems of a policy are found at once")
    func findsAll() {
        #expect(problems(Self.host("ocsp: a, sct: b, pins: {of: [], mode: c}, connect: d")).count == 5)
    }

    @Test(
        "The default handling of CONNECT depends on the pins",
        arguments: [
            ("{}", .tunnel), ("{connect: probe}", .probe), ("{connect: deny}", .deny), ("{pins: {of: sha256/\(digest)}}", .probe),
            ("{connect: deny, pins: {of: sha256/\(digest)}}", .deny),
            ("{connect: tunnel, mode: report_only, pins: {of: sha256/\(digest)}}", .tunnel),
        ] as [(String, ConnectWay)])
    func connects(policy: String, way: ConnectWay) throws {
        #expect(try settings("tls: {hosts: {a.example: \(policy)}}").tls.hosts.entries.map(\.terms.connectWay) == [way])
    }

    @Test(
        "A day must exist in the calendar",
        arguments: [
            ("1970-01-01", 0), ("2027-01-31", 1_801_353_600), ("2028-02-29", 1_835_395_200), ("2027-02-29", nil),
            ("2027-13-01", nil),
            ("2027-1-31", nil), ("2027-01-31T00:00:00Z", nil), ("+027-01-31", nil), ("", nil),
        ] as [(String, Int64?)])
    func readsDays(text: String, seconds: Int64?) {
        #expect(CalendarDay(text)?.firstSecond.seconds == seconds)
        #expect(CalendarDay(text)?.lastSecond.seconds == seconds.map { $0 + 86_399 })
    }

    private static func host(_ policy: String) -> String { "tls:\n  hosts:\n    a.example: {\(policy)}" }
    private static func pins(_ pins: String) -> String { host("pins: {\(pins)}") }
}
