import Foundation
import HTTPMessage
import Testing
@testable import Snapshots

@Suite("Snapshots beside each other")
struct ComparingTests {
    static func write(_ exchanges: [Exchange]) throws -> SnapshotFixture {
        let fixture = SnapshotFixture()
        try fixture.write(exchanges)
        return fixture
    }

    @Test("A difference is told with what of an answer is another")
    func tellsDifferences() throws {
        var changed = Exchange("http://a:80/2", "new")
        changed.status = 404
        changed.fields.append(("X-New", "1"))
        let old = try Self.write([
            Exchange("http://a:80/1", "same"), Exchange("http://a:80/2", "old"), Exchange("http://a:80/3", "gone"),
        ])
        let new = try Self.write([Exchange("http://a:80/1", "same"), changed, Exchange("http://a:80/4", "come")])
        let (one, other) = (try Snapshot(path: old.path), try Snapshot(path: new.path))
        #expect(
            try SnapshotDiff(from: one, to: other).entries.map(\.text) == [
                "~ GET http://a:80/2  (status, fields: x-new, body)", "- GET http://a:80/3", "+ GET http://a:80/4",
            ])
        #expect(try SnapshotDiff(from: one, to: one).entries.isEmpty)
    }

    @Test("Another 103 is a difference of fields, and merging and collecting keep it")
    func comparesEarlyHints() throws {
        var hinted = Exchange("http://a:80/1", "one")
        hinted.earlyHints = [[("Link", "</a.css>; rel=preload")], [("Link", "</b.js>")]]
        let (old, new) = (try Self.write([Exchange("http://a:80/1", "one")]), try Self.write([hinted]))
        let (one, other) = (try Snapshot(path: old.path), try Snapshot(path: new.path))
        #expect(one.roots.content != other.roots.content)
        #expect(try SnapshotDiff(from: one, to: other).entries.map(\.text) == ["~ GET http://a:80/1  (fields: link)"])
        let merged = SnapshotFixture()
        _ = try SnapshotMaintenance.merge([old.path, new.path], to: merged.path, tool: "test", now: Exchange.began)
        #expect(try SnapshotMaintenance.collect(merged.path) == 1)
        let snapshot = try Snapshot(path: merged.path)
        _ = try snapshot.verify()
        let hints = try #require(snapshot.recording(at: 0).response?.earlyHints)
        #expect(hints.map(\.bytes.text) == ["Link</a.css>; rel=preload", "Link</b.js>"])
    }

    @Test("Merged snapshots answer from the last that knows, and keep the older answers")
    func merges() throws {
        let one = try Self.write([Exchange("http://a:80/1", "one"), Exchange("http://a:80/2", "two")])
        let other = try Self.write([Exchange("http://a:80/2", "newer"), Exchange("http://a:80/3", "three")])
        let merged = SnapshotFixture()
        _ = try SnapshotMaintenance.merge([one.path, other.path], to: merged.path, tool: "test", now: Exchange.began)
        let snapshot = try Snapshot(path: merged.path)
        _ = try snapshot.verify()
        let layer = try SnapshotLayer(snapshot, key: nil)
        #expect(try (1...3).map { try MatchingTests.answer(layer, Exchange("http://a:80/\($0)")) } == ["one", "newer", "three"])
        let first = try SnapshotLayer(snapshot, key: nil, asOf: .generation(1))
        #expect(try MatchingTests.answer(first, Exchange("http://a:80/2")) == "two")
    }

    @Test("Collecting takes out what has been replaced, and means the same")
    func collects() throws {
        let fixture = try Self.write([Exchange("http://a:80/1", "old"), Exchange("http://a:80/2", "two")])
        let roots = try fixture.write([Exchange("http://a:80/1", "new")], existing: .append)
        #expect(try SnapshotMaintenance.collect(fixture.path) == 1)
        let snapshot = try Snapshot(path: fixture.path)
        #expect(snapshot.roots.content == roots.content)
        #expect(try snapshot.verify() == SnapshotVerification(recordings: 2, bodies: 2, bodyOctets: 6))
    }

    @Test("A lock tells each answer's digest, and what is new, another or missing in a run")
    func locks() throws {
        let old = try Self.write([
            Exchange("http://a:80/2", "two"), Exchange("http://a:80/1", "one"), Exchange("http://a:80/1", "again"),
        ])
        let lock = try LockFile(of: Snapshot(path: old.path))
        #expect(
            lock.text.split(separator: "\n").map { String($0.prefix(40)) } == [
                "larder-lock 1", "GET http://a:80/1 200 sha256:7692c3ad354", "GET http://a:80/1 200 sha256:b4c9e14061c",
                "GET http://a:80/2 200 sha256:3fc4ccfe745",
            ])
        #expect(try LockFile(parsing: lock.text) == lock)
        let new = try Self.write([
            Exchange("http://a:80/1", "one"), Exchange("http://a:80/2", "changed"), Exchange("http://a:80/3", "new"),
        ])
        let violations = try lock.violations(by: LockFile(of: Snapshot(path: new.path)))
        #expect(violations.map(\.text.first) == ["-", "+", "-"])
        #expect(violations.map { "\($0)".prefix(7) } == ["changed", "added(S", "missing"])
        #expect(lock.violations(by: lock).isEmpty)
        #expect(try lock.violations(by: LockFile(of: Snapshot(path: new.path)), isWhole: false).count == 2)
    }

    @Test(
        "A lock's line that is damaged is told with its place",
        arguments: [
            ("", 1, 1, "no lock"), ("larder-lock 2\n", 1, 1, "no lock"), ("larder-lock 1\nGET x\n", 2, 6, "a status code"),
            ("larder-lock 1\n\nGET x 2000 - 0\n", 3, 7, "a status code"),
            ("larder-lock 1\nGET x 200 sha256:12 0\n", 2, 11, "`sha256:`"),
            ("larder-lock 1\nGET x 200 - -1\n", 2, 13, "a length"), ("larder-lock 1\nGET x 200 - 0 1\n", 2, 15, "`#`"),
            ("larder-lock 1\nGET x 200 - 0 #1 2\n", 2, 18, "nothing more"),
        ] as [(String, Int, Int, String)])
    func tellsThePlace(text: String, line: Int, column: Int, words: String) {
        do throws(LockFile.Fault) {
            _ = try LockFile(parsing: text)
            Issue.record("it was read")
        } catch {
            #expect(error.line == line && error.column == column && error.reason.hasPrefix(words), "\(error)")
        }
    }
}
