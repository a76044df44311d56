import EventLoop
import Foundation
import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import ResponseStore

@Suite("Pending bodies")
struct PendingResponseTests {
    /// Appends the body in pieces at the pace that flow control allows.
    static func fill(_ pending: PendingResponse, _ body: [UInt8], pieceLength: Int) {
        var offset = 0
        while offset < body.count {
            let piece = Array(body[offset..<min(offset + pieceLength, body.count)])
            offset += piece.count
            if pending.append(piece.span) == .pause {
                let ready = Answer<Bool>()
                pending.whenReady { ready.set(true) }
                _ = ready.wait()
            }
        }
    }

    /// Reads to the end; `nil` if the body was interrupted.
    static func readAll(
        _ reader: PendingReader, from store: ResponseStore, pieceLength: Int, pause: UInt32 = 0
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            let position = UInt64(bytes.count)
            switch reader.read(at: position) {
            case .bytes(let chunk, let range):
                let part = range.lowerBound..<min(range.upperBound, range.lowerBound + pieceLength)
                chunk.withBytes(part) { bytes.append(contentsOf: $0) }
                if pause > 0 { usleep(pause) }
            case .onDisk(let reference):
                guard case .bytes(let piece, let range) = store.readNow(reference, at: position) else { return nil }
                bytes += piece[range]
            case .wait:
                let readable = Answer<Bool>()
                reader.whenReadable(at: position) { readable.set(true) }
                _ = readable.wait()
            case .end: return bytes
            case .failed: return nil
            }
        }
    }

    @Test(
        "Readers of several speeds all get the whole body, which is then stored", arguments: [1, 4],
        [0, 100_000, 5_000_000, 12_000_001])
    func servesReaders(threads: Int, length: Int) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        let body = Sample.bytes(length, seed: UInt64(length))
        let plan = PendingPlan(response: Sample.response("large", body: []), length: length % 2 == 0 ? nil : UInt64(length))
        let pending = try #require(store.beginSurely(plan))
        let shared = store
        let readers = try (0..<threads * 2).map { _ in try #require(pending.attach()) }
        let results = Guarded<[[UInt8]?]>([])
        let group = DispatchGroup()
        for (index, reader) in readers.enumerated() {
            let thread = Thread {
                let bytes = Self.readAll(reader, from: shared, pieceLength: 70_000 + index, pause: index % 2 == 1 ? 300 : 0)
                results.withLock { $0.append(bytes) }
                group.leave()
            }
            group.enter()
            thread.start()
        }
        Self.fill(pending, body, pieceLength: 60_000)
        #expect(pending.finish())
        #expect(group.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success)
        #expect(results.withLock { $0.count } == threads * 2)
        #expect(results.withLock { $0.allSatisfy { $0 == body } })
        let stored = Answer<PendingOutcome>()
        pending.whenStored { stored.set($0) }
        guard case .stored = stored.wait() else {
            Issue.record("not stored")
            return
        }
        let found = try #require(store.find(plan.response.key))
        #expect(store.wholeBody(found) == body)
        store.shutdown()
        store = try fixture.open()
        let again = try #require(store.find(plan.response.key))
        #expect(store.wholeBody(again) == body)
        #expect(store.statistics.entries == 1)
    }

    @Test("Memory keeps at most a window of a body, whatever its readers do")
    func boundsMemory() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let pending = try #require(store.beginSurely(PendingPlan(response: Sample.response("w", body: []), length: nil)))
        let reader = try #require(pending.attach())
        let piece = Sample.bytes(100_000, seed: 1)
        var flow = FlowControl.proceed
        var sent = 0
        while flow == .proceed, sent < 64 << 20 {
            flow = pending.append(piece.span)
            sent += piece.count
        }
        // The reader has not advanced: it is the fastest, so the fetch waits one window ahead of it.
        #expect(flow == .pause)
        #expect(sent <= 5 << 20)
        #expect(pending.bytesInMemory <= 4 << 20 + 256 << 10)
        withExtendedLifetime(reader) {}
        pending.abort()
    }

    @Test("A store that is closed before a body ends is released", arguments: [":memory:", nil], [false, true])
    func letsGo(path: String?, aborts: Bool) throws {
        weak var core: StoreCore?
        do {
            let fixture = StoreFixture()
            let store = try fixture.open { if let path { $0.path = path } }
            core = store.core
            let pending = try #require(store.beginSurely(PendingPlan(response: Sample.response("w", body: []), length: nil)))
            _ = pending.append(Sample.bytes(1000, seed: 1).span)
            store.shutdown()
            if aborts { pending.abort() }
        }
        #expect(core == nil)
    }

    @Test("A slow reader does not slow a fast one: it reads the missed data from disk")
    func slowReaderFallsToDisk() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let body = Sample.bytes(20 << 20, seed: 9)
        let pending = try #require(
            store.beginSurely(PendingPlan(response: Sample.response("s", body: []), length: UInt64(body.count))))
        let fast = try #require(pending.attach())
        let slow = try #require(pending.attach())
        let fastBytes = Answer<[UInt8]?>()
        Thread.detachNewThread { fastBytes.set(Self.readAll(fast, from: store, pieceLength: 1 << 20)) }
        Self.fill(pending, body, pieceLength: 128 << 10)
        pending.finish()
        #expect(fastBytes.wait() == body)
        guard case .onDisk = slow.read(at: 0) else {
            Issue.record("the start is still in memory")
            return
        }
        #expect(Self.readAll(slow, from: store, pieceLength: 1 << 20) == body)
    }

    @Test(
        "A store in memory keeps bodies up to its limit, and refuses a longer one whose length is declared",
        arguments: [4 << 20, 5 << 20, 20 << 20, 21 << 20], [true, false])
    func keepsLongBodiesInMemory(length: Int, isAnnounced: Bool) throws {
        let store = try StoreFixture().open {
            $0.path = ":memory:"
            $0.memoryBodyLimit = 20 << 20
        }
        let body = Sample.bytes(length, seed: 4)
        let plan = PendingPlan(response: Sample.response("m", body: []), length: isAnnounced ? UInt64(length) : nil)
        guard let pending = store.beginPending(plan) else {
            #expect(isAnnounced && length > 20 << 20)
            return
        }
        #expect(pending.isToBeKept)
        let reader = try #require(pending.attach())
        let read = Answer<[UInt8]?>()
        Thread.detachNewThread { read.set(Self.readAll(reader, from: store, pieceLength: 1 << 20)) }
        Self.fill(pending, body, pieceLength: 128 << 10)
        pending.finish()
        #expect(read.wait() == body)
        let outcome = Answer<PendingOutcome>()
        pending.whenStored { outcome.set($0) }
        _ = outcome.wait()
        let found = store.find(Sample.key("m"))
        #expect((found != nil) == (length <= 20 << 20))
        if let found { #expect(store.wholeBody(found) == body) }
    }

    @Test("A body shorter or longer than declared is never stored", arguments: [-1, 1])
    func refusesWrongLength(difference: Int) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for length in [10, 100_000, 5_000_000] {
            let response = Sample.response("l\(length)", body: [])
            let pending = try #require(store.beginSurely(PendingPlan(response: response, length: UInt64(length))))
            let reader = try #require(pending.attach())
            let result = Answer<[UInt8]?>()
            let shared = store
            Thread.detachNewThread { result.set(Self.readAll(reader, from: shared, pieceLength: 1 << 20)) }
            Self.fill(pending, Sample.bytes(length + difference, seed: 2), pieceLength: 50_000)
            #expect(!pending.finish())
            #expect(result.wait() == nil)
            store.drain()
            #expect(store.find(response.key) == nil)
        }
        store.shutdown()
        store = try fixture.open()
        for length in [10, 100_000, 5_000_000] { #expect(store.find(Sample.key("l\(length)")) == nil) }
        #expect(store.statistics.entries == 0)
    }

    @Test("An interrupted body is kept as a partial response only with a strong validator", arguments: [true, false])
    func keepsPartials(etag: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let response = Sample.response("p", body: [], etag: etag)
        let pending = try #require(store.beginSurely(PendingPlan(response: response, length: 10 << 20)))
        Self.fill(pending, Sample.bytes(5_000_000, seed: 2), pieceLength: 50_000)
        pending.abort()
        let outcome = Answer<PendingOutcome>()
        pending.whenStored { outcome.set($0) }
        guard case .notStored = outcome.wait() else {
            Issue.record("a partial is not a stored response")
            return
        }
        store.drain()
        #expect(store.find(response.key) == nil)
        #expect(store.statistics.entries == (etag ? 1 : 0))
        #expect(store.statistics.partials == (etag ? 1 : 0))
        if etag { #expect(store.statistics.bytes > 5_000_000) } else { #expect(store.statistics.bytes == 0) }
    }

    @Test("A new body replaces the old one only when it is complete, and a delivery in progress continues")
    func replacesAtTheEnd() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let old = Sample.bytes(6 << 20, seed: 1)
        let new = Sample.bytes(7 << 20, seed: 2)
        func begin() throws -> PendingResponse {
            try #require(store.beginSurely(PendingPlan(response: Sample.response("r", body: []), length: nil)))
        }
        func finish(_ pending: PendingResponse) {
            pending.finish()
            let stored = Answer<PendingOutcome>()
            pending.whenStored { stored.set($0) }
            _ = stored.wait()
        }
        do {
            // It has the response, too.
            let first = try begin()
            Self.fill(first, old, pieceLength: 100_000)
            finish(first)
        }
        var found = store.find(Sample.key("r"))
        let reference = try #require(found.flatMap(Self.placeOnDisk))
        let second = try begin()
        Self.fill(second, new, pieceLength: 100_000)
        store.drain()
        #expect(store.find(Sample.key("r")).flatMap { store.wholeBody($0) } == old)
        finish(second)
        #expect(store.find(Sample.key("r")).flatMap { store.wholeBody($0) } == new)
        store.drain()
        #expect(found.flatMap { store.wholeBody($0) } == old)
        found = nil
        try eventually { !store.readNow(reference, at: 0).isGood }
        #expect(store.statistics.entries == 1)
    }

    /// The location of its body, without the hold that the response has on it.
    static func placeOnDisk(_ response: StoredResponse) -> BodyReference? {
        guard case .onDisk(let reference) = response.body else { return nil }
        return BodyReference(id: reference.id, length: reference.length)
    }

    @Test("An invalidation reaches a pending body: it is delivered, but not stored")
    func invalidatesPending() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let body = Sample.bytes(3 << 20, seed: 1)
        let pending = try #require(store.beginSurely(PendingPlan(response: Sample.response("i", body: []), length: nil)))
        let reader = try #require(pending.attach())
        let result = Answer<[UInt8]?>()
        Thread.detachNewThread { result.set(Self.readAll(reader, from: store, pieceLength: 1 << 20)) }
        Self.fill(pending, Array(body[..<1_000_000]), pieceLength: 100_000)
        store.invalidate([Sample.key("i")])
        Self.fill(pending, Array(body[1_000_000...]), pieceLength: 100_000)
        pending.finish()
        #expect(result.wait() == body)
        store.drain()
        #expect(store.find(Sample.key("i")) == nil)
    }
}
