import EventLoop
import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("Responses that are not stored are counted by reason")
struct UnstoredTests {
    private static func unstored(_ store: ResponseStore) -> [UnstoredReason: Int] { store.statistics.unstored }

    @Test("A response that is refused before its body arrives is counted like one that is refused with its body")
    func countsRefusals() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.limits.queuedOperations = 1 }
        try store.learnKeys()
        let large = Sample.response("large", body: [])
        store.inOneBatch {
            #expect(store.admitNew())
            store.putSurely(Sample.response("first", body: [1]))
            #expect(!store.admitNew())
            guard case .busy = store.put(Sample.response("second", body: [1])) else {
                Issue.record("accepted")
                return
            }
            #expect(store.beginPending(PendingPlan(response: large, length: 1 << 20)) == nil)
        }
        #expect(Self.unstored(store) == [.queueFull: 3])
        #expect(store.statistics.refusedBusy == 3)
        #expect(store.admitNew())
        #expect(store.beginPending(PendingPlan(response: large, length: .max)) == nil)
        #expect(Self.unstored(store) == [.queueFull: 3, .bodyTooLong: 1])
    }

    @Test("A response that was invalidated, or that a newer one supersedes, is counted")
    func countsInvalidated() throws {
        let fixture = StoreFixture()
        let store = try fixture.openKnowing()
        let since = store.moment(of: Sample.key("a"))
        store.invalidate([Sample.key("a")])
        guard case .invalidated = store.put(Sample.response("a", body: [1]), since: since) else {
            Issue.record("accepted")
            return
        }
        #expect(Self.unstored(store) == [.invalidated: 1])
        store.putSurely(Sample.response("b", body: [1], date: 1_700_000_500))
        store.putSurely(Sample.response("b", body: [1], date: 1_700_000_000))
        #expect(Self.unstored(store) == [.invalidated: 1, .superseded: 1])
    }

    @Test("A body that was interrupted, was too long, or was purged meanwhile is counted once; one kept in part is not counted")
    func countsBodies() throws {
        let fixture = StoreFixture()
        let store = try fixture.openKnowing()
        let body = Sample.bytes(1 << 20, seed: 1)
        func begin(_ name: String, etag: Bool = false, kept: UInt64? = nil) throws -> PendingResponse {
            let response = Sample.response(name, body: [], etag: etag)
            return try #require(store.beginSurely(PendingPlan(response: response, length: 2 << 20, keptLength: kept)))
        }
        func end(_ pending: PendingResponse) {
            pending.abort()
            if case .stored = store.outcome(of: pending) { Issue.record("stored") }
            store.drain()
        }
        var pending = try begin("broken")
        PendingResponseTests.fill(pending, body, pieceLength: 1 << 18)
        end(pending)
        #expect(Self.unstored(store) == [.bodyIncomplete: 1])
        pending = try begin("long", kept: 1 << 18)
        PendingResponseTests.fill(pending, body, pieceLength: 1 << 18)
        end(pending)
        #expect(Self.unstored(store) == [.bodyIncomplete: 1, .bodyTooLong: 1])
        pending = try begin("purged")
        PendingResponseTests.fill(pending, body, pieceLength: 1 << 18)
        store.invalidate([Sample.key("purged")])
        end(pending)
        #expect(Self.unstored(store) == [.bodyIncomplete: 1, .bodyTooLong: 1, .invalidated: 1])
        pending = try begin("part", etag: true)
        PendingResponseTests.fill(pending, body, pieceLength: 1 << 18)
        end(pending)
        #expect(store.partials(of: Sample.key("part")).count == 1)
        #expect(Self.unstored(store) == [.bodyIncomplete: 1, .bodyTooLong: 1, .invalidated: 1])
    }
}
