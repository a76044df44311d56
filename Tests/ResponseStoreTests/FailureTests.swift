import EventLoop
import Foundation
import HTTPCaching
import TestSupport
import Testing

@testable import ResponseStore

@Suite("Recovery from failed writes")
struct FailureTests {
    // `lookAfter` is called by the clock, `giveUpStoring` after a failed transaction.
    @Test("A fetch that waits for the writer continues when its body is no longer stored", arguments: [true, false])
    func wakesTheFetch(isStalled: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open {
            // From its first transaction on, the writer postpones bodies.
            $0.limits.logHoldBytes = -1
            $0.limits.checkpointBytes = .max
        }
        store.putSurely(Sample.response("first", body: [1]))
        store.drain()
        let pending = try #require(store.beginSurely(PendingPlan(response: Sample.response("w", body: []), length: nil)))
        let reader = try #require(pending.attach())
        let piece = Sample.bytes(128 << 10, seed: 1)
        var position: UInt64 = 0
        while pending.append(piece.span) == .proceed {
            position += UInt64(piece.count)
            _ = reader.read(at: position)
        }
        _ = reader.read(at: position + UInt64(piece.count))
        let isAwake = Guarded(false)
        pending.whenReady { isAwake.withLock { $0 = true } }
        #expect(!isAwake.withLock { $0 })
        if isStalled {
            pending.lookAfter(now: Clock.monotonicMilliseconds() + 60_000)
        } else {
            pending.giveUpStoring()
        }
        #expect(!pending.isStoring)
        #expect(isAwake.withLock { $0 })
        withExtendedLifetime(reader) {}
        pending.abort()
    }

    @Test("An invalidation reaches a body that a full disk could not take")
    func invalidatesWhatFailed() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.drain()
        let response = Sample.response("i", body: [], etag: true)
        let pending = try #require(store.beginSurely(PendingPlan(response: response, length: nil)))
        // Simulates a full disk: the file must not grow.
        store.core.queue.add(.limitPages(1), urgent: true)
        _ = pending.append(Sample.bytes(3 << 20, seed: 1).span)
        try eventually {
            store.drain()
            return !pending.isStoring
        }
        store.invalidate([response.key])
        store.drain()
        pending.finish()
        guard case .notStored = store.outcome(of: pending) else {
            Issue.record("what was invalidated is back")
            return
        }
        #expect(store.find(response.key) == nil)
        #expect(store.core.pendingResponses.count == 0)
    }

    @Test("A body that the disk could not take stays in memory unless it was invalidated, and is no longer pending")
    func keepsWhatFailedInMemory() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.drain()
        let body = Sample.bytes(3 << 20, seed: 1)
        let pending = try #require(store.beginSurely(PendingPlan(response: Sample.response("k", body: []), length: nil)))
        pending.stopStoring()
        _ = pending.append(body.span)
        pending.finish()
        guard case .stored(let response) = store.outcome(of: pending) else {
            Issue.record("not kept")
            return
        }
        #expect(store.wholeBody(response) == body)
        #expect(store.core.pendingResponses.count == 0)
    }

    @Test("A failed commit loses the operations of its transaction, but none after it")
    func triesWhatComesBehind() throws {
        let fixture = StoreFixture()
        let store = try fixture.openKnowing()
        store.inOneBatch {
            StoreFileTests.edit(fixture.path, "DROP TABLE totals")
            // Fills one transaction: its last statement is the one that fails.
            store.putSurely(Sample.response("large", body: Sample.bytes(5 << 20, seed: 1)))
            store.putSurely(Sample.response("behind", body: [7]))
        }
        #expect(store.statistics.damagedFiles == 1)
        #expect(store.statistics.notStored == 1)
        #expect(store.statistics.stored == 1)
        #expect(store.statistics.entries == 1)
    }
}
