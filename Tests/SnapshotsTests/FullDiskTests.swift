import Testing

@testable import Snapshots

@Suite("A disk that fills up while recording")
struct FullDiskTests {
    @Test(
        "After a full disk, every write fails with that cause and path; committed recordings stay")
    func saysWhy() throws {
        let fixture = SnapshotFixture()
        var talk: [String] = []
        func note(_ work: () throws -> Void) throws {
            let error = #expect(throws: SnapshotError.self) { try work() }
            talk.append("\(try #require(error))")
        }
        do {
            let writer = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
            try Exchange("http://a.example:80/kept", "kept").append(to: writer)
            try writer.commit()
            // SQLite reports a file at its page limit like a full disk.
            let pages = try #require(try writer.tables.connection.integer("PRAGMA page_count"))
            try writer.tables.connection.execute("PRAGMA max_page_count = \(pages + 20)")
            var long = Exchange("http://a.example:80/long")
            long.body = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            try note { try long.append(to: writer) }
            try note { try Exchange("http://a.example:80/short", "short").append(to: writer) }
            try note { try writer.commit() }
            try note { _ = try writer.finish() }
        }
        #expect(talk == Array(repeating: "the disk is full: \(fixture.path).partial", count: 4))
        let resumed = try SnapshotWriter(resuming: fixture.path)
        #expect(resumed.count == 1)
        _ = try resumed.finish()
        #expect(try Snapshot(path: fixture.path).recording(at: 0).request.uri.text == "http://a.example:80/kept")
    }
}
