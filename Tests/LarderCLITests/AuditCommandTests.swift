import AuditLog
import Foundation
import TestSupport
import Testing

@Suite("larder serve with an audit log, and larder log verify")
struct AuditCommandTests {
    typealias Served = ServeTests.Served

    private static let rules = """
        rules:
          - {name: no-evil, match: {host: evil.test}, deny: {}}
          - {name: perhaps, match: {host: maybe.test}, deny: {}, enforce: report}

        """

    private func serve(_ yaml: String, in folder: TemporaryFolder) throws -> (served: Served, port: UInt16) {
        let served = try Served(
            "log: {audit: \(folder.path)/audit.ndjson}\n\(yaml)", in: folder, environment: ["XDG_STATE_HOME": folder.path])
        return (served, UInt16(try #require(try served.ports().first)))
    }

    private func get(_ url: String, _ port: UInt16) throws -> Int {
        let client = try RawClient(port: port)
        client.send("GET \(url) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return Int(try client.readResponse().status)
    }

    private func verify(_ folder: TemporaryFolder, _ words: String...) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(
            ["log", "verify", "\(folder.path)/audit.ndjson"] + words, environment: ["XDG_STATE_HOME": folder.path])
    }

    private func lines(_ folder: TemporaryFolder) throws -> [[String: Any]] {
        try String(contentsOfFile: "\(folder.path)/audit.ndjson", encoding: .utf8).split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func lines(_ event: String, in folder: TemporaryFolder) throws -> [[String: Any]] {
        try lines(folder).filter { $0["event"] as? String == event }
    }

    private func stop(_ served: Served) {
        served.signal(SIGTERM)
        #expect(served.hasEnded())
    }

    @Test(
        "The log has the denials, would-be denials, and changes of settings and mode, each in the form of its schema, without queries"
    )
    func decisions() throws {
        let folder = try TemporaryFolder()
        let (served, port) = try serve("\(Self.rules)resolve: {maybe.test: 127.0.0.1, evil.test: 127.0.0.1}\n", in: folder)
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "x") }
        defer { origin.stop() }
        #expect(try get("http://evil.test/a?token=secret", port) == 403)
        #expect(try get("http://maybe.test:\(origin.port)/b?token=secret", port) == 200)
        #expect(try get("http://127.0.0.1:\(origin.port)/c", port) == 200)
        let socket = "admin.socket=\(folder.path)/admin.sock"
        #expect(try CommandLineTests.larder("mode", "--set", socket, "offline").code == 0)
        #expect(try CommandLineTests.larder("mode", "--set", socket, "replay").code == 2)
        #expect(try CommandLineTests.larder("reload", "--set", socket).code == 0)
        _ = try folder.write("nonsense: 1\n", to: "larder.yaml")
        #expect(try CommandLineTests.larder("reload", "--set", socket).code == 2)
        let status = try CommandLineTests.larder("status", "--set", socket).output
        #expect(status.contains("audit log    \(folder.path)/audit.ndjson, not sealed yet\n"))
        stop(served)

        let denied = try lines("denied", in: folder)
        try #require(denied.count == 2)
        #expect(denied.map { $0["url"] as? String } == ["http://evil.test/a", "http://maybe.test:\(origin.port)/b"])
        #expect(denied.map { $0["rule"] as? String } == ["no-evil", "perhaps"])
        #expect(denied.map { $0["enforce"] as? String } == ["deny", "report"])
        #expect(denied.map { $0["code"] as? String } == ["denied_by_rule", "denied_by_rule"])
        let log = try String(contentsOfFile: "\(folder.path)/access.log", encoding: .utf8)
        #expect(log.contains("\"id\":\"\(denied[0]["id"] as? String ?? "?")\""))
        #expect(try lines("mode", in: folder).map { $0["outcome"] as? String } == ["changed", "rejected"])
        #expect(try lines("settings", in: folder).map { $0["outcome"] as? String } == ["reloaded", "rejected"])
        #expect(try lines("allowed", in: folder).isEmpty)
        for line in try lines(folder) { #expect(Schema.faults(of: line, in: "audit-log.schema.json") == []) }
        let text = try String(contentsOfFile: "\(folder.path)/audit.ndjson", encoding: .utf8)
        #expect(!text.contains("secret"))
        let outcome = try verify(folder)
        let count = try lines(folder).count
        #expect(outcome.code == 0 && outcome.output.contains("complete up to seal \(count) of "))
    }

    @Test("With audit_requests: all, the log also has each allowed request with the deciding rule")
    func allowed() throws {
        let folder = try TemporaryFolder()
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "x")
        }
        defer { origin.stop() }
        let served = try Served(
            """
            log: {audit: \(folder.path)/audit.ndjson, audit_requests: all}
            egress: {default: deny, addresses: {private: allow}}
            rules: [{name: mine, match: {host: 127.0.0.1}, allow: {}}]

            """, in: folder, environment: ["XDG_STATE_HOME": folder.path])
        let port = UInt16(try #require(try served.ports().first))
        for _ in 0..<2 { #expect(try get("http://127.0.0.1:\(origin.port)/kept", port) == 200) }
        #expect(try get("http://other.test/", port) == 403)
        stop(served)
        let allowed = try lines("allowed", in: folder)
        #expect(allowed.map { $0["rule"] as? String } == ["mine", "mine"])
        #expect(allowed.map { $0["cache"] as? String } == ["miss", "hit"])
        #expect(try lines("denied", in: folder).map { $0["code"] as? String } == ["egress_denied"])
        for line in try lines(folder) { #expect(Schema.faults(of: line, in: "audit-log.schema.json") == []) }
    }

    @Test("The log has the verdict on each server's certificates, with its key and the reason of a rejection")
    func trust() throws {
        let stage = try PinnedStage()
        let identity = stage.authority.identity()
        let origin = stage.serve(identity)
        let settings = "tls: {hosts: {127.0.0.1: {anchors: {bundle: root.pem}}}}\n"
        let (served, port) = try serve(settings, in: stage.folder)
        #expect(try get("https://127.0.0.1:\(origin.port)/", port) == 200)
        let pin = try PinnedStage.pin(TestAuthority.selfSignedIdentity())
        _ = try stage.folder.write(
            "log: {audit: \(stage.folder.path)/audit.ndjson}\n"
                + settings.replacing("root.pem}", with: "root.pem}, pins: {of: \(pin)}"), to: "larder.yaml")
        served.signal(SIGHUP)
        #expect(served.says("the settings were reloaded"))
        #expect(try get("https://127.0.0.1:\(origin.port)/", port) == 502)
        stop(served)
        let verdicts = try lines("trust", in: stage.folder)
        try #require(verdicts.count == 2)
        #expect(verdicts.map { $0["verdict"] as? String } == ["accepted", "rejected"])
        let key = "\(try PinnedStage.pin(identity))"
        #expect(verdicts.allSatisfy { $0["server_key"] as? String == key && $0["port"] as? Int == Int(origin.port) })
        #expect(verdicts[1]["reason"] as? String == "pin_mismatch")
        #expect((verdicts[1]["policy"] as? String)?.hasPrefix("larder.yaml:2") == true)
        for line in try lines(stage.folder) { #expect(Schema.faults(of: line, in: "audit-log.schema.json") == []) }
    }

    @Test("After a kill, verify names the lines that no seal covers; --strict then exits with 5")
    func killed() throws {
        let folder = try TemporaryFolder()
        let (served, port) = try serve(Self.rules, in: folder)
        #expect(try get("http://evil.test/", port) == 403)
        try eventually { try lines("denied", in: folder).count == 1 }
        served.signal(SIGKILL)
        #expect(served.hasEnded())
        let unsealed = try verify(folder)
        #expect(unsealed.code == 0 && unsealed.output.contains("lines 1 to 3 are not sealed yet\n"))
        stop(try serve(Self.rules, in: folder).served)
        let outcome = try verify(folder)
        #expect(
            outcome.code == 0
                && outcome.output.hasPrefix("lines 1 to 3 are unverified: Larder stopped before it wrote a seal after them\n"))
        #expect(try verify(folder, "--strict").code == 5)
    }

    @Test(
        "verify exits with 5 for a changed line and for a seal that is missing, with 2 for wrong usage, and with 1 for a missing file"
    )
    func exitCodes() throws {
        let folder = try TemporaryFolder()
        let (served, port) = try serve(Self.rules, in: folder)
        #expect(try get("http://evil.test/", port) == 403)
        stop(served)
        let json = try JSONSerialization.jsonObject(with: Data(try verify(folder, "-o", "json").output.utf8)) as? [String: Any]
        let seal = try #require(json?["seal"] as? String)
        #expect(json?["good"] as? Bool == true && json?["lines"] as? Int == 5)
        #expect(try verify(folder, "--seal", seal).output.contains("; the given seal is in the log"))
        #expect(try verify(folder, "--seal", "99:" + String(repeating: "a", count: 64)).code == 5)
        #expect(try verify(folder, "--seal", "nonsense").code == 2)
        #expect(try CommandLineTests.larder("log", "verify", "\(folder.path)/none").code == 1)
        #expect(try CommandLineTests.larder("log", "verify").code == 2)
        let path = "\(folder.path)/audit.ndjson"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("evil.test", with: "good.test").write(toFile: path, atomically: true, encoding: .utf8)
        let changed = try verify(folder)
        #expect(changed.code == 5 && changed.output.hasPrefix("\(path):4: line 3 was changed, or the hash in line 4 was\n"))
    }

    @Test("Two Larders cannot write one audit log: the second does not start, and the first goes on")
    func oneWriter() throws {
        let folder = try TemporaryFolder()
        let (served, port) = try serve(Self.rules, in: folder)
        let second = try CommandLineTests.larder(
            [
                "serve", "--listen", "127.0.0.1:0", "--store", ":memory:", "--set", "admin.socket=off", "--set",
                "log.audit=\(folder.path)/audit.ndjson",
            ],
            environment: ["XDG_STATE_HOME": folder.path])
        #expect(second.code == 1 && second.talk.contains("another process writes to \(folder.path)/audit.ndjson"))
        #expect(try get("http://evil.test/", port) == 403)
        stop(served)
        #expect(try verify(folder).code == 0)
    }
}
