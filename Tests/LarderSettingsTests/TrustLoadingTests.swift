import Foundation
import ServerTrust
import TestSupport
import Testing

@testable import LarderSettings

/// The content of the files that `tls:` names.
@Suite("Trust files")
struct TrustLoadingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for label in ["root", "otherRoot", "leaf", "middle"] { try write([TrustVectors.pem(label)], to: "\(label).pem") }
    }

    // MARK: Valid settings

    @Test("Hosts are verified with the policies under their names")
    func judges() throws {
        let trust = try load(
            """
            tls:
              default: {anchors: {bundle: otherRoot.pem}}
              hosts:
                good.example.com: {}
                "good.example.com:8443": {pins: {of: [middle.pem], backup: sha256/\(Self.digest)}}
                "*.example.com": {pins: {mode: certificate, of: otherRoot.pem}}
                "*.pinned.example": {labels: one, pins: {of: sha256/\(Self.digest)}}
            """)
        #expect(Self.reason(trust, "good.example.com") == nil)
        #expect(Self.reason(trust, "good.example.com", port: 8443) == nil)
        #expect(Self.reason(trust, "a.b.example.com") == .hostMismatch)
        #expect(Self.reason(trust, "elsewhere.test") == .incompleteChain)
        #expect(trust.policies.policy(host: "a.b.example.com", port: 1)?.pins?.mode == .certificate)
        #expect(trust.policies.policy(host: "a.pinned.example", port: 1)?.pins != nil)
        #expect(trust.policies.policy(host: "a.b.pinned.example", port: 1)?.pins == nil)
        #expect(trust.warnings(at: Self.now).isEmpty)
    }

    @Test("With a single pin as the only setting, another key is rejected, and CONNECT is probed")
    func judgesOnePin() throws {
        let trust = try load("tls: {hosts: {good.example.com: {pins: {of: sha256/\(Self.digest)}}}}")
        #expect(Self.reason(trust, "good.example.com") == .pinMismatch)
        #expect(trust.connect.way(host: "good.example.com", port: 443) == .probe)
        #expect(trust.connect.way(host: "other.example.com", port: 443) == .tunnel)
        #expect(trust.connect.way(host: "not a host", port: 443) == .deny)
    }

    @Test("Tunnels are handled as the settings say, and only for guarded hosts")
    func guardsTunnels() throws {
        let usual = try load("tls: {hosts: {good.example.com: {pins: {of: sha256/\(Self.digest)}}}}").connect
        #expect(usual.isGuarding && usual.keptMilliseconds == 60_000 && usual.allowsMissingName && usual.allowsEncryptedHello)
        let strict = try load(
            "tls: {connect: {verdict_ttl: 0s, missing_name: deny, encrypted_hello: deny}, default: {connect: probe}}"
        ).connect
        #expect(strict.isGuarding && strict.keptMilliseconds == 0 && !strict.allowsMissingName && !strict.allowsEncryptedHello)
        #expect(try !load("tls: {hosts: {good.example.com: {minimum_tls: '1.3'}}}").connect.isGuarding)
    }

    @Test("If the default is to deny, only listed hosts are trusted")
    func denies() throws {
        let trust = try load("tls: {default: deny, hosts: {good.example.com: {}}}")
        #expect(Self.reason(trust, "good.example.com") == nil)
        #expect(Self.reason(trust, "elsewhere.test") == .hostNotAllowed)
        #expect(trust.connect.way(host: "good.example.com", port: 443) == .tunnel)
        #expect(trust.connect.way(host: "elsewhere.test", port: 443) == .deny)
    }

    @Test("A policy has the terms that were written")
    func keepsTerms() throws {
        try write([TrustVectors.pem("leaf")], to: "pins/leaf.pem")
        let trust = try load(
            """
            tls:
              hosts:
                a.example:
                  anchors: pins
                  pins: {mode: certificate, of: pins/leaf.pem, comment: ours}
                  minimum_tls: "1.3"
                  minimum_key_sizes: {rsa: 3072, elliptic_curve: 384}
                  refuse_digests: [md5, sha1, sha224]
                  crl_files: [root.crl]
                  crl: hard
                  ocsp: soft
                  sct: audit
                b.example:
                  pins: {of: leaf.pem, expires: 2027-01-31, on_expiry: report_only}
                  mode: report_only
                  enforce_from: 2026-12-01
            """, files: ["root.crl": TrustVectors.list("root")])
        let a = try #require(trust.policies.policy(host: "a.example", port: 443))
        #expect(a.minimumTLSVersion == .tls13)
        #expect(a.minimumKeySizes == KeySizes(rsa: 3072, ellipticCurve: 384))
        #expect(a.refusedDigests == [.md5, .sha1, .sha224])
        #expect(a.revocation.listCheck == .hard && a.revocation.stapleCheck == .soft && a.auditsSignedTimestamps)
        let b = try #require(trust.policies.policy(host: "b.example", port: 443)?.pins)
        #expect(b.enforcement == .enforcedFrom(POSIXTime(seconds: 1_796_083_200)))
        #expect(b.expires == POSIXTime(seconds: 1_801_439_999))
        #expect(b.onExpiry == .reports)
    }

    @Test("A weakened policy causes a warning, ends with its last day, and then causes another warning")
    func weakens() throws {
        let trust = try load(
            """
            tls:
              hosts:
                good.example.com: {allow_expired: true, until: 2027-01-31}
                old.example: {pins: {of: leaf.pem, expires: 2027-01-31}}
            """)
        let (last, first) = (POSIXTime(seconds: 1_801_439_999), POSIXTime(seconds: 1_801_440_000))
        #expect(Self.reason(trust, "good.example.com", at: last) == nil)
        #expect(Self.reason(trust, "good.example.com", at: first) == .expired)
        #expect(
            trust.warnings(at: last) == [
                "tls.hosts.good.example.com (\(file):3:5): this policy is weakened until 2027-01-31: certificates may have expired"
            ])
        #expect(
            trust.warnings(at: first) == [
                "tls.hosts.good.example.com (\(file):3:5): `until` passed on 2027-01-31: the exceptions of this policy no longer apply; remove them",
                "tls.hosts.old.example (\(file):4:5): the pins expired on 2027-01-31, so Larder rejects the host's connections",
            ])
    }

    @Test("Files of a folder are read together with the settings, and their relative paths start there")
    func readsTheFolder() throws {
        try write([TrustVectors.pem("leaf")], to: "pins.d/keys/live.pem")
        try write(["b.example: {pins: {of: keys/live.pem}}"], to: "pins.d/b.yaml")
        try write(["'*.c.example:8443': {pins: {of: sha256/\(Self.digest)}}"], to: "pins.d/c.yml")
        try write(["not: [read"], to: "pins.d/.hidden.yaml")
        let trust = try load("tls: {pins_from: pins.d, hosts: {a.example: {}}}")
        #expect(trust.policies.policy(host: "b.example", port: 443)?.pins?.pins.count == 1)
        #expect(trust.policies.policy(host: "a.c.example", port: 8443)?.pins?.pins.count == 1)
        #expect(trust.policies.policy(host: "a.c.example", port: 443)?.pins == nil)
        #expect(trust.connect.way(host: "b.example", port: 443) == .probe)
    }

    @Test("A machine without CA certificates still serves, and trusts no server")
    func lacksAnchors() throws {
        let trust = try load("tls: {hosts: {good.example.com: {anchors: {bundle: root.pem}}}}", systemBundle: "none.pem")
        #expect(Self.reason(trust, "good.example.com") == nil)
        #expect(Self.reason(trust, "elsewhere.test") == .hostNotAllowed)
        #expect(trust.connect.way(host: "elsewhere.test", port: 443) == .tunnel)
        #expect(trust.warnings(at: Self.now).map { $0.contains("has no CA certificates") } == [true])
    }

    @Test("Unreadable system CA certificates are a problem, and do not count as missing")
    func damagedAnchors() throws {
        let root = try String(contentsOfFile: "\(folder.path)/root.pem", encoding: .utf8)
        try write([String(root.prefix(root.count / 2))], to: "half.pem")
        let found = try problems("tls: {hosts: {good.example.com: {anchors: {bundle: root.pem}}}}", systemBundle: "half.pem")
        #expect(found.count == 1 && found.first?.contains("cannot read the system's CA certificates") == true, "\(found)")
    }

    // MARK: Problems

    @Test(
        "A file without valid content is a problem at the place where it is named",
        arguments: [
            (
                "anchors: {bundle: none.pem}",
                "3:35: tls.hosts.a.example.anchors.bundle: cannot read FOLDER/none.pem: No such file or directory"
            ),
            (
                "anchors: {bundle: empty.pem}",
                "3:35: tls.hosts.a.example.anchors.bundle: the file contains no PEM certificate, or a certificate that cannot be read"
            ),
            (
                "anchors: {bundle: broken.pem}",
                "3:35: tls.hosts.a.example.anchors.bundle: the file contains no PEM certificate, or a certificate that cannot be read"
            ),
            ("pins: {of: [none.pem]}", "3:29: tls.hosts.a.example.pins.of[0]: cannot read FOLDER/none.pem: No such file"),
            (
                "pins: {of: empty.pem}",
                "3:28: tls.hosts.a.example.pins.of: the file contains a certificate or public key that cannot be read"
            ),
            (
                "pins: {of: broken.pem}",
                "3:28: tls.hosts.a.example.pins.of: the file contains a certificate or public key that cannot be read"
            ),
            (
                "pins: {of: key.pem}",
                "3:28: tls.hosts.a.example.pins.of: the file contains neither a certificate nor a public key"
            ),
            (
                "pins: {of: huge.pem}",
                "3:28: tls.hosts.a.example.pins.of: cannot read FOLDER/huge.pem: the file is longer than 1MiB"
            ),
            ("pins: {of: .}", "3:28: tls.hosts.a.example.pins.of: cannot read FOLDER/.: Is a directory"),
            (
                "pins: {of: leaf.pem, backup: [middle.pem, leaf.pem]}",
                "3:59: tls.hosts.a.example.pins.backup[1]: this backup is already one of the pins under `of`"
            ),
            (
                "pins: {of: leaf.pem, backup: sha256/PUBLIC}",
                "3:46: tls.hosts.a.example.pins.backup: this backup is already one of the pins under `of`"
            ),
            (
                "crl: soft, crl_files: leaf.pem",
                "3:39: tls.hosts.a.example.crl_files: the file contains no revocation list in DER or PEM"
            ),
            ("anchors: pins", "3:26: tls.hosts.a.example.anchors: the policy has no `pins` to use as trust anchors"),
            (
                "anchors: pins, pins: {of: sha256/\(digest)}",
                "3:38: tls.hosts.a.example.pins: these pins must be certificate files: the digest of a key cannot be a trust anchor"
            ),
            (
                "anchors: pins, pins: {of: leaf.pem}, mode: report_only",
                "3:26: tls.hosts.a.example.anchors: pins that are the trust anchors must always be enforced"
            ),
            (
                "allow_untrusted_root: true, until: 2027-01-31",
                "3:39: tls.hosts.a.example.allow_untrusted_root: `allow_untrusted_root` needs `pins` that are always enforced, or any server could claim to be the host"
            ),
            (
                "allow_untrusted_root: true, until: 2027-01-31, pins: {of: leaf.pem, expires: 2027-01-31, on_expiry: report_only}",
                "3:39: tls.hosts.a.example.allow_untrusted_root: `allow_untrusted_root` needs `pins` that are always enforced"
            ),
        ])
    func saysWhatIsWrong(policy: String, expected: String) throws {
        try write([""], to: "empty.pem")
        try write([TrustVectors.pem("leaf").replacingOccurrences(of: "MII", with: "MIX")], to: "broken.pem")
        try write(["-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"], to: "key.pem")
        try write([String(repeating: "#", count: (1 << 20) + 1)], to: "huge.pem")
        let publicKey = try #require(Certificate(der: TrustVectors.der("leaf"))).publicKeyDigest.base64
        let text = policy.replacingOccurrences(of: "sha256/PUBLIC", with: "sha256/\(publicKey)")
        let found = try problems("tls:\n  hosts:\n    a.example: {\(text)}")
        #expect(found.count == 1)
        let wanted = expected.replacingOccurrences(of: "FOLDER", with: folder.path)
        #expect(found.first?.hasPrefix("\(file):\(wanted)") == true, "\(found)")
    }

    @Test("A duplicate host is a problem at its second place, in any spelling and in any file")
    func refusesRepetition() throws {
        try write(["X.Example: {}"], to: "pins.d/x.yaml")
        let found = try problems(
            """
            tls:
              pins_from: pins.d
              hosts:
                x.example: {}
                192.0.2.1: {}
                "::ffff:192.0.2.1": {}
                "*.x.example": {}
                "*.X.example": {labels: one}
                "x.example:443": {}
            """)
        #expect(
            found == [
                "\(file):6:5: tls.hosts.::ffff:192.0.2.1: these hosts already have a policy, at \(file):5:5",
                "\(folder.path)/pins.d/x.yaml:1:1: X.Example: these hosts already have a policy, at \(file):4:5",
            ])
    }

    @Test("A problem in a file of the folder is reported with that file's name, line and column")
    func placesIncludedMistakes() throws {
        try write(["a.example:\n  pins: {off: leaf.pem}"], to: "pins.d/a.yaml")
        try write(["b.example: ["], to: "pins.d/b.yaml")
        try write(["- c.example"], to: "pins.d/c.yaml")
        try write(["d.example: {pins: {of: leaf.pem}}"], to: "pins.d/d.yaml")
        let pins = "\(folder.path)/pins.d"
        let found = try problems("tls: {pins_from: pins.d}")
        #expect(
            found == [
                "\(pins)/a.yaml:2:9: a.example.pins: the key `of` is missing",
                "\(pins)/a.yaml:2:10: a.example.pins: unknown key `off`; did you mean `of`?",
                "\(pins)/b.yaml:2:1: not YAML: did not find expected node content",
                "\(pins)/c.yaml:1:1: expected a mapping, found a list",
                "\(pins)/d.yaml:1:24: d.example.pins.of: cannot read \(pins)/leaf.pem: No such file or directory",
            ])
    }

    @Test("A missing or empty folder is a problem", arguments: ["none", "empty"])
    func refusesFolders(name: String) throws {
        try write(["nothing"], to: "empty/README")
        let found = try problems("tls:\n  pins_from: \(name)")
        let reason =
            name == "none"
            ? "No such file or directory"
            : "the folder contains no file that ends with .yaml or .yml; larder pins learn --write writes one"
        #expect(found == ["\(file):2:14: tls.pins_from: cannot use the folder \(folder.path)/\(name): \(reason)"])
    }

    @Test("A file of the folder without a host is a problem", arguments: ["", "# nothing", "{}"])
    func refusesEmptyFiles(text: String) throws {
        try write(["a.example: {}"], to: "pins.d/a.yaml")
        try write([text], to: "pins.d/b.yml")
        #expect(try problems("tls: {pins_from: pins.d}") == ["\(folder.path)/pins.d/b.yml:1:1: the file contains no host"])
    }

    @Test("System CA certificates that the settings require must exist")
    func wantsSystemAnchors() throws {
        let found = try problems("tls: {default: {anchors: system}}", systemBundle: "none.pem")
        #expect(found.count == 1)
        #expect(found.first?.contains(":1:26: tls.default.anchors: this system has no CA certificates") == true, "\(found)")
    }

    @Test("A pipe instead of a file is refused, without waiting for a writer", .timeLimit(.minutes(1)))
    func pipe() throws {
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        let problems = try problems("tls: {default: {anchors: {bundle: pipe}}}")
        #expect(
            problems.count == 1 && problems[0].hasSuffix("cannot read \(folder.path)/pipe: not a regular file"), "\(problems)")
    }

    // MARK: Fixtures

    private static let digest = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let now = POSIXTime(seconds: 1_780_272_000)

    private var file: String { "\(folder.path)/larder.yaml" }

    private func write(_ lines: [String], to name: String) throws {
        _ = try folder.write(lines.joined(separator: "\n") + "\n", to: name)
    }

    private func outcome(_ yaml: String, systemBundle: String) throws -> SettingsReader.Outcome {
        try write([yaml], to: "larder.yaml")
        let files = TrustFiles(systemBundles: ["\(folder.path)/\(systemBundle)"])
        return SettingsSources(file: file, environment: [:], trustFiles: files).load().outcome
    }

    private func load(_ yaml: String, systemBundle: String = "root.pem", files: [String: [UInt8]] = [:]) throws -> LoadedTrust {
        for (name, octets) in files { try Data(octets).write(to: URL(filePath: "\(folder.path)/\(name)")) }
        switch try outcome(yaml, systemBundle: systemBundle) {
        case .settings(let settings): return try #require(settings.tls.loaded)
        case .problems(let problems): throw Refused(problems: problems.map(\.description))
        }
    }

    private func problems(_ yaml: String, systemBundle: String = "root.pem") throws -> [String] {
        guard case .problems(let problems) = try outcome(yaml, systemBundle: systemBundle) else { return [] }
        return problems.map(\.description)
    }

    /// Why a server with the vectors' usual chain, for good.example.com, is not trusted.
    private static func reason(
        _ trust: LoadedTrust, _ host: String, port: UInt16 = 443, at now: POSIXTime = now
    ) -> TrustFailure.Reason? {
        let evidence = ServerEvidence(chain: ["leaf", "middle"].map(TrustVectors.der))
        do throws(TrustFailure) {
            _ = try trust.policies.evaluate(evidence, host: host, port: port, at: now)
            return nil
        } catch {
            return error.reason
        }
    }
}
