import Foundation
import TestSupport
import Testing
@testable import Snapshots

@Suite("Hostile snapshots (T46)")
struct HostileFileTests {
    /// `make test-long` sets it to 200.
    static let count =
        ProcessInfo.processInfo.environment["LARDER_HOSTILE_FILES"].flatMap(UInt64.init) ?? UInt64(HostileFile.kinds)

    @Test("A hostile file is refused quickly", arguments: 0..<Self.count)
    func refuses(seed: UInt64) throws {
        let fixture = SnapshotFixture()
        try fixture.write(DamageTests.exchanges())
        try HostileFile.make(at: fixture.path, seed: seed)
        let taken = cpuTime {
            #expect(throws: SnapshotError.self) {
                let snapshot = try Snapshot(path: fixture.path)
                _ = try snapshot.verify()
            }
        }
        #expect(taken < .seconds(10))
    }

    @Test("Anything else is refused: a folder, a pipe, a missing file, a text, another application's database")
    func refusesOthers() throws {
        let fixture = SnapshotFixture()
        #expect(throws: SnapshotError.self) { try Snapshot(path: fixture.folder) }
        #expect(throws: SnapshotError.self) { try Snapshot(path: fixture.folder + "/missing") }
        #expect(throws: SnapshotError.self) { try Snapshot(path: "/dev/zero") }
        let pipe = fixture.folder + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: SnapshotError.self) { try Snapshot(path: pipe) }
        for text in ["", "text", String(repeating: "x", count: 9000)] {
            try Data(text.utf8).write(to: URL(filePath: fixture.path))
            #expect(throws: SnapshotError.self) { try Snapshot(path: fixture.path) }
        }
        let other = fixture.folder + "/other"
        DamageTests.edit(other, "CREATE TABLE manifest(id INTEGER PRIMARY KEY, text BLOB NOT NULL)")
        #expect(throws: SnapshotError.self) { try Snapshot(path: other) }
    }
}
