import CLarderSQLite
import Foundation
import HTTPCaching
import SQLiteDatabase
import TestSupport
import Testing
@testable import ResponseStore

@Suite("Totals of the rows")
struct TotalsTests {
    /// The totals and the sums of the rows, as one statement sees them.
    static func sums(_ path: String) throws -> (totals: [Int64], rows: [Int64]) {
        let connection = try Connection(path: path, access: .reading)
        let query = try connection.prepare(
            """
            SELECT entries, bytes, (SELECT count(*) FROM response WHERE state<>3), \
            (SELECT coalesce(sum(size), 0) FROM response WHERE state<>3) FROM totals
            """)
        _ = try query.step()
        defer { query.reset() }
        return ([query.integer(0), query.integer(1)], [query.integer(2), query.integer(3)])
    }

    @Test("The totals are the sum of the rows, whatever operations happen in whatever order", arguments: 0..<12 as Range<UInt64>)
    func areTheSum(seed: UInt64) throws {
        let fixture = StoreFixture()
        var random = SeededGenerator(seed: seed)
        func open() throws -> ResponseStore {
            try fixture.open {
                $0.memoryBodyLimit = seed % 2 == 0 ? 4 << 20 : 0
                if seed % 3 == 0 { $0.disk = .init(high: 600_000, low: 300_000) }
            }
        }
        var store = try open()
        for step in 0..<120 {
            try act(on: store, &random)
            if step % 40 == 39 {
                store.shutdown()
                let (totals, rows) = try Self.sums(fixture.path)
                #expect(totals == rows, "after \(step)")
                store = try open()
            } else if step % 8 == 0 {
                store.drain()
                let (totals, rows) = try Self.sums(fixture.path)
                #expect(totals == rows, "after \(step)")
            }
        }
        store.shutdown()
        #expect(store.statistics.damagedFiles == 0)
        #expect(fixture.seenNotices.isEmpty)
    }

    /// One of the events that can happen to a store.
    private func act(on store: ResponseStore, _ random: inout SeededGenerator) throws {
        let name = "\(Int.random(in: 0..<5, using: &random))"
        let length = [4000, 40_000, 300_000].randomElement(using: &random)!  // of three
        let field = String(repeating: "f", count: Int.random(in: 0..<3000, using: &random))
        let requested = 1_700_000_000 + Int64.random(in: 0..<1000, using: &random)
        func response(_ body: [UInt8] = [], tag: String, nominated: String = "") -> StoredResponse {
            Sample.response(
                name, body: body, nominated: nominated, etag: true, date: requested + 1, requested: requested, field: field,
                tag: tag)
        }
        let tag = Int.random(in: 0..<8, using: &random) == 0 ? "w" : "v"
        let nominated = ["", "", "cookie: a", "cookie: b"].randomElement(using: &random)!  // of four
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1:
            _ = store.put(response(Sample.bytes(length, seed: 1), tag: tag, nominated: nominated))
        case 2...7:
            let start = Int.random(in: 0..<length, using: &random) / 3
            let count = Bool.random(using: &random) ? length - start : Int.random(in: 1...length - start, using: &random)
            let part = (start: UInt64(start), whole: UInt64(length))
            let plan = PendingPlan(response: response(tag: tag, nominated: nominated), length: UInt64(count), part: part)
            try fill(plan, count, in: store, &random)
        case 8, 9:
            try fill(
                PendingPlan(response: response(tag: tag, nominated: nominated), length: UInt64(length)), length, in: store,
                &random)
        case 10, 11:
            let partial = store.partials(of: Sample.key(name)).first?.response
            guard let old = partial ?? store.find(Sample.key(name)) else { return }
            let new = response(tag: "v", nominated: nominated)
            store.freshen(
                old,
                as: StoredResponse(
                    key: new.key, nominatedFields: new.nominatedFields, facts: new.facts, head: new.head,
                    requestTime: new.requestTime, body: old.body, row: old.row))
        case 12:
            if Bool.random(using: &random) { return store.invalidate([Sample.key(name)]) }
            guard let found = store.find(Sample.key(name)) else { return }
            store.remove(found)
        default:
            let purge = PurgeTests.matching("http://example.test/\(Bool.random(using: &random) ? name : "*")")
            store.purge(purge, isSoft: Bool.random(using: &random), at: PurgeTests.now) { _ in }
        }
    }

    private func fill(
        _ plan: PendingPlan, _ count: Int, in store: ResponseStore, _ random: inout SeededGenerator
    ) throws {
        let pending = try #require(store.beginSurely(plan))
        let isBroken = Int.random(in: 0..<4, using: &random) == 0
        PendingResponseTests.fill(pending, Sample.bytes(isBroken ? count / 2 : count, seed: 1), pieceLength: 50_000)
        if isBroken { pending.abort() } else { pending.finish() }
        // Otherwise its end may be in one batch with the operations that follow.
        if Bool.random(using: &random) { _ = store.outcome(of: pending) }
    }

    @Test(
        "Impossible totals or sizes cost no response: the totals are computed again, which is reported",
        arguments: [
            "UPDATE response SET size=1<<30 WHERE id=1", "UPDATE response SET size=1<<62",
            "UPDATE response SET size=-5 WHERE id=1",
            "UPDATE response SET size=-(1<<62)-(1<<62)",
        ])
    func areCountedAnew(damage: String) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for number in 0..<10 { store.putSurely(Sample.response("a\(number)", body: [1])) }
        store.shutdown()
        StoreFileTests.edit(fixture.path, damage)
        store = try fixture.open()
        store.invalidate([Sample.key("a0")])
        store.drain()
        #expect(store.statistics.entries == 9)
        #expect(store.statistics.bytes >= 0)
        let (totals, rows) = try Self.sums(fixture.path)
        #expect(totals == rows)
        #expect(fixture.seenNotices == [.recounted(entries: rows[0], bytes: rows[1])])
        #expect(store.find(Sample.key("a1")).flatMap { store.wholeBody($0) } == [1])
        #expect(store.statistics.damagedFiles == 0)
    }

    @Test(
        "Missing or damaged totals are computed again when the file is opened, which is reported",
        arguments: ["DELETE FROM totals", "UPDATE totals SET bytes=bytes+1", "UPDATE totals SET checksum=0, entries=-1"])
    func areCountedAtOpening(damage: String) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for number in 0..<10 { store.putSurely(Sample.response("a\(number)", body: [1])) }
        store.shutdown()
        let (_, rows) = try Self.sums(fixture.path)
        StoreFileTests.edit(fixture.path, damage)
        store = try fixture.open()
        #expect(store.statistics.entries == 10)
        #expect(fixture.seenNotices == [.recounted(entries: rows[0], bytes: rows[1])])
        #expect(store.find(Sample.key("a1")).flatMap { store.wholeBody($0) } == [1])
        store.shutdown()
        #expect(try Self.sums(fixture.path).totals == rows)
        #expect(store.statistics.damagedFiles == 0)
    }

    @Test("A row with an invalid state is cleaned up, and no other response is lost")
    func losesAnUnknownState() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for name in ["kept", "lost"] { store.putSurely(Sample.response(name, body: [7])) }
        store.shutdown()
        StoreFileTests.edit(fixture.path, "UPDATE response SET state=9 WHERE id=(SELECT max(id) FROM response)")
        store = try fixture.openKnowing()
        #expect(store.find(Sample.key("kept")).flatMap { store.wholeBody($0) } == [7])
        #expect(store.find(Sample.key("lost")) == nil)
        store.putSurely(Sample.response("lost", body: [8]))
        store.shutdown()
        #expect(fixture.seenNotices.isEmpty && store.statistics.damagedFiles == 0)
        let (totals, rows) = try Self.sums(fixture.path)
        #expect(totals == rows && rows[0] == 2)
    }

    @Test("Totals that are too high do not keep the store empty")
    func comeDownAgain() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        store.putSurely(Sample.response("a", body: [1]))
        store.shutdown()
        var high = Totals()
        (high.entries, high.bytes) = (1, 1 << 40)
        StoreFileTests.edit(fixture.path, "UPDATE totals SET entries=1, bytes=\(high.bytes), checksum=\(high.checksum)")
        store = try fixture.open()
        store.putSurely(Sample.response("b", body: [2]))
        for _ in 0..<3 { store.drain() }
        store.putSurely(Sample.response("c", body: [3]))
        for _ in 0..<3 { store.drain() }
        #expect(store.find(Sample.key("c")) != nil)
        let (totals, rows) = try Self.sums(fixture.path)
        #expect(totals == rows)
    }

    @Test("A bad row, or a bad extent, costs only its own response")
    func losesOneAlone() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        store.putSurely(Sample.response("kept", body: [7]))
        let part = (start: UInt64(0), whole: UInt64(300_000))
        let plan = PendingPlan(response: Sample.response("p", body: [], etag: true), length: 100_000, part: part)
        let pending = try #require(store.beginSurely(plan))
        PendingResponseTests.fill(pending, Sample.bytes(100_000, seed: 1), pieceLength: 100_000)
        pending.finish()
        _ = store.outcome(of: pending)
        store.putSurely(Sample.response("large", body: Sample.bytes(100_000, seed: 2)))
        store.shutdown()
        StoreFileTests.edit(fixture.path, "UPDATE extent SET end=end-1; UPDATE response SET body_length=-1 WHERE body_id>0")
        store = try fixture.open()
        store.invalidate([Sample.key("p"), Sample.key("large")])
        for _ in 0..<3 { store.drain() }
        #expect(store.find(Sample.key("kept")).flatMap { store.wholeBody($0) } == [7])
        store.shutdown()
        #expect(store.statistics.damagedFiles == 0)
        let connection = try Connection(path: fixture.path, access: .reading)
        #expect(try connection.integer("SELECT count(*) FROM chunk") == 0)
        #expect(try connection.integer("SELECT count(*) FROM response") == 1)
    }
}
