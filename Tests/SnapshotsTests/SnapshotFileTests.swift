import Foundation
import HTTPMessage
import ServerTrust
import TestSupport
import Testing
@testable import Snapshots

@Suite("Snapshot files")
struct SnapshotFileTests {
    static func bodies(_ snapshot: Snapshot) throws -> [String: [UInt8]] {
        var bodies: [String: [UInt8]] = [:]
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            let body = try recording.response?.body.map { try snapshot.octets(of: $0, limit: 1 << 30) }
            bodies[recording.request.uri.text + "#\(recording.generation).\(recording.position)"] = body ?? []
        }
        return bodies
    }

    @Test("Recordings can be read back from one file that only its owner can read")
    func roundTrip() throws {
        let fixture = SnapshotFixture()
        let roots = try fixture.write([
            Exchange("http://a:80/1", "one"), Exchange("http://a:80/2"), Exchange("http://a:80/1", "two"),
        ])
        let snapshot = try Snapshot(path: fixture.path)
        #expect(snapshot.roots == roots)
        #expect(
            try Self.bodies(snapshot).mapValues(\.text) == [
                "http://a:80/1#1.0": "one", "http://a:80/1#1.1": "two", "http://a:80/2#1.0": "",
            ])
        #expect(try snapshot.verify() == SnapshotVerification(recordings: 3, bodies: 2, bodyOctets: 6))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["test.larder"])
        let mode = try FileManager.default.attributesOfItem(atPath: fixture.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test(
        "Bodies of any length are read back in pieces, and equal ones are stored once", arguments: [1, 262_144, 262_145, 3 << 20])
    func keepsBodies(length: Int) throws {
        let fixture = SnapshotFixture()
        var chance = SeededGenerator(seed: UInt64(length))
        var one = Exchange("http://a:80/1")
        one.body = (0..<length).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
        var two = one
        two.uri = "http://a:80/2"
        try fixture.write([one, two])
        let snapshot = try Snapshot(path: fixture.path)
        #expect(try Self.bodies(snapshot)["http://a:80/2#1.0"] == one.body)
        let result = try snapshot.verify()
        #expect(result.bodies == 1)
        #expect(result.bodyOctets == UInt64(length))
        #expect(try fixture.octets().count < length + 200_000)
    }

    @Test("A body that is incomplete when recording ends is deleted")
    func forgetsUnfinished() throws {
        let fixture = SnapshotFixture()
        let writer = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
        let body = writer.beginBody()
        try body.append([UInt8](repeating: 65, count: 1 << 20).span)
        _ = try writer.finish()
        #expect(try Snapshot(path: fixture.path).verify() == SnapshotVerification())
        #expect(try !fixture.octets().containsRun(of: 65, length: 64))
        _ = body
    }

    @Test("An existing file is refused, appended to as a new generation, or replaced")
    func heedsExisting() throws {
        let fixture = SnapshotFixture()
        let first = try fixture.write([Exchange("http://a:80/1", "one")])
        #expect(throws: SnapshotError.exists(path: fixture.path)) { try fixture.write([]) }
        let second = try fixture.write([Exchange("http://a:80/1", "new")], existing: .append)
        let snapshot = try Snapshot(path: fixture.path)
        #expect(snapshot.manifest.generations.map(\.number) == [1, 2])
        #expect(
            try Self.bodies(snapshot).mapValues(\.text) == ["http://a:80/1#1.0": "one", "http://a:80/1#2.0": "new"])
        #expect(second.content != first.content)
        #expect(try fixture.write([Exchange("http://a:80/1", "one")], existing: .overwrite) == first)
    }

    @Test("Committed data survives the end of the writer, and an unfinished recording is not overwritten")
    func resumes() throws {
        let fixture = SnapshotFixture()
        var writer: SnapshotWriter? = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
        try Exchange("http://a:80/1", "one").append(to: try #require(writer))
        try writer?.commit()
        try Exchange("http://a:80/2", "lost").append(to: try #require(writer))
        writer = nil
        #expect(throws: SnapshotError.unfinished(path: fixture.path + ".partial")) { try fixture.write([]) }
        let resumed = try SnapshotWriter(resuming: fixture.path)
        #expect(resumed.count == 1)
        try Exchange("http://a:80/3", "three").append(to: resumed)
        let roots = try resumed.finish()
        let other = SnapshotFixture()
        #expect(try other.write([Exchange("http://a:80/1", "one"), Exchange("http://a:80/3", "three")]) == roots)
        _ = try Snapshot(path: fixture.path).verify()
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["test.larder"])
    }

    @Test("A user's file with a name that a recording needs stays, and the error names it", arguments: [false, true])
    func keepsUsersFiles(isResumed: Bool) throws {
        for ending in isResumed ? ["-wal", "-journal", "-shm", ".compact"] : ["", "-wal", "-journal", "-shm", ".compact"] {
            let fixture = SnapshotFixture()
            if isResumed {
                // Releasing the writer leaves the unfinished recording.
                _ = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
                try? FileManager.default.removeItem(atPath: fixture.path + ".partial\(ending)")
            }
            let path = fixture.path + ".partial" + ending
            let text = Data("precious, and longer than a mark\n".utf8)
            try text.write(to: URL(filePath: path))
            let names = try Set(FileManager.default.contentsOfDirectory(atPath: fixture.folder))
            #expect(throws: SnapshotError.inTheWay(path: path)) {
                if isResumed { _ = try SnapshotWriter(resuming: fixture.path) } else { try fixture.write([]) }
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == text)
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: fixture.folder)) == names)
        }
    }

    @Test("A new recording begins beside what is left of an unfinished one whose main file was deleted")
    func beginsBesideLeftOvers() throws {
        let fixture = SnapshotFixture()
        let writer = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
        try Exchange("http://a:80/1", "one").append(to: writer)
        try writer.commit()
        // The state after the process was killed and `FILE.partial` deleted.
        let wal = fixture.path + ".partial-wal"
        let kept = try Data(contentsOf: URL(filePath: wal))
        try #require(!kept.isEmpty)
        writer.abandon()
        try kept.write(to: URL(filePath: wal))
        try fixture.write([Exchange("http://a:80/2", "two")])
        #expect(try Self.bodies(Snapshot(path: fixture.path)).mapValues(\.text) == ["http://a:80/2#1.0": "two"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["test.larder"])
    }

    @Test("Only a recording or an empty file is overwritten")
    func overwritesRecordings() throws {
        let fixture = SnapshotFixture()
        let url = URL(filePath: fixture.path)
        for content in ["notes\n", String(repeating: "SQLite format 3\0", count: 100)] {
            try Data(content.utf8).write(to: url)
            #expect(throws: SnapshotError.notReplaced(path: fixture.path)) { try fixture.write([], existing: .overwrite) }
            #expect(try Data(contentsOf: url) == Data(content.utf8))
        }
        try Data().write(to: url)
        try fixture.write([Exchange("http://a:80/1", "one")], existing: .overwrite)
        // A damaged recording is still a recording.
        try Data(contentsOf: url).prefix(9000).write(to: url)
        try fixture.write([Exchange("http://a:80/1", "one")], existing: .overwrite)
        _ = try Snapshot(path: fixture.path).verify()
    }

    @Test("A file that replaces a recording keeps its mode, even if it is read-only", arguments: [0o444, 0o640])
    func keepsTheMode(mode: Int) throws {
        let fixture = SnapshotFixture()
        try fixture.write([Exchange("http://a:80/1", "one")])
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.path)
        func found() throws -> Int? {
            try (FileManager.default.attributesOfItem(atPath: fixture.path)[.posixPermissions] as? NSNumber)?.intValue
        }
        let terms = try MatchTerms(text: Array(#"{"canonicalisers":[{"uri":"*","query":{"ignore":["_"]}}]}"#.utf8))
        _ = try SnapshotMaintenance.rematch(Snapshot(path: fixture.path), by: terms, to: fixture.path, key: nil)
        #expect(try found() == mode)
        try Snapshot.sign(path: fixture.path, by: SigningTests.key())
        #expect(try found() == mode)
        try fixture.write([Exchange("http://a:80/1", "two")], existing: .append)
        #expect(try found() == mode && Snapshot(path: fixture.path).count == 2)
    }

    @Test("A recording in progress cannot be resumed by another writer, and is not disturbed")
    func isOnesOwn() throws {
        let fixture = SnapshotFixture()
        let writer = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
        try Exchange("http://a:80/1", "one").append(to: writer)
        #expect(throws: SnapshotError.self) { try SnapshotWriter(resuming: fixture.path) }
        try writer.commit()
        #expect(throws: SnapshotError.self) { try SnapshotWriter(resuming: fixture.path) }
        try Exchange("http://a:80/2", "two").append(to: writer)
        _ = try writer.finish()
        let snapshot = try Snapshot(path: fixture.path)
        #expect(try snapshot.verify().recordings == 2)
    }

    @Test("Recordings in another order, in a file with another history, give the same roots")
    func rootsKnowNoOrder() throws {
        let (one, other) = (SnapshotFixture(), SnapshotFixture())
        let exchanges = (0..<600).map { Exchange("http://a:80/\($0)", "body \($0 % 7)") }
        let roots = try one.write(exchanges)
        try other.write([Exchange("http://b:80/", "gone")])
        #expect(try other.write(exchanges.reversed(), existing: .overwrite) == roots)
    }

    @Test("Time and volatile fields change `full` and not `content`; anything else changes both")
    func contentIsWhatItMeans() throws {
        func roots(_ change: (inout Exchange) -> Void) throws -> SnapshotRoots {
            var exchange = Exchange("http://a:80/", "body")
            exchange.fields += [
                ("Date", "Mon, 23 Nov 2026 06:23:20 GMT"), ("Set-Cookie", "id=one; Path=/"), ("X-A", "1"), ("X-B", "2"),
            ]
            change(&exchange)
            return try SnapshotFixture().write([exchange])
        }
        let original = try roots { _ in }
        #expect(try roots { _ in } == original)
        for change in [
            { $0.started = Timestamp(seconds: 1) }, { $0.fields[1].1 = "Tue, 24 Nov 2026 06:23:20 GMT" },
            { $0.fields.swapAt(3, 4) }, { $0.fields[3].0 = "x-a" }, { $0.fields[2].1 = "id=two; Path=/" },
        ] as [(inout Exchange) -> Void] {
            let changed = try roots(change)
            #expect(changed.full != original.full)
            #expect(changed.content == original.content)
        }
        for change in [
            { $0.body = [1] }, { $0.status = 404 }, { $0.fields[3].1 = "2" }, { $0.uri = "http://a:80/2" }, { $0.method = "PUT" },
            { $0.fields.remove(at: 2) }, { $0.requestBody = [1] },
        ] as [(inout Exchange) -> Void] {
            let changed = try roots(change)
            #expect(changed.full != original.full)
            #expect(changed.content != original.content)
        }
    }

    @Test("A snapshot in a read-only folder can be opened")
    func opensReadOnly() throws {
        let fixture = SnapshotFixture()
        try fixture.write([Exchange("http://a:80/1", "one")])
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: fixture.folder)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: fixture.folder) }
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: fixture.path)
        #expect(try Self.bodies(Snapshot(path: fixture.path)).count == 1)
    }
}

extension Array<UInt8> {
    func containsRun(of octet: UInt8, length: Int) -> Bool {
        var run = 0
        for element in self {
            run = element == octet ? run + 1 : 0
            if run == length { return true }
        }
        return false
    }
}
