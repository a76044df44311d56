import CommandSupport
import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("Pin files that programs write")
struct PinWritingTests {
    private static let pins = [
        "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", "sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM=",
    ]

    @Test("rotate does not overwrite a file that has changed since it was read, even with --force")
    func keepsOthersEdit() throws {
        let stage = try PinnedStage()
        let edited = "a.example: {pins: {of: \(Self.pins[1])}}\n"
        let path = "\(stage.folder.path)/pins.d/127.yaml"
        // The server, which is contacted between reading and writing, changes the file.
        let origin = ScriptedOrigin { connection in
            try? edited.write(toFile: path, atomically: true, encoding: .utf8)
            _ = connection
        }
        defer { origin.stop() }
        let before = "127.0.0.1:\(origin.port): {pins: {of: \(Self.pins[0]), backup: \(Self.pins[1])}}\n"
        _ = try stage.folder.write(before, to: "pins.d/127.yaml")
        let settings = try stage.settings("tls: {pins_from: pins.d}\n")
        let outcome = try CommandLineTests.larder(
            "pins", "rotate", "127.0.0.1:\(origin.port)", "--retire", Self.pins[0], "--force", "-c", settings)
        #expect(
            outcome.code == 1 && outcome.talk.contains("the file was changed in the meantime; Larder wrote nothing"), "\(outcome)"
        )
        #expect(try stage.read("pins.d/127.yaml") == edited)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(stage.folder.path)/pins.d") == ["127.yaml"])
    }

    @Test("A file is replaced only if it still has the content that was read: not if it is longer, shorter, or missing")
    func replacesWhatWasRead() throws {
        let folder = try TemporaryFolder()
        let before = Array("before\n".utf8)
        for other in ["before", "before\n\n", "Before\n", ""] {
            let path = try folder.write(other, to: "file")
            #expect(throws: WholeFile.Unwritten.self) {
                try WholeFile.write("after\n", to: path, replaces: true, inPlaceOf: before)
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == other)
        }
        let path = try folder.write("before\n", to: "file")
        try WholeFile.write("after\n", to: path, replaces: true, inPlaceOf: before)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "after\n")
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: WholeFile.Unwritten.self) {
            try WholeFile.write("after\n", to: path, replaces: true, inPlaceOf: before)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("learn does not replace enforced pins of a pattern, unless the new pins are enforced")
    func keepsPatternsPins() throws {
        let stage = try PinnedStage()
        let origin = stage.serve(stage.authority.identity(names: "DNS:a.shop.test"))
        _ = try stage.folder.write("b.example: {pins: {of: \(Self.pins[0])}}\n", to: "pins.d/b.yaml")
        let settings = try stage.settings(
            """
            resolve: {a.shop.test: 127.0.0.1}
            tls:
              default: {anchors: {bundle: root.pem}}
              pins_from: pins.d
              hosts:
                "*.shop.test": {anchors: {bundle: root.pem}, pins: {of: \(Self.pins[0]), backup: \(Self.pins[1])}}

            """)
        let learn = ["pins", "learn", "a.shop.test:\(origin.port)", "--write", "-c", settings]
        let refused = try CommandLineTests.larder(learn)
        #expect(refused.code == 1 && refused.talk.contains("has enforced pins from *.shop.test, at "), "\(refused)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(stage.folder.path)/pins.d") == ["b.yaml"])
        let enforced = try CommandLineTests.larder(learn + ["--mode", "enforce"])
        #expect(enforced.code == 0, "\(enforced)")
    }

    @Test("learn connects to no address that the settings deny", arguments: ["private: deny", "deny: [127.0.0.0/8]"])
    func connectsToAllowedAddresses(addresses: String) throws {
        let stage = try PinnedStage()
        let origin = stage.serve(TestAuthority.selfSignedIdentity())
        _ = try stage.folder.write("b.example: {pins: {of: \(Self.pins[0])}}\n", to: "pins.d/b.yaml")
        for (rule, isAllowed) in [("egress: {addresses: {\(addresses)}}\n", false), ("", true)] {
            let settings = try stage.settings("\(rule)tls: {default: {anchors: {bundle: root.pem}}, pins_from: pins.d}\n")
            let learned = try CommandLineTests.larder(
                "pins", "learn", "127.0.0.1:\(origin.port)", "--pins-only", "--write", "-c", settings)
            #expect((learned.code == 0) == isAllowed, "\(learned)")
            #expect((origin.connectionCount > 0) == isAllowed)
        }
    }

    @Test("learn --pins-only writes both of its files or none")
    func leavesNoAnchorBehind() throws {
        let stage = try PinnedStage()
        let origin = stage.serve(TestAuthority.selfSignedIdentity())
        let name = "127.0.0.1_\(origin.port)"
        // Its name is taken by settings for another host.
        _ = try stage.folder.write("a.example: {pins: {of: \(Self.pins[0])}}\n", to: "pins.d/\(name).yaml")
        let settings = try stage.settings("tls: {default: {anchors: {bundle: root.pem}}, pins_from: pins.d}\n")
        let learn = ["pins", "learn", "127.0.0.1:\(origin.port)", "--pins-only", "--write", "-c", settings]
        let refused = try CommandLineTests.larder(learn)
        #expect(
            refused.code == 1 && refused.talk.contains("cannot write \(stage.folder.path)/pins.d/\(name).yaml: "), "\(refused)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(stage.folder.path)/pins.d") == ["\(name).yaml"])

        // The existing file stays too.
        _ = try stage.folder.write("mine", to: "pins.d/\(name).pem")
        let again = try CommandLineTests.larder(learn)
        #expect(again.code == 1 && again.talk.contains("cannot write \(stage.folder.path)/pins.d/\(name).pem: "), "\(again)")
        #expect(try stage.read("pins.d/\(name).pem") == "mine")
    }
}
