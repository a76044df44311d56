import Foundation
import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("Changes of a 304 in the store (RFC 9111 §4.3.4)")
struct FresheningTests {
    @Test("A new Vary is written to the file too (RFC 9111 §4.1, T24)", arguments: [100, 200_000])
    func movesToAnotherVariant(length: Int) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        let body = Sample.bytes(length, seed: 1)
        guard case .accepted(let old) = store.put(Sample.response("v", body: body)) else {
            Issue.record("busy")
            return
        }
        // It has the variant that the freshened one is about to get.
        store.putSurely(Sample.response("v", body: [9], nominated: "cookie: a", date: 1_700_000_001))
        store.putSurely(Sample.response("v", body: [8], nominated: "cookie: b", date: 1_700_000_002))
        let new = Sample.response("v", body: body, nominated: "cookie: a", date: 1_700_009_999)
        store.freshen(old, as: new)
        guard case .found(let variants) = store.memoryAnswer(new.key) else {
            Issue.record("not in memory")
            return
        }
        #expect(variants.responses.map(\.nominatedFields) == [Array("cookie: a".utf8), Array("cookie: b".utf8)])
        store.shutdown()

        store = try fixture.open()
        guard case .found(let stored) = store.lookUpNow(new.key) else {
            Issue.record("not in the file")
            return
        }
        #expect(stored.responses.map(\.nominatedFields) == [Array("cookie: a".utf8), Array("cookie: b".utf8)])
        #expect(stored.responses.map { store.wholeBody($0) == body } == [true, false])
        #expect(store.statistics.entries == 2)
    }

    @Test(
        "A response whose 304 forbids storing leaves the disk, and stays if memory has the body (T45)", arguments: [100, 200_000])
    func takesNoStoreOffTheDisk(bodyLimit: Int) throws {
        let fixture = StoreFixture()
        var store = try fixture.open { $0.memoryBodyLimit = bodyLimit }
        let body = Sample.bytes(100_000, seed: 1)
        let pending = try #require(store.beginSurely(PendingPlan(response: Sample.response("n", body: []), length: nil)))
        _ = pending.append(body.span)
        pending.finish()
        guard case .stored(let old) = store.outcome(of: pending) else {
            Issue.record("not stored")
            return
        }
        let secret = "do-not-write-this-down"
        let new = Sample.response("n", body: body, date: 1_700_009_999, flags: .noStore, field: secret)
            .placed(body: old.body, row: old.row)
        store.freshen(old, as: new)
        store.drain()
        let kept = store.find(new.key)
        #expect(kept?.facts == (old.isOnDisk ? nil : new.facts))
        #expect(store.statistics.entries == 0)
        if let kept {
            // The next 304 does not restore it on disk either.
            store.freshen(kept, as: kept)
            #expect(store.find(new.key) != nil)
        }
        store.shutdown()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder) {
            let data = try Data(contentsOf: URL(filePath: fixture.folder + "/" + name))
            #expect(data.range(of: Data(secret.utf8)) == nil, "\(name)")
        }
        store = try fixture.open()
        #expect(store.find(new.key) == nil)
    }
}
