import Foundation
import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("Limits under load")
struct EvictionTests {
    @Test("However much is stored, the file exceeds its high mark by at most one body and the data waiting to be deleted")
    func boundsTheFile() throws {
        let fixture = StoreFixture()
        let (high, length) = (24 << 20, 3 << 20)
        let store = try fixture.open {
            $0.memory = .init(high: 1 << 20, low: 512 << 10)
            $0.memoryBodyLimit = 64 << 10
            $0.disk = .init(high: high, low: 16 << 20)
            // While the log is long, no chunks are deleted. When it is long depends on how fast the checkpointer's thread is.
            $0.limits.logHoldBytes = 1 << 30
            $0.limits.logLimitBytes = 2 << 30
        }
        let body = Sample.bytes(length, seed: 1)
        var largest = 0
        for number in 0..<40 {
            let plan = PendingPlan(response: Sample.response("b\(number)", body: []), length: UInt64(length))
            let pending = try #require(store.beginSurely(plan))
            PendingResponseTests.fill(pending, body, pieceLength: 1 << 20)
            pending.finish()
            store.drain()
            #expect(store.statistics.bytes <= high + 2 * length)
            largest = max(largest, FileSystem.length(of: fixture.path) ?? 0)
        }
        #expect(store.statistics.evicted > 0)
        // The chunks waiting to be deleted may take 32 MiB.
        #expect(largest <= high + 32 << 20 + 2 * length)
    }

    @Test("The index in memory has at most 150 bytes for each stored response, also for those that memory has evicted")
    func boundsTheIndex() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.memory = .init(high: 1 << 20, low: 512 << 10) }
        for number in 0..<6000 { store.putSurely(Sample.response("i/\(number)", body: Sample.bytes(1024, seed: UInt64(number)))) }
        store.drain()
        let statistics = store.statistics
        #expect(statistics.entries == 6000 && statistics.memoryEntries < 3000)
        // The tables begin with space for some responses, and double.
        #expect(statistics.indexBytes <= 150 * 6000, "\(statistics.indexBytes)")
    }

    @Test("The number of pending bodies is limited by the memory for them")
    func boundsPending() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.limits.pendingBytes = 1 << 20 }
        func begin(_ number: Int) -> PendingResponse? {
            store.beginPending(PendingPlan(response: Sample.response("f\(number)", body: []), length: nil))
        }
        let pendingResponses = (0..<6).compactMap { begin($0) }
        #expect(pendingResponses.count == 4)
        #expect(store.statistics.refusedBusy == 2)
        pendingResponses[0].abort()
        store.drain()
        let next = try #require(begin(7))
        for pending in pendingResponses[1...] + [next] { pending.abort() }
    }
}
