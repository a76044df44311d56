import CSQLite
import Foundation
import HTTPCaching
import HTTPMessage
import Testing

@testable import ResponseStore

@Suite("What comes to the writer in one batch")
struct OneBatchTests {
    /// Has the writer take what `body` brings in one batch.
    private func inOneBatch(_ store: ResponseStore, _ fixture: StoreFixture, _ body: () throws -> Void) rethrows {
        var other: OpaquePointer?
        #expect(sqlite3_open(fixture.path, &other) == SQLITE_OK)
        sqlite3_busy_timeout(other, 2000)
        #expect(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        store.core.queue.add(.accessed([], at: 0), urgent: true)
        let deadline = Date.now + 20
        while store.core.queue.count.operations > 0, Date.now < deadline { usleep(100) }
        try body()
        #expect(sqlite3_exec(other, "COMMIT", nil, nil, nil) == SQLITE_OK)
        sqlite3_close(other)
        store.drain()
    }

    private func knowingStore(_ fixture: StoreFixture) throws -> ResponseStore {
        let store = try fixture.open {
            $0.limits.queuedMilliseconds = 60_000
            $0.limits.stalledMilliseconds = 60_000
        }
        let deadline = Date.now + 20
        while !store.statistics.knowsKeys, Date.now < deadline { store.drain() }
        return store
    }

    @Test(
        "A body that has come to its end, and a response put behind it under the same key: the later is stored, nothing is lost",
        arguments: [0, 1] as [UInt64?] + [nil])
    func keepsTheLater(partStart: UInt64?) throws {
        let fixture = StoreFixture()
        let store = try knowingStore(fixture)
        store.putSurely(Sample.response("other", body: [9]))
        store.drain()
        let body = Sample.bytes(5000, seed: 1)
        let start = Int(partStart ?? 0)
        let plan = FillingPlan(
            response: Sample.response("x", body: [], etag: true), length: UInt64(5000 - start),
            part: partStart.map { (start: $0, whole: 5000) })
        let filling = try #require(store.beginSurely(plan))
        FillingTests.fill(filling, Array(body[start...]), pieceLength: 5000)
        inOneBatch(store, fixture) {
            filling.finish()
            store.putSurely(Sample.response("x", body: body, etag: true, requested: 1_700_000_500))
        }
        _ = store.outcome(of: filling)
        #expect(!store.hasPartials)
        store.shutdown()
        #expect(fixture.seenNotices.isEmpty)
        #expect(store.statistics.damagedFiles == 0)
        #expect(store.statistics.entries == 2)
        let again = try fixture.open()
        #expect(again.find(Sample.key("other")).flatMap { again.wholeBody($0) } == [9])
        let found = try #require(again.find(Sample.key("x")))
        #expect(again.wholeBody(found) == body)
        #expect(found.requestTime == Timestamp(seconds: 1_700_000_500))
    }

    @Test("A row where another belongs goes, and nothing else does")
    func removesWhatCollides() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for name in ["x", "other"] { store.putSurely(Sample.response(name, body: [1])) }
        store.shutdown()
        store = try knowingStore(fixture)
        // Nobody who looks for live rows sees it any more.
        StoreFileTests.edit(fixture.path, "UPDATE response SET state=0 WHERE id=1")
        inOneBatch(store, fixture) {
            store.putSurely(Sample.response("before", body: [2]))
            store.putSurely(Sample.response("x", body: [3]))
            store.putSurely(Sample.response("behind", body: [4]))
        }
        store.shutdown()
        #expect(store.statistics.damagedFiles == 0)
        let again = try fixture.open()
        for (name, octet) in [("before", 2), ("x", 3), ("behind", 4), ("other", 1)] as [(String, UInt8)] {
            #expect(again.find(Sample.key(name)).flatMap { again.wholeBody($0) } == [octet], "\(name)")
        }
        let (totals, rows) = try TotalsTests.sums(fixture.path)
        #expect(totals == rows)
    }
}
