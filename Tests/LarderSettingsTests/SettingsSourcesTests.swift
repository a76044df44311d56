import HTTPMessage
import ProxyPolicy
import TestSupport
import Testing

@testable import LarderSettings

@Suite("Sources of settings")
struct SettingsSourcesTests {
    private func load(_ sources: SettingsSources) throws -> LarderSettings {
        switch sources.load().outcome {
        case .settings(let settings): return settings
        case .problems(let problems): throw Refused(problems: problems.map(\.description))
        }
    }

    private func problems(_ sources: SettingsSources) -> [String] {
        guard case .problems(let problems) = sources.load().outcome else { return [] }
        return problems.map(\.description)
    }

    @Test("A flag overrides the environment, which overrides the file, which overrides the default")
    func strongerWins() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "loops: 1\ntimeouts: {connect: 1s, idle: 1s, total: 1s}\nstore: {path: /file}\n", to: "l.yaml")
        let settings = try load(
            SettingsSources(
                file: file, assignments: ["timeouts.total=3s", "timeouts.total=4s", "store.path=/set"],
                flags: [("--store", "store.path", .plain("/flag"))],
                environment: ["LARDER_TIMEOUTS_IDLE": "2s", "LARDER_TIMEOUTS_TOTAL": "2s", "LARDER_STORE_PATH": "/environment"]))
        #expect(settings.timeouts.connect == .seconds(1))
        #expect(settings.timeouts.idle == .seconds(2))
        #expect(settings.timeouts.total == .seconds(4))
        #expect(settings.store.path == "/flag")
        #expect(settings.loops == 1)
        #expect(settings.timeouts.clientIdle == LarderSettings().timeouts.clientIdle)
    }

    @Test("A renamed setting is read by its old name, from every source, with a warning that gives the new name")
    func readsOldNames() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tls:\n  connect:\n    verdicts_kept: 5s\n", to: "l.yaml")
        let sentence =
            "tls.connect.verdicts_kept was renamed to tls.connect.verdict_ttl in 0.2; the next version rejects the old name"
        for (sources, place, seconds) in [
            (SettingsSources(file: file, environment: [:]), "\(file):3:5", 5),
            (
                SettingsSources(assignments: ["tls.connect.verdicts_kept=6s"], environment: [:]),
                "--set tls.connect.verdicts_kept", 6
            ),
            (SettingsSources(environment: ["LARDER_TLS_CONNECT_VERDICTS_KEPT": "7s"]), "LARDER_TLS_CONNECT_VERDICTS_KEPT", 7),
        ] {
            #expect(sources.load().warnings == ["\(place): \(sentence)"])
            #expect(try load(sources).tls.connect.verdictTTL == .seconds(seconds))
        }
        // A stronger source overrides under either name.
        let both = SettingsSources(file: file, assignments: ["tls.connect.verdict_ttl=8s"], environment: [:])
        #expect(try load(both).tls.connect.verdictTTL == .seconds(8))
    }

    @Test("A setting that moved to another group is read by its old name, beside others of that group and without them")
    func readsMovedNames() throws {
        let folder = try TemporaryFolder()
        let denied = [try #require(AddressRange("10.0.0.0/8"))]
        for (number, group) in ["", "addresses: {private: deny}", "addresses: {}", "addresses:"].enumerated() {
            let file = try folder.write("egress:\n  deny: [10.0.0.0/8]\n  \(group)\n", to: "\(number).yaml")
            let sources = SettingsSources(file: file, environment: [:])
            #expect(
                sources.load().warnings == [
                    "\(file):2:3: egress.deny was renamed to egress.addresses.deny in 0.2; the next version rejects the old name"
                ])
            let addresses = try load(sources).egress.addresses
            #expect(addresses.deny == denied && addresses.private == (number == 1 ? .deny : nil))
        }
        let both = try folder.write("egress: {deny: [], addresses: {deny: []}}\n", to: "both.yaml")
        #expect(problems(SettingsSources(file: both, environment: [:])).count == 1)
        let wrong = try folder.write("egress: {deny: [], addresses: 1}\n", to: "wrong.yaml")
        #expect(!problems(SettingsSources(file: wrong, environment: [:])).isEmpty)
    }

    @Test("Private addresses are denied if requests that no rule allows are denied, unless the settings say otherwise")
    func deniesPrivateAddresses() throws {
        func denies(_ yaml: String) throws -> Bool { try settings(yaml).transport.addresses.deniesPrivate }
        #expect(try !denies(""))
        #expect(try denies("egress: {default: deny}"))
        #expect(try !denies("egress: {default: deny, addresses: {private: allow}}"))
        #expect(try denies("egress: {addresses: {private: deny}}"))
        #expect(try denies("egress: {default: deny, addresses: {private: auto}}"))
    }

    @Test("A file that has a setting under its old and its new name is invalid")
    func rejectsBothNames() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tls: {connect: {verdict_ttl: 5s, verdicts_kept: 5s}}\n", to: "l.yaml")
        #expect(
            problems(SettingsSources(file: file, environment: [:])) == [
                "\(file):1:34: tls.connect.verdicts_kept: this is the old name of tls.connect.verdict_ttl, which is also set; remove one of the two names"
            ])
    }

    @Test("A removed setting is accepted from every source, and ignored with a warning that gives its fixed value")
    func readsRemovedNames() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("limits:\n  trailers: 1KiB\n  head: 32KiB\n", to: "l.yaml")
        let sentence =
            "the setting limits.trailers was removed in 0.2; its value is always 8 KiB, and the next version rejects the name"
        for (sources, place) in [
            (SettingsSources(file: file, environment: [:]), "\(file):2:3"),
            (SettingsSources(assignments: ["limits.trailers=1KiB"], environment: [:]), "--set limits.trailers"),
            (SettingsSources(environment: ["LARDER_LIMITS_TRAILERS": "no size"]), "LARDER_LIMITS_TRAILERS"),
        ] {
            #expect(sources.load().warnings == ["\(place): \(sentence)"])
            #expect(try load(sources).parseLimits.trailerSectionLength == 8 << 10)
        }
        #expect(try load(SettingsSources(file: file, environment: [:])).limits.headLength == 32 << 10)
        #expect(Set(SettingsSchema.settings.map(\.name)).isDisjoint(with: RemovedSetting.all.map(\.name)))
    }

    @Test("A flag can set any setting, lists and groups too, with the value as YAML")
    func setsAnything() throws {
        let settings = try load(
            SettingsSources(
                assignments: [
                    "tunnel.ports=[443, 8443]", "store={memory: {high: 1GiB}, path: x}", "log.access.path=a=b",
                    "rules=[{name: a, deny: {reason: no}}]", "resolve={a.test: 127.0.0.1}",
                ], environment: [:]))
        #expect(settings.tunnel.ports == .only([443, 8443]))
        #expect(settings.store.memory.marks.high == 1 << 30)
        #expect(settings.log.access.path == "a=b")
        #expect(settings.resolve == ["a.test": [.loopbackIPv4]])
        #expect(settings.rules.compiled.rules.count == 1)
    }

    @Test(
        "An error about a flag or a variable names it",
        arguments: [
            (["loops"], [:], "--set loops: expected name=value"),
            (["loops="], [:], "--set loops: loops: the setting has no value"),
            ([], ["LARDER_LOOPS": ""], "LARDER_LOOPS: loops: the setting has no value"),
            (
                ["store.path=:memory:"], [:],
                "--set store.path: store.path: YAML reads a value that ends with `:` as a mapping: put it in quotes, as in '\":memory:\"'"
            ),
            (["lops=1"], [:], "--set lops: unknown key `lops`; did you mean `loops`?"),
            (["loops=many"], [:], "--set loops: loops: expected a whole number from 1 to 256, found `many`"),
            (["loops=[1"], [:], "--set loops: not YAML"),
            (["=1"], [:], "--set : expected a setting's name"),
            (["store..path=1"], [:], "--set store..path: expected a setting's name"),
            ([], ["LARDER_LOOPS": "0"], "LARDER_LOOPS: loops: expected a whole number from 1 to 256, found `0`"),
        ] as [([String], [String: String], String)])
    func namesTheSource(assignments: [String], environment: [String: String], expected: String) {
        let found = problems(SettingsSources(assignments: assignments, environment: environment))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(expected) == true, "\(found)")
    }

    @Test("An unknown variable causes only a remark, and only if its name is similar to a setting's")
    func remarksOnUnknownVariables() {
        let environment = ["LARDER_STORE_PAHT": "x", "LARDER_PORT_3180_TCP_ADDR": "10.0.0.1"]
        let loaded = SettingsSources(environment: environment).load()
        #expect(loaded.warnings == ["LARDER_STORE_PAHT is not a setting; did you mean LARDER_STORE_PATH?"])
    }

    @Test("Without -c the user's own file is read, if it exists")
    func findsTheUsualFile() throws {
        let folder = try TemporaryFolder()
        #expect(SettingsSources.usualFile(["XDG_CONFIG_HOME": folder.path]) == nil)
        let file = try folder.write("loops: 7\n", to: "larder/config.yaml")
        #expect(SettingsSources.usualFile(["XDG_CONFIG_HOME": folder.path]) == file)
        #expect(try load(SettingsSources(environment: ["XDG_CONFIG_HOME": folder.path])).loops == 7)
        let home = try folder.write("loops: 6\n", to: ".config/larder/config.yaml")
        #expect(SettingsSources.usualFile(["HOME": folder.path, "XDG_CONFIG_HOME": "relative"]) == home)
    }

    @Test("A file that is named must exist, and be text")
    func readsTheNamedFile() throws {
        let folder = try TemporaryFolder()
        #expect(
            problems(SettingsSources(file: "\(folder.path)/none", environment: [:])) == [
                "\(folder.path)/none: No such file or directory"
            ])
        #expect(problems(SettingsSources(file: folder.path, environment: [:])).count == 1)
    }

    @Test("Shown settings contain no secrets")
    func hidesSecrets() throws {
        let settings = try load(
            SettingsSources(
                assignments: [
                    "upstream.proxy=http://me:hunter2@proxy.example:3128",
                    "rules=[{name: a, request: {set: {Authorization: Bearer hunter2, X-Api-Key: [hunter2], X-Auth: hunter2, Credential: hunter2, Accept: '*/*'}}}]",
                ], environment: [:]))
        let shown = YAMLWriter.write(settings)
        #expect(!shown.contains("hunter2"))
        #expect(shown.contains("Accept: \"*/*\""))
        #expect(shown.contains("proxy: \"http://(redacted)@proxy.example:3128\""))
    }

    @Test(
        "A problem with a value that may be a secret does not contain the value",
        arguments: [
            "upstream.proxy=http://me:hunter2@proxy.example", "upstream.proxy=hunter2",
            "rules=[{name: a, request: {set: {Authorization: \"Bearer hunter2\\n\"}}}]",
        ])
    func tellsNoSecret(assignment: String) {
        let problems = problems(SettingsSources(assignments: [assignment], environment: [:]))
        #expect(problems.count == 1)
        #expect(!problems.joined().contains("hunter2"))
    }
}
