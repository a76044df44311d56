import Foundation
import ServerTrust
import TestSupport
import Testing

@Suite("The life of a pin, with a running Larder")
struct PinsStoryTests {
    /// A Larder in front of a server whose key changes.
    private final class Story {
        let stage: PinnedStage
        let larder: ServeTests.Served
        let port: UInt16
        var origin: ScriptedOrigin

        var host: String { "127.0.0.1:\(origin.port)" }
        var file: String { "pins.d/127.0.0.1_\(origin.port).yaml" }

        init() throws {
            stage = try PinnedStage()
            origin = stage.serve(stage.authority.identity())
            _ = try stage.folder.write("keep.example: {pins: {of: \(PinsStoryTests.other)}}\n", to: "pins.d/keep.yaml")
            larder = try ServeTests.Served(
                "tls: {default: {anchors: {bundle: root.pem}}, pins_from: pins.d}\n", in: stage.folder)
            port = UInt16(try #require(try larder.ports().first))
        }

        func show(_ identity: TLSIdentity) {
            stage.stop(origin)
            origin = stage.serve(identity, port: origin.port)
        }

        func pins(_ arguments: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(
                ["pins"] + arguments + ["-c", larder.settings, "--set", "admin.socket=\(stage.folder.path)/admin.sock"])
        }

        func reload() throws {
            let outcome = try CommandLineTests.larder("reload", "--set", "admin.socket=\(stage.folder.path)/admin.sock")
            #expect(outcome.code == 0, "\(outcome)")
        }

        func fetch() throws -> ReceivedResponse {
            let client = try RawClient(port: port, owner: self)
            client.send("GET https://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nCache-Control: no-store\r\n\r\n")
            return try client.readResponse(to: "GET")
        }

        func audited() throws -> [String: Any] {
            let outcome = try pins("audit", "-o", "json")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
            return try #require((object["hosts"] as? [[String: Any]])?.first, "\(outcome)")
        }
    }

    private static let other = "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

    @Test(
        "learn, report only, audit, enforce, add a backup, change the server's key, retire the old one: no connection fails meanwhile"
    )
    func livesLong() throws {
        let story = try Story()
        let first = try #require(try Self.learned(story))
        try story.reload()
        #expect(try story.fetch().text == "secret")
        #expect(try story.audited()["with_pin"] as? Int == 1 && story.audited()["without_pin"] as? Int == 0)

        // An unannounced key is only reported.
        let (next, last) = (story.stage.authority.identity(), story.stage.authority.identity())
        let stranger = story.stage.authority.identity()
        story.show(stranger)
        #expect(try story.fetch().text == "secret")
        let finding = try story.audited()
        #expect(finding["without_pin"] as? Int == 1 && finding["pinned"] as? [String] == [first])
        let seen = try #require((finding["seen"] as? [[String: Any]])?.first)
        #expect((seen["chain"] as? [String])?.first == "\(try PinnedStage.pin(stranger))" && seen["times"] as? Int == 1)
        #expect(try story.pins("audit").output.contains("enforced pins would have rejected 1 of these handshakes"))

        // Once enforced, it is rejected.
        let enforced = try story.stage.read(story.file).replacing("mode: report_only", with: "mode: enforce")
        _ = try story.stage.folder.write(enforced, to: story.file)
        try story.reload()
        let refused = try story.fetch()
        #expect(refused.status == 502 && refused["Proxy-Status"]?.contains("details=\"pin_mismatch\"") == true)
        // The command that the error names finds the pins, with the port and without.
        #expect(refused.text.contains("larder pins rotate \(story.host) --add"))
        let named = try story.pins("rotate", "127.0.0.1", "--add", first)
        #expect(named.code == 1 && named.talk.contains("the settings list the pins of 127.0.0.1 under 127.0.0.1:"), "\(named)")

        // With the next key as a backup, the server can switch to it.
        _ = try story.stage.folder.write(CertificateText.pem(next.der), to: "next.pem")
        #expect(try story.pins("rotate", story.host, "--add", "\(story.stage.folder.path)/next.pem").code == 0)
        try story.reload()
        story.show(next)
        #expect(try story.fetch().text == "secret")

        // Without another backup the old key is not retired.
        let bare = try story.pins("rotate", story.host, "--retire", first)
        #expect(bare.code == 1)
        #expect(
            bare.talk.contains(
                "no backup would be left, and the next key change would make all connections fail (RFC 7469 §4.3)"))
        let (now, spare) = ("\(try PinnedStage.pin(next))", "\(try PinnedStage.pin(last))")
        let rotated = try story.pins("rotate", story.host, "--add", spare, "--retire", first)
        #expect(rotated.code == 0, "\(rotated)")
        let text = try story.stage.read(story.file)
        #expect(text.contains("of: [\"\(now)\"]\n") && text.contains("backup: [\"\(spare)\"]\n"), "\(text)")
        #expect(text.hasPrefix("# Written by larder pins learn"))
        try story.reload()
        #expect(try story.fetch().text == "secret")
        let check = try story.pins("check", story.host)
        #expect(check.code == 0 && check.output.contains("good") && !check.output.contains("no pin is a backup"), "\(check)")
        story.show(last)
        #expect(try story.fetch().text == "secret")
    }

    /// - Returns: the pin that is written.
    private static func learned(_ story: Story) throws -> String? {
        let shown = try story.pins("learn", story.host)
        #expect(shown.code == 0 && shown.output.contains("# There is no backup pin"), "\(shown)")
        #expect(shown.output.contains("leaf sha256/") && shown.output.contains("root sha256/"))
        #expect(!FileManager.default.fileExists(atPath: "\(story.stage.folder.path)/\(story.file)"))
        let written = try story.pins("learn", story.host, "--write")
        #expect(written.code == 0 && written.output.isEmpty && written.talk.contains("# There is no backup pin"), "\(written)")
        let again = try story.pins("learn", story.host, "--write")
        #expect(again.code == 1 && again.talk.contains("already has a policy, at "))
        return shown.output.firstMatch(of: /of: \["(sha256\/[^"]+)"\]/).map { String($0.1) }
    }

    @Test("audit lists servers that match a pattern once they were contacted, and separately the hosts that were not")
    func auditsPatterns() throws {
        let stage = try PinnedStage()
        let origin = stage.serve(stage.authority.identity(names: "DNS:a.shop.test"))
        let larder = try ServeTests.Served(
            """
            resolve: {a.shop.test: 127.0.0.1}
            tls:
              default: {anchors: {bundle: root.pem}}
              hosts:
                "*.shop.test": {anchors: {bundle: root.pem}, mode: report_only, pins: {of: \(Self.other)}}
                "*.other.test": {anchors: {bundle: root.pem}, mode: report_only, pins: {of: \(Self.other)}}

            """, in: stage.folder)
        let client = try RawClient(port: UInt16(try #require(try larder.ports().first)), owner: larder)
        let host = "a.shop.test:\(origin.port)"
        client.send("GET https://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(try client.readResponse(to: "GET").text == "secret")
        let audit = try CommandLineTests.larder("pins", "audit", "--set", "admin.socket=\(stage.folder.path)/admin.sock")
        #expect(audit.output.contains("\(host): handshakes 1, first "))
        #expect(
            audit.output.split(separator: "\n").filter { $0.hasSuffix("Larder has not connected to this host yet") }.count == 1)
        #expect(audit.output.contains("*.other.test: Larder has not connected to this host yet"), "\(audit)")
    }

    @Test("Without --force, a key that the server still sends is not retired, nor one whose server cannot be reached")
    func keepsOrder() throws {
        let story = try Story()
        #expect(try story.pins("learn", story.host, "--write", "--backup", Self.other).code == 0)
        let text = try story.stage.read(story.file)
        let pin = try #require(text.firstMatch(of: /of: \["(sha256\/[^"]+)"\]/)).1
        let early = try story.pins("rotate", story.host, "--retire", "\(pin)")
        #expect(early.code == 1 && early.talk.contains("the server still uses \(pin)"), "\(early)")
        story.stage.stop(story.origin)
        let unseen = try story.pins("rotate", story.host, "--retire", "\(pin)")
        #expect(unseen.code == 1 && unseen.talk.contains("cannot be reached (connection refused)"), "\(unseen)")
        #expect(try story.stage.read(story.file) == text)
        #expect(try story.pins("rotate", story.host, "--retire", "\(pin)", "--force").code == 0)
        #expect(try story.stage.read(story.file).contains("of: [\"\(Self.other)\"]\n"))
    }

    @Test("A file that a person has edited is never changed: the command says what to change")
    func leavesHandwritingAlone() throws {
        let stage = try PinnedStage()
        let yaml = "# ours\na.example:  # the shop\n  pins: {of: \(Self.other)}\n"
        let path = try stage.folder.write(yaml, to: "pins.d/a.yaml")
        let settings = try stage.settings("tls: {pins_from: pins.d, hosts: {b.example: {pins: {of: \(Self.other)}}}}\n")
        let next = "sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM="
        for (host, place) in [("a.example", "\(path):2:1"), ("b.example", "\(settings):1:")] {
            let outcome = try CommandLineTests.larder("pins", "rotate", host, "--add", next, "-c", settings)
            #expect(outcome.code == 1 && outcome.talk.contains(place), "\(outcome)")
            #expect(outcome.output == "pins:\n  of: [\"\(Self.other)\"]\n  backup: [\"\(next)\"]\n")
        }
        #expect(try stage.read("pins.d/a.yaml") == yaml)
        let missing = try CommandLineTests.larder("pins", "rotate", "a.exampel", "--add", next, "-c", settings)
        #expect(missing.code == 2 && missing.talk.contains("did you mean `a.example`?"))
    }

    @Test("An untrusted server is not learned from, except for its certificate alone with --pins-only")
    func learnsPinsOnly() throws {
        let stage = try PinnedStage()
        let origin = stage.serve(TestAuthority.selfSignedIdentity())
        let host = "127.0.0.1:\(origin.port)"
        try FileManager.default.createDirectory(atPath: "\(stage.folder.path)/pins.d", withIntermediateDirectories: true)
        let settings = try stage.settings("tls: {default: {anchors: {bundle: root.pem}}, pins_from: pins.d}\n")
        let refused = try CommandLineTests.larder("pins", "learn", host, "-c", settings)
        #expect(refused.code == 1 && refused.output.isEmpty)
        #expect(
            refused.talk.contains("is not trusted (untrusted_root), so Larder learns nothing from it; --pins-only"), "\(refused)")
        let written = try CommandLineTests.larder("pins", "learn", host, "--pins-only", "--write", "-c", settings)
        #expect(written.code == 0, "\(written)")
        let check = try CommandLineTests.larder("pins", "check", "-c", settings)
        #expect(check.code == 0 && check.output.contains("good"), "\(check)")
        let other = stage.serve(TestAuthority.selfSignedIdentity(names: "DNS:other.test"))
        let mismatch = try CommandLineTests.larder(
            "pins", "learn", "127.0.0.1:\(other.port)", "--pins-only", "--write", "-c", settings)
        #expect(
            mismatch.code == 1
                && mismatch.talk.contains("is not trusted (host_mismatch), even if its own key is the trust anchor"),
            "\(mismatch)")
    }

    @Test("explain --connect verifies the server now, in addition to the explanation of the request")
    func explains() throws {
        let story = try Story()
        let settings = ["-c", story.larder.settings, "--set", "admin.socket=\(story.stage.folder.path)/admin.sock"]
        let text = try CommandLineTests.larder(["explain", "--connect", "https://\(story.host)/"] + settings)
        #expect(text.code == 0 && text.output.contains("server: \(story.host) is unpinned: the host has no pins"), "\(text)")
        let json = try CommandLineTests.larder(["explain", "--connect", "https://\(story.host)/", "-o", "json"] + settings)
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect((object?["server"] as? [String: Any])?["result"] as? String == "unpinned", "\(json)")
        #expect(story.origin.requestHeads.isEmpty)
        #expect(try CommandLineTests.larder("explain", "--connect", "http://a.example/").code == 2)
    }

    @Test(
        "explain --connect exits with 7 if the server is rejected, and with 1 if it cannot be reached",
        arguments: ["text", "json"])
    func exitsAsPinsCheck(form: String) throws {
        let story = try Story()
        story.show(TestAuthority.selfSignedIdentity(names: "IP:127.0.0.1"))
        let words = [
            "explain", "--connect", "https://\(story.host)/", "-o", form, "-c", story.larder.settings, "--set",
            "admin.socket=\(story.stage.folder.path)/admin.sock",
        ]
        let rejected = try CommandLineTests.larder(words)
        #expect(rejected.code == 7 && rejected.output.contains("refused"), "\(rejected)")
        story.stage.stop(story.origin)
        let gone = try CommandLineTests.larder(words)
        #expect(gone.code == 1 && gone.output.contains("unreachable"), "\(gone)")
    }
}
