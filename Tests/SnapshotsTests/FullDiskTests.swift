import Testing

@testable import Snapshots

@Suite("A disk that fills while it is recorded")
struct FullDiskTests {
    @Test(
        "What cannot be written says that the disk is full, and where, whoever asks and however often; what was committed stays")
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
            // SQLite says of a file that may not grow what it says of a disk without room.
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
