import Foundation
import HTTPCaching
import TestSupport
import Testing

@testable import ResponseStore

@Suite("Partial responses (RFC 9111 §3.3, §3.4)")
struct PartialTests {
    private static let length = 3_000_000
    private let body = Sample.bytes(length, seed: 9)

    /// Stores a part, complete or interrupted after this many bytes.
    @discardableResult
    private func store(
        _ range: Range<Int>, in store: ResponseStore, brokenAfter count: Int? = nil, name: String = "p", tag: String = "v",
        requested: Int64 = 1_700_000_000
    ) throws -> PendingOutcome {
        let response = Sample.response(name, body: [], etag: true, requested: requested, tag: tag)
        let part = (start: UInt64(range.lowerBound), whole: UInt64(Self.length))
        let pending = try #require(
            store.beginSurely(PendingPlan(response: response, length: UInt64(range.count), part: part)))
        PendingResponseTests.fill(pending, Array(body[range].prefix(count ?? range.count)), pieceLength: 50_000)
        if count == nil { pending.finish() } else { pending.abort() }
        let outcome = store.outcome(of: pending)
        store.drain()
        return outcome
    }

    private func extents(_ store: ResponseStore, name: String = "p") -> [Range<UInt64>]? {
        store.partials(of: Sample.key(name)).first?.extents
    }

    private func expectGone(_ store: ResponseStore) {
        store.drain()
        #expect(store.statistics.entries == 0)
        #expect(store.statistics.bytes == 0)
        #expect(!store.hasPartials)
    }

    @Test("Parts that arrive in any order, overlapping and interrupted, become one response once nothing is missing, and persist")
    func joins() throws {
        let fixture = StoreFixture()
        var store = try fixture.open { $0.memoryBodyLimit = 0 }
        try self.store(2_000_000..<2_500_001, in: store)
        #expect(extents(store) == [2_000_000..<2_500_001])
        try self.store(0..<1_000_000, in: store, brokenAfter: 700_000)
        try self.store(600_000..<900_000, in: store)
        #expect(extents(store) == [0..<900_000, 2_000_000..<2_500_001])
        #expect(store.find(Sample.key("p")) == nil)
        store.shutdown()
        store = try fixture.open { $0.memoryBodyLimit = 0 }
        // The data that the last process left is processed in slices.
        try eventually {
            store.drain()
            return extents(store) != nil
        }
        #expect(extents(store) == [0..<900_000, 2_000_000..<2_500_001])
        // Covers two others completely.
        try self.store(650_000..<2_600_000, in: store)
        #expect(extents(store) == [0..<2_600_000])
        guard case .stored = try self.store(2_400_000..<3_000_000, in: store) else {
            Issue.record("nothing is missing, but it is not stored")
            return
        }
        #expect(!store.hasPartials)
        for turn in 0..<2 {
            let found = try #require(store.find(Sample.key("p")))
            #expect(store.wholeBody(found).map { $0 == body } == true, "turn \(turn)")
            #expect(store.statistics.entries == 1)
            store.shutdown()
            store = try fixture.open { $0.memoryBodyLimit = 0 }
        }
        store.invalidate([Sample.key("p")])
        expectGone(store)
        #expect(store.find(Sample.key("p")) == nil)
    }

    @Test("If another fetch transfers the rest, the first one stays as close to its reader as a part does")
    func overlaps() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let response = Sample.response("p", body: [], etag: true)
        let whole = try #require(store.beginSurely(PendingPlan(response: response, length: UInt64(Self.length))))
        let reader = try #require(whole.attach())
        func begin(_ start: UInt64) -> PendingResponse? {
            store.beginSurely(
                PendingPlan(response: response, length: 100_000, part: (start: start, whole: UInt64(Self.length))))
        }
        func append(_ range: Range<Int>) -> FlowControl {
            let piece = Array(body[range])
            return whole.append(piece.span)
        }
        #expect(append(0..<1_000_000) == .proceed)
        let behind = try #require(begin(500_000))
        #expect(append(1_000_000..<1_500_000) == .proceed)
        #expect(!whole.isOverlapped)
        let ahead = try #require(begin(2_000_000))
        #expect(whole.isOverlapped && !behind.isOverlapped && !ahead.isOverlapped)
        #expect(append(1_500_000..<1_600_000) == .pause)
        // It continues once the reader is near.
        let ready = Answer<Bool>()
        whole.whenReady { ready.set(true) }
        _ = reader.read(at: 1_600_000)
        #expect(ready.wait())
        for pending in [whole, behind, ahead] { pending.abort() }
    }

    @Test("A partial response is freshened at once, in the file too; or removed")
    func freshens() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        try self.store(0..<1_000_000, in: store)
        let old = try #require(store.partials(of: Sample.key("p")).first).response
        let later = Sample.response("p", body: body, etag: true, requested: 1_700_000_500)
        store.freshen(old, as: later.placed(body: old.body, row: old.row))
        #expect(store.partials(of: Sample.key("p")).first?.response.requestTime == later.requestTime)
        store.shutdown()
        store = try fixture.open()
        try eventually {
            store.drain()
            return extents(store) != nil
        }
        let found = try #require(store.partials(of: Sample.key("p")).first)
        #expect(found.response.requestTime == later.requestTime)
        #expect(found.extents == [0..<1_000_000])
        store.remove(found.response)
        #expect(!store.hasPartials)
        expectGone(store)
    }

    @Test("A store knows its partial responses as soon as it is open")
    func isKnownAtOpening() throws {
        let fixture = StoreFixture()
        // The writer would also read it a moment later, so one opening might find it by chance.
        for _ in 0..<20 {
            let store = try fixture.open()
            if !store.hasPartials { try self.store(0..<1_000_000, in: store) }
            store.shutdown()
            let again = try fixture.open()
            #expect(again.partials(of: Sample.key("p")).map(\.extents) == [[0..<1_000_000]])
            again.shutdown()
        }
    }

    @Test("Another entity tag means another representation: the older one is removed, and nothing is joined")
    func keepsApart() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try self.store(0..<1_000_000, in: store)
        try self.store(1_000_000..<3_000_000, in: store, tag: "w", requested: 1_700_000_100)
        #expect(extents(store) == [1_000_000..<3_000_000])
        try self.store(0..<1_000_000, in: store)
        #expect(extents(store) == [1_000_000..<3_000_000])
        #expect(store.find(Sample.key("p")) == nil)
        #expect(store.statistics.entries == 1)
    }

    @Test("An invalidated response is gone at once, from disk too, and a pending part is not kept")
    func invalidates() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        try self.store(0..<1_000_000, in: store)
        let response = Sample.response("p", body: [], etag: true)
        let pending = try #require(
            store.beginSurely(PendingPlan(response: response, length: 100, part: (start: 1_000_000, whole: UInt64(Self.length)))))
        PendingResponseTests.fill(pending, [UInt8](repeating: 0, count: 100), pieceLength: 100)
        store.invalidate([Sample.key("p")])
        #expect(store.partials(of: Sample.key("p")).isEmpty)
        pending.finish()
        _ = store.outcome(of: pending)
        expectGone(store)
        store.shutdown()
        store = try fixture.open()
        expectGone(store)
    }

    @Test("A complete response replaces a partial one, and a late part does not change it")
    func yieldsToWhole() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try self.store(0..<1_000_000, in: store)
        store.putSurely(Sample.response("p", body: body, etag: true, requested: 1_700_000_200))
        store.drain()
        #expect(!store.hasPartials)
        try self.store(0..<1_000_000, in: store)
        #expect(!store.hasPartials)
        #expect(store.find(Sample.key("p")).flatMap { store.wholeBody($0) }.map { $0 == body } == true)
        #expect(store.statistics.entries == 1)
    }

    @Test("A delivery from extents continues when their response is deleted")
    func keepsHeld() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.memoryBodyLimit = 0 }
        try self.store(0..<2_000_000, in: store)
        try self.store(2_000_000..<3_000_000, in: store)
        let found = try #require(store.find(Sample.key("p")))
        guard case .onDisk(let reference) = found.body else { return }
        let hold = store.hold(reference)
        store.invalidate([Sample.key("p")])
        for _ in 0..<5 { store.drain() }
        #expect(store.wholeBody(found).map { $0 == body } == true)
        withExtendedLifetime(hold) {}
    }

    /// Two parts of another name, which form a response in extents.
    private func storeInExtents(_ name: String, in store: ResponseStore) throws {
        try self.store(0..<2_000_000, in: store, name: name)
        try self.store(2_000_000..<3_000_000, in: store, name: name)
    }

    @Test(
        "A response in extents that was found before a purge can be read to its end, and its extents are deleted once it is released",
        arguments: [true, false])
    func keepsWhatWasFound(isInMemory: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open {
            $0.memoryBodyLimit = 0
            if !isInMemory { $0.memory = .init(high: 0, low: 0) }
        }
        try storeInExtents("p", in: store)
        var found = isInMemory ? store.find(Sample.key("p")) : store.foundOnDisk(Sample.key("p"))
        let place = try #require(found.flatMap(PendingResponseTests.placeOnDisk))
        #expect(place.id < 0)
        #expect(store.purgeNow(PurgeTests.matching("http://example.test/p")).done() == 1)
        try waitForDeletions(in: store)
        #expect(found.flatMap { store.wholeBody($0) }.map { $0 == body } == true)
        found = nil
        try eventually { !store.readNow(place, at: 0).isGood }
    }

    @Test("A partial response that was found before it was deleted can be read up to its end")
    func keepsPartThatWasFound() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try self.store(0..<1_000_000, in: store)
        var found = store.partials(of: Sample.key("p")).first?.response
        let place = try #require(found.flatMap(PendingResponseTests.placeOnDisk))
        #expect(store.purgeNow(PurgeTests.matching("http://example.test/p")).done() == 1)
        try waitForDeletions(in: store)
        #expect(store.readNow(place, at: 900_000).isGood)
        withExtendedLifetime(found) {}
        found = nil
        try eventually { !store.readNow(place, at: 0).isGood }
    }

    @Test("An extent that another one replaces is deleted while its response is held")
    func deletesReplacedExtents() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try self.store(100_000..<300_000, in: store)
        let found = try #require(store.partials(of: Sample.key("p")).first)
        let place = try #require(PendingResponseTests.placeOnDisk(found.response))
        let hold = store.hold(place)
        try self.store(0..<1_000_000, in: store)
        try eventually {
            store.drain()
            return try fixture.count(of: "chunk") == Int64(Chunk.count(forLength: 1_000_000))
        }
        #expect(store.readNow(place, at: 0).isGood)
        withExtendedLifetime((found, hold)) {}
    }

    /// Returns when the writer has processed the deletions: data deleted later is then gone.
    private func waitForDeletions(in store: ResponseStore) throws {
        try self.store(0..<1_000_000, in: store, name: "next")
        // Without the found response, which would keep it.
        let next = try #require(
            store.partials(of: Sample.key("next")).first.flatMap { PendingResponseTests.placeOnDisk($0.response) })
        #expect(store.purgeNow(PurgeTests.matching("http://example.test/next")).done() == 1)
        try eventually { !store.readNow(next, at: 0).isGood }
    }

    @Test("A part left by a crash is kept where it belongs")
    func survivesCrash() throws {
        let fixture = StoreFixture()
        let copy = fixture.folder + "/copy.db"
        let store = try fixture.open()
        try self.store(0..<500_000, in: store)
        let whole = 60 << 20
        let plan = PendingPlan(
            response: Sample.response("q", body: [], etag: true), length: 40 << 20, part: (start: 10 << 20, whole: UInt64(whole)))
        let pending = try #require(store.beginSurely(plan))
        let bytes = Sample.bytes(5 << 20, seed: 1)
        PendingResponseTests.fill(pending, bytes, pieceLength: 1 << 20)
        for _ in 0..<5 { store.drain() }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy + suffix) }
        pending.abort()
        store.shutdown()

        let again = try fixture.open { $0.path = copy }
        try eventually {
            again.drain()
            return extents(again, name: "q") != nil
        }
        #expect(extents(again) == [0..<500_000])
        let extent = try #require(extents(again, name: "q")?.first)
        #expect(extent.lowerBound == 10 << 20)
        #expect(extent.count % (2 << 20) == 0 && extent.count >= 2 << 20)
        let partial = try #require(again.partials(of: Sample.key("q")).first)
        guard case .onDisk(let reference) = partial.response.body else { return }
        #expect(reference.length == UInt64(whole))
        guard case .bytes(let piece, let range) = again.readNow(reference, at: extent.lowerBound + 1000) else {
            Issue.record("the extent cannot be read")
            return
        }
        #expect(Array(piece[range].prefix(100)) == Array(bytes[1000..<1100]))
        guard case .failed = again.readNow(reference, at: 0) else {
            Issue.record("what is missing was read")
            return
        }
        // For a partial response this is not damage.
        again.drain()
        #expect(extents(again, name: "q") == [extent] && again.statistics.damagedEntries == 0)
    }
}
