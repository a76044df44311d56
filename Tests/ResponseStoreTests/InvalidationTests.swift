import Foundation
import HTTPCaching
import TestSupport
import Testing

@testable import ResponseStore

@Suite("Invalidation (RFC 9111 §4.4)")
struct InvalidationTests {
    @Test(
        "A response requested before an invalidation is not stored after it, in memory or on disk; one requested afterwards is",
        arguments: [true, false])
    func refusesWhatWasUnderWay(isInMemory: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open { if isInMemory { $0.path = ":memory:" } }
        let key = Sample.key("i")
        let moment = store.moment(of: key)
        _ = store.put(Sample.response("i", body: [1]))
        store.invalidate([key])
        #expect(store.isInvalidated(key, since: moment))
        guard case .invalidated = store.put(Sample.response("i", body: [2]), since: moment) else {
            Issue.record("stored")
            return
        }
        // For a small one, and for one that is a row in the file.
        for length in [1000, 300_000] {
            let body = Sample.bytes(length, seed: 1)
            let plan = PendingPlan(response: Sample.response("i", body: []), length: UInt64(length), since: moment)
            let pending = try #require(store.beginPending(plan))
            PendingResponseTests.fill(pending, body, pieceLength: 100_000)
            pending.finish()
            guard case .notStored = store.outcome(of: pending) else {
                Issue.record("stored: \(length) octets")
                return
            }
        }
        #expect(store.find(key) == nil)
        _ = store.put(Sample.response("i", body: [3]), since: store.moment(of: key))
        #expect(store.find(key).flatMap { store.wholeBody($0) } == [3])
    }

    @Test(
        "A body that is being written when its key is invalidated is not found afterwards, complete or partial",
        arguments: [false, true])
    func removesWhatIsBeingWritten(isPart: Bool) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        var generator = SeededGenerator(seed: 1)
        let body = Sample.bytes(1_200_000, seed: 1)
        for round in 0..<80 {
            let response = Sample.response("w\(round)", body: [], etag: true)
            var plan = PendingPlan(response: response, length: UInt64(body.count), since: store.moment(of: response.key))
            if isPart { plan.part = (start: 0, whole: UInt64(2 * body.count)) }
            let pending = try #require(store.beginSurely(plan))
            PendingResponseTests.fill(pending, body, pieceLength: 100_000)
            pending.finish()
            store.core.queue.nudge()
            // At any time during the writing and its commit.
            let end = ContinuousClock.now + .microseconds(Int.random(in: 0..<6_000, using: &generator))
            while ContinuousClock.now < end {}
            store.invalidate([response.key])
            #expect(store.find(response.key) == nil)
            _ = store.outcome(of: pending)
            #expect(store.find(response.key) == nil)
            #expect(store.partials(of: response.key).isEmpty)
        }
        store.drain()
        #expect(store.statistics.entries == 0)
        // The next process finds nothing either, and nothing is left in the file.
        store.shutdown()
        store = try fixture.open()
        try store.learnKeys()
        try eventually {
            store.drain()
            return try fixture.count(of: "chunk") == 0
        }
        #expect(!store.hasPartials)
        for table in ["response", "chunk", "extent"] { #expect(try fixture.count(of: table) == 0) }
    }

    @Test("An invalidation is written at once: a killed process leaves no response that was stored before")
    func isWrittenAtOnce() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.limits.gatherMilliseconds = 60_000 }
        store.putSurely(Sample.response("i", body: [1]))
        store.drain()
        #expect(try found("i", in: fixture))
        let growth = try FileGrowth(of: fixture.path + "-wal")
        store.invalidate([Sample.key("i")])
        while try found("i", in: fixture) {
            guard growth.wait() else {
                Issue.record("not written")
                return
            }
        }
        withExtendedLifetime(store) {}
    }

    /// Whether the next process would find it, if this one were killed now.
    private func found(_ name: String, in killed: StoreFixture) throws -> Bool {
        let next = StoreFixture()
        for file in ["larder.db", "larder.db-wal"] {
            try FileManager.default.copyItem(atPath: "\(killed.folder)/\(file)", toPath: "\(next.folder)/\(file)")
        }
        let store = try next.open()
        defer { store.shutdown() }
        return store.find(Sample.key(name)) != nil
    }
}
