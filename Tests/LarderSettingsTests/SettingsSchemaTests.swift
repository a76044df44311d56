import Foundation
import ProxyPolicy
import Testing

@testable import LarderSettings

@Suite("The table of settings")
struct SettingsSchemaTests {
    /// For each setting a value other than its default, as YAML, and how it is shown.
    static let examples: [(name: String, yaml: String, shown: String)] = [
        ("listen", "[127.0.0.2:0, '[::1]:8080', localhost:1]", #"[127.0.0.2:0, "[::1]:8080", 127.0.0.1:1]"#),
        ("mode", "offline", "offline"),
        ("store.path", "':memory:'", #"":memory:""#),
        ("store.memory.high", "1.5GiB", "1536MiB"),
        ("store.memory.low", "1MB", "1000000"),
        ("store.memory.max_body", "64KiB", "64KiB"),
        ("store.disk.high", "10GiB", "10GiB"),
        ("store.disk.low", "1GiB", "1GiB"),
        ("store.shared.url", "'rediss://cache:7000,cache-2'", #""rediss://cache:7000,cache-2:6379""#),
        ("store.shared.user", "larder", "larder"),
        ("store.shared.password_file", "/etc/larder/redis.password", "/etc/larder/redis.password"),
        ("store.shared.keys", "/etc/larder/farm", "/etc/larder/farm"),
        ("store.shared.encrypt", "false", "false"),
        ("store.shared.write", "second_request", "second_request"),
        ("store.shared.max_body", "256KiB", "256KiB"),
        ("store.shared.timeout", "100ms", "100ms"),
        ("store.shared.wait", "500ms", "500ms"),
        ("store.shared.node", "builder-1", "builder-1"),
        ("loops", "3", "3"),
        ("log.level", "debug", "debug"),
        ("log.access.path", "/var/log/larder/access.log", "/var/log/larder/access.log"),
        ("log.access.format", "squid", "squid"),
        ("log.access.query", "true", "true"),
        ("otlp.endpoint", "http://127.0.0.1:4318/", "http://127.0.0.1:4318"),
        ("otlp.sample", "0.25", "0.25"),
        ("otlp.service", "build-cache", "build-cache"),
        ("log.audit", "/var/log/larder/audit.ndjson", "/var/log/larder/audit.ndjson"),
        ("log.audit_requests", "all", "all"),
        ("log.audit_files.size", "1MiB", "1MiB"),
        ("log.audit_files.age", "1h", "1h"),
        ("log.audit_files.count", "7", "7"),
        ("limits.request_line", "8KiB", "8KiB"),
        ("limits.head", "32KiB", "32KiB"),
        ("limits.fields", "50", "50"),
        ("limits.request_body", "1GiB", "1GiB"),
        ("limits.checked_bodies", "8MiB", "8MiB"),
        ("timeouts.connect", "1500ms", "1500ms"),
        ("timeouts.first_byte", "2m", "2m"),
        ("timeouts.idle", "90", "90s"),
        ("timeouts.total", "1h", "1h"),
        ("timeouts.client_head", "5s", "5s"),
        ("timeouts.client_body", "6s", "6s"),
        ("timeouts.client_idle", "7s", "7s"),
        ("timeouts.drain", "1s", "1s"),
        ("admin.socket", "/a/admin.sock", "/a/admin.sock"),
        ("admin.listen", "127.0.0.1:3190", "127.0.0.1:3190"),
        ("metrics.listen", "127.0.0.1:9180", "127.0.0.1:9180"),
        ("approvals.file", "approvals.yaml", "approvals.yaml"),
        ("approvals.webhook", "'https://hooks.example/secret?token=x'", #""https://hooks.example/***""#),
        ("traces.count", "100", "100"),
        ("upstream.proxy", "'http://proxy.example:3128'", #"http://proxy.example:3128"#),
        (
            "upstream.ways",
            "[{name: corp, url: 'http://proxy.example:3128', credentials: '${file:corp.secret}'}, {name: farm, parents: {members: ['https://p1.example:3181/']}}]",
            #"[{name: corp, url: http://proxy.example:3128, credentials: "${file:corp.secret}"}, {name: farm, parents: {members: [https://p1.example:3181], hash: key}}]"#
        ),
        ("upstream.way", "direct", "direct"),
        ("upstream.connections_per_origin", "2", "2"),
        ("upstream.connections", "20", "20"),
        ("upstream.queue_wait", "1s", "1s"),
        (
            "resolve", "{Origin.test: 127.0.0.1, v6.test: ['::0001', 127.0.0.2]}",
            #"{origin.test: 127.0.0.1, v6.test: ["::1", 127.0.0.2]}"#
        ),
        ("tunnel.ports", "any", "any"),
        ("egress.default", "deny", "deny"), ("egress.suggest", "false", "false"),
        ("egress.enforce", "report", "report"),
        ("egress.stored", "serve", "serve"), ("egress.addresses.deny", "[10.0.0.0/8]", "[10.0.0.0/8]"),
        ("egress.addresses.private", "deny", "deny"),
        (
            "egress.addresses.allow", "[10.1.2.3, '10.1.2.3:5432', 10.0.0.0/8, 'fd00::1', '[fd00::/64]:443']",
            #"[10.1.2.3, 10.1.2.3:5432, 10.0.0.0/8, fd00::1, "[fd00::/64]:443"]"#
        ),
        ("policy.shadow", "next.yaml", "next.yaml"),
        ("clients.allow", "[192.168.0.0/16, 'fd00::/8']", "[192.168.0.0/16, fd00::/8]"),
        ("clients.passwords", "passwords", "passwords"), ("clients.authenticate", "remote", "remote"),
        ("clients.purge", "[127.0.0.0/8]", "[127.0.0.0/8]"), ("clients.run", "build-7", "build-7"),
        ("cache.set_cookie", "never", "never"),
        ("cache.targeted_cache_control", "[CDN-Cache-Control]", "[CDN-Cache-Control]"),
        ("cache.status_key", "true", "true"),
        ("cache.max_stale_offline", "12h", "12h"),
        ("tls.default", "{anchors: {bundle: /a/b.pem}, minimum_tls: 1.3}", "{anchors: {bundle: /a/b.pem}, minimum_tls: 1.3}"),
        (
            "tls.hosts", "{auth.example: {allow_expired: true, until: 2027-01-31}}",
            "{auth.example: {allow_expired: true, until: 2027-01-31}}"
        ),
        ("tls.pins_from", "pins.d", "pins.d"),
        ("tls.key_log", "keys.log", "keys.log"),
        (
            "tls.client_certificates", "{a.example: {pkcs12: a.p12, passphrase: '${env:A}'}}",
            "{a.example: {pkcs12: a.p12, passphrase: \"${env:A}\"}}"
        ),
        ("tls.connect.verdict_ttl", "300s", "5m"), ("tls.connect.missing_name", "deny", "deny"),
        ("tls.connect.encrypted_hello", "deny", "deny"),
        ("tls.connect.never_intercept", "['*.a.example', b.example]", #"["*.a.example", b.example]"#),
        ("tls.connect.other_protocols", "deny", "deny"), ("tls.connect.http2", "off", "off"),
        ("tls.connect.alt_svc", "keep", "keep"), ("upstream.http2", "off", "off"),
        ("limits.http2.streams", "50", "50"), ("limits.http2.resets", "20", "20"),
        ("limits.http2.resets_per_client", "40", "40"),
        ("limits.http2.stream_window", "128KiB", "128KiB"), ("limits.http2.connection_window", "2MiB", "2MiB"),
        ("tls.connect.refusals_kept", "1h", "1h"),
        ("tls.authority.folder", "/a/ca", "/a/ca"), ("tls.authority.passphrase_file", "/a/pass", "/a/pass"),
        ("timeouts.client_handshake", "3s", "3s"),
        ("replay.layers", "[a.larder, cache]", "[a.larder, cache]"), ("replay.as_of", "7", "7"),
        ("replay.as_of", "2026-11-01", "\"2026-11-01\""),
        ("replay.sequence_end", "error", "error"), ("replay.sequence_scope", "user", "user"),
        ("replay.failures", "miss", "miss"), ("replay.signed_by", "[a.pem]", "[a.pem]"),
        ("replay.dates", "shift", "shift"), ("replay.expires_after", "30d", "30d"), ("replay.on_expired", "fail", "fail"),
        ("record.file", "a.larder", "a.larder"), ("record.existing", "append", "append"),
        ("record.match", "match.json", "match.json"), ("record.no_store", "skip", "skip"),
        ("record.unscanned", "keep", "keep"), ("recordings.key", "project.key", "project.key"),
        ("host_mismatch", "deny", "deny"),
        ("rules", "[{name: a, deny: {reason: no}}]", "[{name: a, deny: {reason: no}}]"),
        (
            "tests", #"[{request: "GET https://a.example/", verdict: allow}]"#,
            "[{request: \"GET https://a.example/\", verdict: allow}]"
        ),
    ]

    static func nested(_ name: String, _ yaml: String) -> String {
        name.split(separator: ".").reversed().reduce(yaml) { "{\($1): \($0)}" }
    }

    @Test("Every setting has an example here")
    func isComplete() {
        #expect(Set(Self.examples.map(\.name)) == Set(SettingsSchema.settings.map(\.name)))
    }

    @Test("Each setting is read from the file, and shown as it would be written", arguments: examples)
    func reads(name: String, yaml: String, shown: String) throws {
        let setting = try #require(SettingsSchema.byName[name])
        let settings = try settings(Self.nested(name, yaml))
        #expect(YAMLWriter.inline(setting.show(settings)) == shown)
        #expect(setting.show(settings) != setting.defaultValue)
        for other in SettingsSchema.settings where other.name != name {
            #expect(other.show(settings) == other.defaultValue, "\(name) changed \(other.name)")
        }
    }

    @Test("Shown settings are read back unchanged", arguments: examples)
    func readsBack(name: String, yaml: String, shown: String) throws {
        let first = try settings(Self.nested(name, yaml))
        let second = try settings(YAMLWriter.write(first))
        for setting in SettingsSchema.settings { #expect(setting.show(second) == setting.show(first)) }
    }

    @Test("A rule with a null value is read back unchanged", arguments: ["", " ~", " null"])
    func readsBackNothing(nothing: String) throws {
        let first = YAMLWriter.write(try settings("rules:\n- name: a\n  deny:\(nothing)\n"))
        #expect(first.contains("deny: null"))
        #expect(YAMLWriter.write(try settings(first)) == first)
    }

    @Test(
        "Each setting refuses a value of the wrong kind, with its name and place", arguments: SettingsSchema.settings.map(\.name))
    func refusesTheWrongKind(name: String) {
        let found = problems(Self.nested(name, "[[1]]"))

        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("larder.yaml:1:") == true)
        #expect(found.first?.contains(" \(name)") == true)
    }

    @Test("No two settings have the same environment variable")
    func environmentNamesDiffer() {
        #expect(Set(SettingsSchema.settings.map(\.environmentName)).count == SettingsSchema.settings.count)
        #expect(SettingsSchema.byName["store.memory.max_body"]?.environmentName == "LARDER_STORE_MEMORY_MAX_BODY")
    }

    @Test("The JSON Schema is valid JSON and names every setting")
    func describesItself() throws {
        let object = try JSONSerialization.jsonObject(with: Data(SettingsDocumentation.jsonSchema.written().utf8))
        for setting in SettingsSchema.settings {
            var node = try #require(object as? [String: Any])
            for part in setting.parts {
                let properties = try #require(node["properties"] as? [String: Any])
                node = try #require(properties[part] as? [String: Any])
            }
            #expect(node["description"] as? String == setting.about)
        }
    }

    @Test("docs/configuration.md is up to date")
    func documentationIsUpToDate() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let written = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
        #expect(written == SettingsDocumentation.markdown, "make docs")
    }
}
