import HTTPCaching
import TestSupport
import Testing

@testable import ResponseStore

@Suite("Invalidation (RFC 9111 §4.4)")
struct InvalidationTests {
    @Test(
        "What was asked for before is not stored after it, in memory or on the disk; what is asked for afterwards is",
        arguments: [true, false])
    func refusesWhatWasUnderWay(isInMemory: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open { if isInMemory { $0.path = ":memory:" } }
        let key = Sample.key("i")
        let moment = store.moment(of: key)
        _ = store.put(Sample.response("i", body: [1]))
        store.invalidate([key])
        #expect(store.isOvertaken(key, since: moment))
        guard case .overtaken = store.put(Sample.response("i", body: [2]), since: moment) else {
            Issue.record("stored")
            return
        }
        // Of a small one, and of one that is a row in the file.
        for length in [1000, 300_000] {
            let body = Sample.bytes(length, seed: 1)
            let plan = FillingPlan(response: Sample.response("i", body: []), length: UInt64(length), since: moment)
            let filling = try #require(store.beginFilling(plan))
            FillingTests.fill(filling, body, pieceLength: 100_000)
            filling.finish()
            guard case .notStored = store.outcome(of: filling) else {
                Issue.record("stored: \(length) octets")
                return
            }
        }
        #expect(store.find(key) == nil)
        _ = store.put(Sample.response("i", body: [3]), since: store.moment(of: key))
        #expect(store.find(key).flatMap { store.wholeBody($0) } == [3])
    }
}
