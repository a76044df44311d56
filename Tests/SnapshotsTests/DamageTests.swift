import CLarderSQLite
import Foundation
import TestSupport
import Testing
@testable import Snapshots

/// T46: modifying a file must not change any response.
@Suite("Damaged snapshots (T46)")
struct DamageTests {
    /// Runs SQL on a file with a plain connection, which has none of the restrictions of a snapshot's own.
    static func edit(_ path: String, _ sql: String) {
        var connection: OpaquePointer?
        #expect(sqlite3_open(path, &connection) == SQLITE_OK)
        #expect(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(connection)))")
        sqlite3_close(connection)
    }

    static func exchanges() -> [Exchange] {
        var exchanges = (0..<40).map { Exchange("http://a.example:80/\($0 % 30)?q=\($0)", "the body of \($0 % 9)") }
        for place in 0..<10 { exchanges.append(Exchange("http://a.example:80/poll", "state \(place)")) }
        exchanges[7].body = [UInt8](repeating: 9, count: 600_000)
        exchanges[8].method = "POST"
        exchanges[8].requestBody = Array("{\"a\":1}".utf8)
        return exchanges
    }

    /// Everything that can be read from a snapshot, as one value.
    struct Answers: Equatable {
        let roots: SnapshotRoots
        let signers: [VerifyingKey]
        let rows: [[UInt8]]
        let bodies: [[UInt8]]
        let places: [Range<Int>]

        init(_ path: String) throws {
            let snapshot = try Snapshot(path: path)
            roots = snapshot.roots
            signers = snapshot.signers
            var rows: [[UInt8]] = []
            var bodies: [[UInt8]] = []
            for place in 0..<snapshot.count {
                rows.append(try snapshot.row(at: place))
                let recording = try snapshot.recording(at: place)
                for body in [recording.request.body, recording.response?.body] {
                    if let body { bodies.append(try snapshot.octets(of: body)) }
                }
            }
            self.rows = rows
            self.bodies = bodies
            let matcher = try RequestMatcher(snapshot.manifest.terms)
            places = DamageTests.exchanges().map { exchange in
                snapshot.keys.places(of: CanonicalRequest(exchange.request, matcher).primary)
            }
        }
    }

    /// Fifty flips for each seed. `make test-long` sets it to 10,000 flips.
    static let seeds = (ProcessInfo.processInfo.environment["LARDER_FLIPS"].flatMap(UInt64.init) ?? 500) / 50

    @Test("After each of 500 single-bit flips, the file is refused or reads the same", arguments: 0..<Self.seeds)
    func survivesFlips(seed: UInt64) throws {
        let fixture = SnapshotFixture()
        try fixture.write(Self.exchanges(), signing: SigningTests.key())
        let good = try Answers(fixture.path)
        let octets = try fixture.octets()
        var chance = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<50 {
            // Half of them in the first pages, which are mostly structure.
            let place = chance.chance(50) ? chance.below(octets.count) : chance.below(min(octets.count, 40 * 8192))
            var changed = octets
            changed[place] ^= 1 << UInt8(chance.below(8))
            try Data(changed).write(to: URL(filePath: fixture.path))
            do {
                #expect(try Answers(fixture.path) == good, "octet \(place)")
            } catch is SnapshotError {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test("A file is refused if it is truncated anywhere or has extra bytes at its end", arguments: 0..<4 as Range<UInt64>)
    func refusesTruncated(seed: UInt64) throws {
        let fixture = SnapshotFixture()
        try fixture.write(Self.exchanges())
        let octets = try fixture.octets()
        var chance = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            try Data(octets[..<chance.below(octets.count)]).write(to: URL(filePath: fixture.path))
            #expect(throws: SnapshotError.self) { try Snapshot(path: fixture.path) }
        }
        try Data(octets + [UInt8](repeating: 0, count: 8192)).write(to: URL(filePath: fixture.path))
        #expect(throws: SnapshotError.self) { try Snapshot(path: fixture.path) }
    }

    @Test(
        "Swapped, deleted and inserted rows are detected",
        arguments: [
            "UPDATE recording SET id = CASE id WHEN 3 THEN -4 WHEN 4 THEN -3 END WHERE id IN (3, 4); UPDATE recording SET id = -id WHERE id < 0",
            "DELETE FROM recording WHERE id = 5", "UPDATE recording SET row = row || x'0F00000001FF' WHERE id = 2",
            "UPDATE recording SET row = (SELECT row FROM recording WHERE id = 1) WHERE id = 2",
            "UPDATE body SET digest = (SELECT digest FROM body WHERE id = 1) || x'00' WHERE id = 2",
            "UPDATE chunk SET octets = octets || x'00'", "UPDATE chunk SET octets = zeroblob(length(octets))",
            "UPDATE manifest SET text = replace(text, '\"recordings\":50', '\"recordings\":49')",
            "UPDATE manifest SET text = text || ' '", "UPDATE page SET octets = zeroblob(length(octets)) WHERE id = 4294967296",
            "UPDATE page SET octets = zeroblob(length(octets)) WHERE id = 8589934592", "DELETE FROM page", "DELETE FROM seal",
            "UPDATE seal SET root = zeroblob(32)", "DELETE FROM manifest",
        ])
    func findsSwappedRows(sql: String) throws {
        let fixture = SnapshotFixture()
        try fixture.write(Self.exchanges())
        Self.edit(fixture.path, sql)
        #expect(throws: SnapshotError.self) { try Answers(fixture.path) }
        #expect(throws: SnapshotError.self) { try Snapshot(path: fixture.path).verify() }
    }
}
