import HTTPCaching
import HTTPMessage
import Testing

@testable import ResponseStore

@Suite("Operations in one batch of the writer")
struct OneBatchTests {
    @Test(
        "Of a completed body and a response stored after it under the same key, the later is kept, and nothing else is lost",
        arguments: [0, 1] as [UInt64?] + [nil])
    func keepsTheLater(partStart: UInt64?) throws {
        let fixture = StoreFixture()
        let store = try fixture.openKnowing()
        store.putSurely(Sample.response("other", body: [9]))
        store.drain()
        let body = Sample.bytes(5000, seed: 1)
        let start = Int(partStart ?? 0)
        let plan = PendingPlan(
            response: Sample.response("x", body: [], etag: true), length: UInt64(5000 - start),
            part: partStart.map { (start: $0, whole: 5000) })
        let pending = try #require(store.beginSurely(plan))
        PendingResponseTests.fill(pending, Array(body[start...]), pieceLength: 5000)
        store.inOneBatch {
            pending.finish()
            store.putSurely(Sample.response("x", body: body, etag: true, requested: 1_700_000_500))
        }
        _ = store.outcome(of: pending)
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

    @Test("A row that occupies the place of another is deleted, and nothing else is")
    func removesWhatCollides() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for name in ["x", "other"] { store.putSurely(Sample.response(name, body: [1])) }
        store.shutdown()
        store = try fixture.openKnowing()
        // Queries for live rows no longer find it.
        StoreFileTests.edit(fixture.path, "UPDATE response SET state=0 WHERE id=1")
        store.inOneBatch {
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
