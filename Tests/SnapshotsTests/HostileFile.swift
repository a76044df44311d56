import CLarderSQLite
import Foundation
import TestSupport
@testable import Snapshots

/// Makes hostile files, each from a seed: databases with triggers, excessive sizes, or cycles.
enum HostileFile {
    /// The number of kinds; further seeds vary the same kinds.
    static let kinds = 20

    /// - Parameter path: a valid snapshot, which becomes a hostile one.
    static func make(at path: String, seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let name = "n\(chance.below(1000))"
        switch seed % UInt64(kinds) {
        case 0: edit(path, "CREATE TRIGGER \(name) AFTER INSERT ON signature BEGIN DELETE FROM recording; END")
        case 1: edit(path, "CREATE VIEW \(name) AS SELECT load_extension('\(name)')")
        case 2:
            edit(path, "ALTER TABLE recording RENAME TO \(name)")
            edit(path, "CREATE VIEW recording AS SELECT id, row FROM \(name)")
        case 3: edit(path, "CREATE TABLE \(name)(a)")
        case 4: edit(path, "CREATE INDEX \(name) ON recording(length(row))")
        case 5:
            edit(path, "DROP TABLE chunk; CREATE TABLE chunk(id INTEGER PRIMARY KEY, octets BLOB NOT NULL CHECK(length(octets)))")
        case 6:
            schema(
                path,
                "UPDATE sqlite_master SET sql = replace(sql, 'text BLOB', 'text BLOB DEFAULT (randomblob(9))') WHERE name = 'manifest'"
            )
        case 7:
            schema(
                path,
                "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'chunk') WHERE name = 'recording'"
            )
        case 8: schema(path, "UPDATE sqlite_master SET rootpage = \(1 + chance.below(1 << 20)) WHERE name = 'recording'")
        case 9: schema(path, "UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE page USING fts5(octets)' WHERE name = 'page'")
        case 10: edit(path, "UPDATE manifest SET text = replace(text, '\"recordings\":', '\"recordings\":9')")
        case 11: edit(path, "UPDATE manifest SET text = replace(text, '\"recordings\":', '\"recordings\":4194304')")
        case 12: edit(path, "UPDATE manifest SET text = zeroblob(\(16 << 20))")
        case 13: edit(path, "UPDATE recording SET row = zeroblob(\(20 << 20))")
        case 14: edit(path, "UPDATE body SET length = \(Int64.max - Int64(chance.below(9))), pieces = zeroblob(320)")
        case 15: edit(path, "UPDATE recording SET row = 'text'; UPDATE body SET length = 'text'; UPDATE seal SET root = 7")
        case 16: edit(path, "PRAGMA journal_mode=WAL")
        case 17: try header(path) { $0[60 + 3] = UInt8(2 + chance.below(200)) }
        case 18: edit(path, "UPDATE manifest SET text = '\(String(repeating: "[", count: 1000 + chance.below(100_000)))'")
        default:
            // An inner page that is its own child.
            try header(path) { octets in
                for page in stride(from: 8192, to: octets.count, by: 8192) where octets[page] == 5 || octets[page] == 13 {
                    octets[page] = 5
                    for (place, octet) in [UInt8(0), 0, UInt8(page / 8192 + 1 >> 8), UInt8(truncatingIfNeeded: page / 8192 + 1)]
                        .enumerated()
                    {
                        octets[page + 8 + place] = octet
                    }
                }
            }
        }
    }

    private static func edit(_ path: String, _ sql: String) { DamageTests.edit(path, sql) }

    private static func schema(_ path: String, _ sql: String) {
        var connection: OpaquePointer?
        sqlite3_open(path, &connection)
        sqlite3_exec(connection, "PRAGMA writable_schema=ON; \(sql)", nil, nil, nil)
        sqlite3_close(connection)
    }

    private static func header(_ path: String, _ change: (inout [UInt8]) -> Void) throws {
        var octets = [UInt8](try Data(contentsOf: URL(filePath: path)))
        change(&octets)
        try Data(octets).write(to: URL(filePath: path))
    }
}
