import Foundation
import TestSupport
import Testing
@testable import Snapshots

@Suite("Snapshots as text")
struct TextFolderTests {
    static func exchanges() -> [Exchange] {
        var exchanges = DamageTests.exchanges()
        exchanges[0].fields = [("X-Empty", ""), ("X-Blank", "a  b"), ("Content-Type", "application/json")]
        exchanges[1].requestFields = [("Authorization", "Bearer larderSecret0123456789abcdef0123456789abcdef")]
        exchanges[2].body = Array(0...255)
        exchanges[3].earlyHints = [[("Link", "</a.css>; rel=preload"), ("X-Empty", "")], [], [("Link", "</b.js>")]]
        return exchanges
    }

    @Test("A folder of readable files gives the same roots again, with all generations")
    func roundTrip() throws {
        let fixture = SnapshotFixture()
        try fixture.write(Self.exchanges())
        let roots = try fixture.write([Self.exchanges()[3], Self.exchanges()[3]], existing: .append)
        let folder = fixture.folder + "/text"
        try TextFolder.write(Snapshot(path: fixture.path), to: folder)
        #expect(try TextFolder.read(folder, to: fixture.folder + "/again") == roots)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/recordings")
        #expect(names.count == 52)
        #expect(names.allSatisfy { $0.hasPrefix("a.example_80_") && $0.hasSuffix(".txt") })
        let text = try String(contentsOfFile: folder + "/recordings/" + names.sorted()[0], encoding: .utf8)
        #expect(text.contains("\n> GET http://a.example:80/0?q="))
        #expect(text.contains("\n< 200 OK\n"))
    }

    @Test("Editing the folder gives a different snapshot, or is refused")
    func noticesEdits() throws {
        let fixture = SnapshotFixture()
        let roots = try fixture.write([Exchange("http://a:80/one", "body")])
        let folder = fixture.folder + "/text"
        try TextFolder.write(Snapshot(path: fixture.path), to: folder)
        let recording = folder + "/recordings/" + (try FileManager.default.contentsOfDirectory(atPath: folder + "/recordings")[0])
        let text = try String(contentsOfFile: recording, encoding: .utf8)
        try text.replacing("/one", with: "/two").write(toFile: recording, atomically: true, encoding: .utf8)
        let changed = try TextFolder.read(folder, to: fixture.folder + "/changed")
        #expect(changed.content != roots.content)
        let body = folder + "/bodies/" + (try FileManager.default.contentsOfDirectory(atPath: folder + "/bodies")[0])
        try "other".write(toFile: body, atomically: true, encoding: .utf8)
        #expect(throws: SnapshotError.self) { try TextFolder.read(folder, to: fixture.folder + "/bad") }
        #expect(!FileManager.default.fileExists(atPath: fixture.folder + "/bad.partial"))
    }

    @Test(
        "A hostile folder is refused (T46)",
        arguments: ["link", "pipe", "path", "line", "colon", "suffix", "secret", "manifest", "huge", "hints", "hint"])
    func refusesHostile(kind: String) throws {
        let fixture = SnapshotFixture()
        try fixture.write([Exchange("http://a:80/one", "body")])
        let folder = fixture.folder + "/text"
        try TextFolder.write(Snapshot(path: fixture.path), to: folder)
        let recording = folder + "/recordings/" + (try FileManager.default.contentsOfDirectory(atPath: folder + "/recordings")[0])
        let body = folder + "/bodies/" + (try FileManager.default.contentsOfDirectory(atPath: folder + "/bodies")[0])
        func edit(_ old: String, _ new: String) throws {
            let text = try String(contentsOfFile: recording, encoding: .utf8)
            #expect(text.contains(old))
            try text.replacing(old, with: new).write(toFile: recording, atomically: true, encoding: .utf8)
        }
        switch kind {
        case "link":
            try FileManager.default.removeItem(atPath: body)
            try FileManager.default.createSymbolicLink(atPath: body, withDestinationPath: "/etc/passwd")
        case "pipe":
            try FileManager.default.removeItem(atPath: body)
            #expect(mkfifo(body, 0o600) == 0)
        case "path": try edit(" kept .txt", " kept ../../../../etc/passwd")
        case "line": try edit("\n> GET", "\n> GET\n> GET")
        case "colon": try edit("< Content-Type: ", "< Content-Type ")
        case "hints": try edit("\n< 200", String(repeating: "\n<103", count: SnapshotLimits.earlyHints + 1) + "\n< 200")
        case "hint": try edit("\n< 200", "\n<103 Link: </a>\n< 200")
        case "suffix": try edit("kept .txt", "kept .sh")
        case "secret": try edit("http://a:80/one", "http://a:80/?x=\(Planted.gitHub)")
        case "manifest": try "{}".write(toFile: folder + "/manifest.json", atomically: true, encoding: .utf8)
        default: try Data(count: SnapshotLimits.manifestLength + 1).write(to: URL(filePath: folder + "/manifest.json"))
        }
        #expect(throws: SnapshotError.self) { try TextFolder.read(folder, to: fixture.folder + "/bad") }
    }
}
