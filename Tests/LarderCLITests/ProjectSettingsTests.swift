import CertificateAuthority
import Foundation
import LocalCA
import ProxyPolicy
import TestSupport
import Testing
import UpstreamTransport

@testable import LarderCLI
@testable import LarderSettings

@Suite("Project settings that need no decision")
struct ProjectSettingsTests {
    private static func read(
        user: String = "", project: String, isReplayed: Bool = true, use: SettingsLayer.Use? = nil,
        folder: String = "/home/me/shop",
        trustFiles: TrustFiles? = nil
    ) throws -> SettingsReader.Outcome {
        var layer = SettingsLayer(name: "policy.yaml", root: try YAMLReader.read(project), folder: "\(folder)/.larder")
        layer.use = use ?? .restricted(ProjectTerms(project: folder, isReplayed: isReplayed))
        return SettingsReader.read(
            [SettingsLayer(name: "user.yaml", root: try YAMLReader.read(user)), layer], trustFiles: trustFiles)
    }

    @Test(
        "Rules, replay, limits and record.match need no decision",
        arguments: [
            "rules: [{name: a, match: {host: a.example}, deny: {}}]", "rules: [{name: a, mode: offline}]", "limits: {fields: 50}",
            "rules: [{name: a, request: {set: {X-Team: shop}, remove: [X-Trace]}}]",
            "rules: [{name: a, transform: {json_pointer: {remove: [/a]}, strip_nulls: true}}]",
            "replay: {layers: [more.larder, ../test/more.larder], sequence_end: last, dates: shift, expires_after: 30d, on_expired: fail}",
            "replay: {signed_by: [team.pem]}", "record: {match: match.json}", "egress:\nlimits:\n", "",
            "tls: {hosts: {a.example: {pins: {of: sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=}, minimum_tls: 1.3}}}",
            "tls: {default: {ocsp: hard}, connect: {missing_name: deny, never_intercept: []}}", "tls: {default: deny}",
        ])
    func takes(project: String) throws {
        guard case .settings = try Self.read(project: project) else {
            Issue.record("\(try Self.read(project: project))")
            return
        }
    }

    @Test("A project may offer HTTP/2 to clients, and may not withdraw what the user offers")
    func offersHTTP2() throws {
        let offer = "tls: {connect: {http2: auto}}"
        guard case .settings = try Self.read(project: offer) else {
            Issue.record("\(try Self.read(project: offer))")
            return
        }
        guard case .problems(let problems) = try Self.read(user: offer, project: "tls: {connect: {http2: 'off'}}") else {
            Issue.record("it was taken")
            return
        }
        #expect(problems.contains { $0.description.contains("tls.connect.http2") }, "\(problems)")
    }

    /// A project's settings, and the refused key and place; `user` is the user's settings.
    @Test(
        "All other settings are refused with file, line, column and key, and with the next step",
        arguments: [
            ("resolve: {a.example: 10.0.0.1}", "1:10: resolve"),
            ("egress: {addresses: {deny: []}}", "1:28: egress.addresses.deny"),
            ("upstream: {proxy: 'http://10.0.0.1:1'}", "1:19: upstream.proxy"), ("mode: live", "1:7: mode"),
            ("tls: {key_log: /tmp/keys}", "1:16: tls.key_log"), ("tls: {pins_from: pins}", "1:18: tls.pins_from"),
            ("tls: {default: {anchors: {bundle: ca.pem}}}", "1:26: tls.default.anchors"),
            ("tls: {default: {anchors: pins, pins: {of: a.pem}}}", "1:26: tls.default.anchors"),
            ("tls: {default: {connect: tunnel}}", "1:26: tls.default.connect"),
            ("tls: {hosts: {a.example: {connect: probe}}}", "1:36: tls.hosts.a.example.connect"),
            ("tls: {hosts: {a.example: {anchors: system}}}", "1:36: tls.hosts.a.example.anchors"),
            (
                "tls: {hosts: {a.example: {allow_untrusted_root: true, until: 2099-01-01}}}",
                "1:49: tls.hosts.a.example.allow_untrusted_root"
            ),
            ("tls: {hosts: {a.example: {pins: {of: ../../ca.pem}}}}", "1:38: tls.hosts.a.example.pins.of"),
            ("tls: {authority: {folder: ca}}", "1:27: tls.authority.folder"),
            (
                "tls: {client_certificates: {a.example: {certificate: a.pem, key: /home/me/key.pem}}}",
                "1:28: tls.client_certificates"
            ),
            ("tls: {connect: {never_intercept: [a.example]}}", "1:34: tls.connect.never_intercept"),
            ("tls: {connect: {verdict_ttl: 10m}}", "1:30: tls.connect.verdict_ttl"),
            ("replay: {on_expired: refresh}", "1:22: replay.on_expired"),
            ("replay: {layers: [/etc/passwd]}", "1:18: replay.layers"),
            ("replay: {layers: [../../other.larder]}", "1:18: replay.layers"),
            ("record: {match: /etc/match.json}", "1:17: record.match"),
            ("record: {unscanned: keep}", "1:21: record.unscanned"), ("record: {file: /home/me/.bashrc}", "1:16: record.file"),
            ("recordings: {key: key}", "1:19: recordings.key"),
            ("listen: ['0.0.0.0:3180']\nclients: {allow: [0.0.0.0/0]}", "2:18: clients.allow"),
            ("admin: {socket: off}", "1:17: admin.socket"), ("store: {path: /tmp/s}", "1:15: store.path"),
            ("log: {access: {path: /home/me/.bashrc}}", "1:22: log.access.path"), ("tunnel: {ports: any}", "1:17: tunnel.ports"),
            ("rules: [{name: a, response: {set: {Location: 'http://b.example/'}}}]", "1:29: rules"),
            ("rules: [{name: a, response: {append: {Link: '<http://b.example/>'}}}]", "1:29: rules"),
            ("rules: [{name: a, response: {default: {Refresh: '0'}}}]", "1:29: rules"),
            ("rules: [{name: a, response: {remove: [Content-Security-Policy]}}]", "1:29: rules"),
            ("rules:\n- {name: a, mode: offline}\n- {name: b, transform: {json_pointer: {set: {/url: x}}}}", "3:24: rules"),
            ("rules: [{name: a, match: {host: a.example}, cache: {key: {canonical_host: b.example}}}]", "1:52: rules"),
            ("rules: [{name: a, deny: {reason: no, stored: serve}}]", "1:46: rules"),
            ("egress: {stored: serve}", "1:18: egress.stored"), ("egress: {default: allow}", "1:19: egress.default"),
            ("rules:\n  - {name: a, mode: live}", "2:21: rules"), ("rules: [{name: a, mode: record}]", "1:25: rules"),
            ("host_mismatch: ignore", "1:16: host_mismatch"), ("cache: {set_cookie: explicit}", "1:21: cache.set_cookie"),
            // An alias stands for its anchor's value.
            ("limits: {fields: &x 50}\negress: {addresses: {deny: &y []}}\n", "2:28: egress.addresses.deny"),
        ])
    func refuses(project: String, problem: String) throws {
        let files = TrustFiles(authority: try AuthorityCommand.made(RootTerms.ofThisMachine(days: 1, constraint: nil)))
        guard case .problems(let problems) = try Self.read(project: project, trustFiles: files) else {
            Issue.record("it was taken")
            return
        }
        let found = problems.map(\.description).first { $0.hasPrefix("policy.yaml:\(problem): a project may not set this: ") }
        #expect(
            found?.hasSuffix("; read the file, then run `larder project allow` (or use --project-settings=allow)") == true,
            "\(problems)")
    }

    @Test("Only listed settings are accepted: new settings are reserved for the user until they are listed")
    func listsWhatIsTaken() throws {
        let taken = Set(
            SettingsSchema.settings.map(\.name).filter { $0 == "rules" || $0.hasPrefix("limits.") || $0.hasPrefix("replay.") }
        )
        .union(["record.match", "tls.default", "tls.hosts"]).union(
            SettingsSchema.settings.map(\.name).filter { $0.hasPrefix("tls.connect.") })
        for setting in SettingsSchema.settings where !taken.contains(setting.name) {
            var problems = SettingsProblems()
            let origin = SettingsReader.Origin(layer: "policy.yaml", place: .none)
            var (settings, origins) = (LarderSettings(), [setting.name: origin])
            ProjectTerms(project: "/p", isReplayed: false).settle(
                &settings, over: LarderSettings(), origins: &origins, formerOrigins: [:],
                of: SettingsLayer(name: "policy.yaml", root: SettingsNode(.mapping([]), at: .none)), trustFiles: nil,
                problems: &problems)
            #expect(problems.all.map(\.path) == [setting.name])
        }
    }

    @Test("A project's rules come before the user's, whose denials and values take precedence", arguments: [true, false])
    func keepsTheUsersRules(isAllowed: Bool) throws {
        let user = "rules: [{name: mine, match: {host: a.example}, deny: {}}]"
        let project = "rules: [{name: theirs, match: {host: a.example}, cache: {ttl: 1m}}]"
        guard case .settings(let settings) = try Self.read(user: user, project: project, use: isAllowed ? .whole : nil) else {
            Issue.record("it was refused")
            return
        }
        #expect(settings.rules.compiled.rules.map(\.name) == ["theirs", "mine"])
        guard case .settings(let emptied) = try Self.read(user: user, project: "rules: []") else {
            Issue.record("refused")
            return
        }
        #expect(emptied.rules.compiled.rules.map(\.name) == ["mine"])
    }

    @Test(
        "The user's hosts stay, and a project's entry for a host that one of them covers is refused",
        arguments: [
            ("a.example", true), ("b.a.example", false), ("*.example", true), ("'*.c.example'", true), ("x.c.example", true),
            ("a.example:444", true),
            ("d.example:443", false), ("d.example", true), ("other.example", false), ("10.0.0.1", true), ("10.0.0.2", false),
        ])
    func keepsTheUsersHosts(host: String, isRefused: Bool) throws {
        let pins = "{pins: {of: sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=}}"
        let user = "tls: {hosts: {a.example: \(pins), '*.c.example': \(pins), 'd.example:8443': \(pins), 10.0.0.1: \(pins)}}"
        let host = host.hasPrefix("*") ? "'\(host)'" : host
        let outcome = try Self.read(
            user: user, project: "tls: {hosts: {\(host): {connect: deny}}}", trustFiles: TrustFiles())
        switch outcome {
        case .settings(let settings):
            #expect(!isRefused)
            #expect(settings.tls.loaded?.sites.count == 5 && settings.tls.loaded?.pinned.count == 4)
        case .problems(let problems):
            #expect(
                isRefused
                    && problems.first?.description.contains("your settings have a policy for this host, at user.yaml:1:") == true,
                "\(problems)")
        }
    }

    @Test(
        "A project's host policy keeps the requirements of the user's tls.default, and files are found beside the settings that name them"
    )
    func keepsTheUsersTerms() throws {
        let user = "tls: {default: {minimum_tls: 1.3, ocsp: hard, anchors: {bundle: mine.pem}}}"
        guard case .settings(let settings) = try Self.read(user: user, project: "tls: {hosts: {a.example: {connect: deny}}}")
        else {
            Issue.record("refused")
            return
        }
        let terms = try #require(settings.tls.projectHosts.first?.entry.terms)
        #expect(terms.minimumTLSVersion == .tls13 && terms.stapleCheck == .hard && terms.connect == .deny)
        guard case .bundle(let file) = terms.anchors else {
            Issue.record("no bundle")
            return
        }
        #expect(file.path == "./mine.pem")
        #expect(settings.tls.hosts.entries.isEmpty)
    }

    /// A project's policy for a host, the user's `tls.default`, the resulting handling of CONNECT, and the refused keys.
    @Test(
        "Stricter trust: the terms that a project may set over the user's",
        arguments: [
            ("{}", "{}", .tunnel, []),
            ("{pins: {of: a.pem}}", "{}", .tunnel, []), ("{pins: {of: a.pem}, mode: report_only}", "{}", .probe, []),
            ("{pins: {of: a.pem}}", "{pins: {of: b.pem}}", .probe, ["pins"]),
            ("{connect: tunnel}", "{}", .tunnel, []), ("{connect: probe}", "{}", .tunnel, []),
            ("{connect: intercept}", "{}", .tunnel, []),
            ("{connect: deny}", "{}", .tunnel, []), ("{connect: tunnel}", "{}", .probe, ["connect"]),
            ("{connect: intercept}", "{}", .probe, []),
            ("{connect: probe}", "{}", .intercept, ["connect"]), ("{connect: intercept}", "{}", .intercept, []),
            ("{connect: deny}", "{}", .intercept, []),
            ("{connect: intercept}", "{}", .deny, ["connect"]), ("{connect: deny}", "{}", .deny, []),
            ("{minimum_tls: 1.3}", "{}", .tunnel, []), ("{minimum_tls: 1.2}", "{}", .tunnel, []),
            ("{minimum_tls: 1.2}", "{minimum_tls: 1.3}", .tunnel, ["minimum_tls"]),
            ("{minimum_key_sizes: {rsa: 4096}}", "{}", .tunnel, []),
            ("{minimum_key_sizes: {rsa: 3072}}", "{minimum_key_sizes: {rsa: 4096}}", .tunnel, ["minimum_key_sizes"]),
            ("{minimum_key_sizes: {rsa: 1024}, until: 2099-01-01}", "{}", .tunnel, ["minimum_key_sizes", "until"]),
            ("{refuse_digests: [md5, sha1, sha224]}", "{}", .tunnel, []),
            ("{refuse_digests: [md5], until: 2099-01-01}", "{}", .tunnel, ["refuse_digests", "until"]),
            ("{ocsp: hard}", "{}", .tunnel, []), ("{ocsp: soft}", "{ocsp: hard}", .tunnel, ["ocsp"]),
            ("{ocsp: off}", "{ocsp: soft}", .tunnel, ["ocsp"]),
            ("{crl: hard, crl_files: a.crl}", "{}", .tunnel, []),
            ("{crl: soft, crl_files: a.crl}", "{crl: hard, crl_files: b.crl}", .tunnel, ["crl", "crl_files"]),
            ("{sct: audit}", "{}", .tunnel, []), ("{sct: off}", "{sct: audit}", .tunnel, ["sct"]),
            ("{anchors: system}", "{}", .tunnel, ["anchors"]), ("{anchors: pins, pins: {of: a.pem}}", "{}", .tunnel, ["anchors"]),
            ("{anchors: {bundle: a.pem}}", "{}", .tunnel, ["anchors"]),
            ("{validate_host: true, allow_expired: false, allow_untrusted_root: false}", "{}", .tunnel, []),
            ("{validate_host: false, until: 2099-01-01}", "{}", .tunnel, ["until", "validate_host"]),
            ("{allow_expired: true, until: 2099-01-01}", "{}", .tunnel, ["allow_expired", "until"]),
            ("{allow_untrusted_root: true, until: 2099-01-01}", "{}", .tunnel, ["allow_untrusted_root", "until"]),
            ("{connect: deny}", nil, .deny, []), ("{}", nil, .deny, ["connect"]),
            ("{pins: {of: a.pem}}", nil, .deny, ["connect"]),
        ] as [(String, String?, ConnectWay, [String])])
    func isStricter(proposed: String, base: String?, way: ConnectWay, refused: [String]) throws {
        func terms(_ yaml: String, mayWeaken: Bool) throws -> TrustTerms {
            var problems = SettingsProblems()
            let terms = TrustTerms(
                SettingsCursor(try YAMLReader.read(yaml), path: "host"), mayWeaken: mayWeaken, problems: &problems)
            #expect(problems.isEmpty, "\(problems)")
            return try #require(terms)
        }
        var problems = SettingsProblems()
        let merged = StricterTrust.merge(
            try terms(proposed, mayWeaken: true), over: try base.map { try terms($0, mayWeaken: false) }, way: way,
            problems: &problems)
        let keys = problems.all.map { $0.path.split(separator: ".").last.map(String.init) ?? "" }
        // A key that is not written is reported at the policy's place.
        #expect(keys.map { $0 == "host" ? "connect" : $0 }.sorted() == refused)
        #expect((merged == nil) == !refused.isEmpty)
    }
}
