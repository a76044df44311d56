import Foundation
import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("The most recent response is kept (RFC 9111 §4)")
struct RecencyTests {
    /// Requested before `newer`, and received after it.
    static let older = Sample.response("v", body: [1], date: 1_700_000_000)
    static let newer = Sample.response("v", body: [2], date: 1_700_000_060)

    // Without space in memory, only the file knows the newer one.
    @Test("A response that arrives after a newer one does not replace it", arguments: [0, 1 << 20])
    func keepsTheNewer(memory: Int) throws {
        let fixture = StoreFixture()
        var store = try fixture.open { $0.memory = .init(high: memory, low: memory) }
        store.putSurely(Self.newer)
        store.drain()
        store.putSurely(Self.older)
        store.drain()
        #expect(store.find(Self.newer.key).flatMap { store.wholeBody($0) } == [2])
        #expect(store.statistics.entries == 1)
        #expect(store.statistics.stored == 1)
        store.shutdown()
        store = try fixture.open()
        #expect(store.find(Self.newer.key).flatMap { store.wholeBody($0) } == [2])
        #expect(store.statistics.entries == 1)
    }

    @Test("Memory does not serve the older response when the file turns out to have the newer one")
    func memoryFollowsTheFile() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        store.putSurely(Self.newer)
        store.shutdown()
        store = try fixture.open()
        store.putSurely(Self.older)
        store.drain()
        #expect(store.find(Self.newer.key).flatMap { store.wholeBody($0) } == [2])
        #expect(store.statistics.entries == 1)
    }

    // The first is one row with its chunks; the second has been written in part before it ends.
    @Test("A long body that ends after a newer response arrived is delivered, but not stored", arguments: [300_000, 5_000_000])
    func longBodies(length: Int) throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let body = Sample.bytes(length, seed: 1)
        let pending = try #require(store.beginSurely(PendingPlan(response: Self.older, length: nil)))
        let reader = try #require(pending.attach())
        let result = Answer<[UInt8]?>()
        Thread.detachNewThread { result.set(PendingResponseTests.readAll(reader, from: store, pieceLength: 1 << 20)) }
        PendingResponseTests.fill(pending, body, pieceLength: 100_000)
        store.putSurely(Self.newer)
        // Otherwise the writer may take the body's last run before it has this.
        store.drain()
        pending.finish()
        #expect(result.wait() == body)
        guard case .notStored = store.outcome(of: pending) else {
            Issue.record("stored")
            return
        }
        store.drain()
        #expect(store.find(Self.newer.key).flatMap { store.wholeBody($0) } == [2])
        #expect(store.statistics.entries == 1)
    }

    @Test("Variants are ordered newest first, in whatever order they arrived")
    func ordersVariants() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.putSurely(Sample.response("v", body: [2], nominated: "b", date: 1_700_000_060))
        store.putSurely(Sample.response("v", body: [1], nominated: "a", date: 1_700_000_000))
        guard case .found(let variants) = store.memoryAnswer(Sample.key("v")) else {
            Issue.record("not found")
            return
        }
        #expect(variants.responses.map { store.wholeBody($0) } == [[2], [1]])
    }

    @Test("A response with a Date in the future is replaced by one requested later")
    func futureDates() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.putSurely(Sample.response("v", body: [1], date: 4_000_000_000, requested: 1_700_000_000))
        store.putSurely(Sample.response("v", body: [2], date: 1_700_000_010))
        store.drain()
        #expect(store.find(Sample.key("v")).flatMap { store.wholeBody($0) } == [2])
        #expect(store.statistics.entries == 1)
    }
}
