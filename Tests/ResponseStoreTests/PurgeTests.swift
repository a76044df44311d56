import EventLoop
import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import ResponseStore

@Suite("Purges")
struct PurgeTests {
    static let now = Timestamp(seconds: 1_700_000_100)

    static func matching(_ url: String) -> PurgeRequest {
        var filter = StoreFilter()
        precondition(filter.set(.url, to: url))
        return .matching(filter)
    }

    @Test(
        "Purged responses are gone from memory and disk at once, the others stay, and the number is reported",
        arguments: [true, false])
    func purges(isInMemory: Bool) throws {
        let fixture = StoreFixture()
        var store = try fixture.open { if isInMemory { $0.path = ":memory:" } }
        for number in 0..<40 {
            store.putSurely(Sample.response("\(number % 2 == 0 ? "a" : "b")/\(number)", body: [UInt8(number)]))
        }
        let purge = store.purgeNow(Self.matching("http://example.test/a/*"))
        for number in 0..<40 {
            let found = store.find(Sample.key("\(number % 2 == 0 ? "a" : "b")/\(number)"))
            #expect((found != nil) == (number % 2 == 1), "\(number)")
        }
        #expect(purge.done() == 20)
        if isInMemory { return }
        #expect(store.statistics.entries == 20)
        store.shutdown()
        store = try fixture.open()
        #expect(store.find(Sample.key("a/0")) == nil)
        #expect(store.find(Sample.key("b/1")) != nil)
    }

    @Test(
        "A response that was found before a purge can be read to its end, and its body is deleted once it is released",
        arguments: [true, false])
    func keepsWhatWasFound(isInMemory: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open { if !isInMemory { $0.memory = .init(high: 0, low: 0) } }
        let body = Sample.bytes(6 << 20, seed: 1)
        store.putSurely(Sample.response("long", body: body))
        store.drain()
        var found = isInMemory ? store.find(Sample.key("long")) : store.foundOnDisk(Sample.key("long"))
        let reference = try #require(found.flatMap(PendingResponseTests.placeOnDisk))
        #expect(store.purgeNow(Self.matching("http://example.test/long")).done() == 1)
        // Data that follows is deleted before it: the writer has processed the chunks.
        store.putSurely(Sample.response("next", body: body))
        store.drain()
        let next = try #require(store.find(Sample.key("next")).flatMap(PendingResponseTests.placeOnDisk))
        #expect(store.purgeNow(Self.matching("http://example.test/next")).done() == 1)
        try eventually { !store.readNow(next, at: 0).isGood }
        #expect(found.flatMap { store.wholeBody($0) } == body)
        found = nil
        try eventually { !store.readNow(reference, at: 0).isGood }
    }

    @Test(
        "A response that the admin interface found before a purge can be read to its end, complete or partial",
        arguments: [true, false])
    func keepsWhatWasBrowsed(isWhole: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.memory = .init(high: 0, low: 0) }
        let body = Sample.bytes(3 << 20, seed: 1)
        func fill(_ name: String) throws {
            let response = Sample.response(name, body: [], etag: true)
            let pending = try #require(store.beginSurely(PendingPlan(response: response, length: UInt64(body.count))))
            PendingResponseTests.fill(pending, isWhole ? body : Array(body.prefix(2 << 20)), pieceLength: 1 << 18)
            if isWhole { _ = pending.finish() } else { pending.abort() }
            _ = store.outcome(of: pending)
            store.drain()
        }
        func browsed(_ name: String) throws -> StoredResponse {
            try #require(
                store.browseNow { browser throws(StoreError) in
                    let key = Sample.key(name)
                    return isWhole ? try browser.responses(ofKey: key).first : try browser.partials(ofKey: key).first?.response
                } ?? nil)
        }
        func isReadable(_ body: BodyReference) -> Bool { store.readNow(body, at: (2 << 20) - 1).isGood }
        try fill("long")
        try fill("next")
        var found: StoredResponse? = try browsed("long")
        let place = try #require(found.flatMap(PendingResponseTests.placeOnDisk))
        // Without its hold: the response purged after the other is deleted, so the writer has processed both.
        let next = try #require(PendingResponseTests.placeOnDisk(try browsed("next")))
        #expect(store.purgeNow(Self.matching("http://example.test/long")).done() == 1)
        #expect(store.purgeNow(Self.matching("http://example.test/next")).done() == 1)
        try eventually { !isReadable(next) }
        #expect(isReadable(place))
        withExtendedLifetime(found) {}
        found = nil
        try eventually { !isReadable(place) }
    }

    @Test("A purge of a URL covers all its variants, and responses stored afterwards stay")
    func purgesOneKey() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        _ = store.put(Sample.response("v", body: [1], nominated: "a"))
        _ = store.put(Sample.response("v", body: [2], nominated: "b"))
        _ = store.put(Sample.response("w", body: [3]))
        #expect(store.purgeNow(Self.matching("http://example.test/v")).done() == 2)
        #expect(store.find(Sample.key("v")) == nil)
        #expect(store.find(Sample.key("w")) != nil)
        _ = store.put(Sample.response("v", body: [4]))
        #expect(store.find(Sample.key("v")).flatMap { store.wholeBody($0) } == [4])
    }

    @Test("A soft purge makes responses stale, in memory and on disk; a validated response is fresh again")
    func purgesSoftly() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        _ = store.put(Sample.fresh("s"))
        let moment = store.moment(of: Sample.key("s"))
        #expect(store.purgeNow(Self.matching("http://example.test/*"), isSoft: true).done() == 1)
        let stale = try #require(store.find(Sample.key("s")))
        #expect(!stale.facts.isFresh(at: Self.now))
        #expect(store.wholeBody(stale) == [7])
        // Its request was sent before the purge.
        let early = Sample.fresh("s").placed(body: stale.body, row: stale.row)
        store.freshen(stale, as: early, since: moment)
        #expect(store.find(Sample.key("s"))?.facts.isFresh(at: Self.now) == false)
        store.shutdown()
        store = try fixture.open()
        let found = try #require(store.find(Sample.key("s")))
        #expect(!found.facts.isFresh(at: Self.now))
        store.freshen(found, as: Sample.fresh("s", requested: 1_700_000_101).placed(body: found.body, row: found.row))
        #expect(store.find(Sample.key("s"))?.facts.isFresh(at: Self.now) == true)
    }

    @Test("A response that was requested before a purge is not stored after it")
    func refusesWhatWasUnderWay() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let moment = store.moment(of: Sample.key("a/small"))
        let large = Sample.bytes(300_000, seed: 1)
        let pending = try #require(
            store.beginPending(PendingPlan(response: Sample.response("a/large", body: []), length: 300_000)))
        PendingResponseTests.fill(pending, Array(large[..<100_000]), pieceLength: 50_000)
        let purge = store.purgeNow(Self.matching("http://example.test/a/*"))
        guard case .invalidated = store.put(Sample.response("a/small", body: [1]), since: moment) else {
            Issue.record("stored")
            return
        }
        guard case .accepted = store.put(Sample.response("b/small", body: [1]), since: moment) else {
            Issue.record("not stored")
            return
        }
        PendingResponseTests.fill(pending, Array(large[100_000...]), pieceLength: 50_000)
        pending.finish()
        guard case .notStored = store.outcome(of: pending) else {
            Issue.record("stored")
            return
        }
        // One that begins late with an old epoch.
        let late = store.beginPending(PendingPlan(response: Sample.response("a/late", body: []), length: nil, since: moment))
        if let late {
            PendingResponseTests.fill(late, large, pieceLength: 100_000)
            late.finish()
            if case .stored = store.outcome(of: late) { Issue.record("stored") }
        }
        for name in ["a/small", "a/large", "a/late"] { #expect(store.find(Sample.key(name)) == nil) }
        #expect(purge.done() == 0)
        _ = store.put(Sample.response("a/small", body: [2]))
        #expect(store.find(Sample.key("a/small")) != nil)
    }

    @Test("A purged response does not prevent an older one from being stored")
    func forgetsNewer() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        _ = store.put(Sample.response("n", body: [1], date: 1_700_000_050))
        _ = store.purgeNow(Self.matching("http://example.test/*"))
        _ = store.put(Sample.response("n", body: [2], date: 1_700_000_000))
        store.drain()
        #expect(store.find(Sample.key("n")).flatMap { store.wholeBody($0) } == [2])
    }

    @Test("A purge whose mark is in the file takes effect when the next process starts, which completes it")
    func goesOn() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for number in 0..<300 { store.putSurely(Sample.response("p/\(number)", body: [1])) }
        store.putSurely(Sample.response("q", body: [1]))
        store.shutdown()
        // As left by a process that is killed with the acknowledgment.
        let connection = try StoreFile(path: fixture.path, role: .cache).connect(.writing)
        let tables = try WritingTables(connection, ChainDirectory())
        let target = Self.matching("http://example.test/p/*").target
        let boundary = try tables.nextID() + 50
        try tables.insert(Purge(number: 3, boundary: boundary, time: Self.now, target: target, isSoft: false))

        let browser = try StoreBrowser(path: fixture.path)
        // As many pages as it takes on a busy machine.
        var listed: [[UInt8]] = []
        var listing: StoreListing? = StoreListing(StoreFilter(), at: Self.now)
        while let place = listing {
            let page = try browser.page(place)
            listed += page.entries.map(\.key)
            listing = page.next
        }
        #expect(listed == [Sample.key("q")])
        store = try fixture.open()
        #expect(store.moment(of: Sample.key("q")).purge == 3)
        for number in 0..<300 { #expect(store.find(Sample.key("p/\(number)")) == nil) }
        #expect(store.find(Sample.key("q")) != nil)
        // Above the boundary, though the greatest row in the file is below it.
        guard case .accepted(let new) = store.put(Sample.response("p/0", body: [2])) else {
            Issue.record("busy")
            return
        }
        #expect(new.row > boundary)
        #expect(store.find(Sample.key("p/0")) != nil)
        #expect(store.purgeNow(Self.matching("http://example.test/x/*")).done() == 0)
        #expect(store.statistics.entries == 2)
    }

    @Test("Compared with a plain dictionary, covered responses are gone and the others are present", arguments: UInt64(0)..<4)
    func agreesWithDictionary(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let fixture = StoreFixture()
        // So little memory that lookups also read the disk.
        var store = try fixture.open { $0.memory = .init(high: 24 << 10, low: 12 << 10) }
        var expected: [String: [UInt8]] = [:]
        for step in 0..<400 {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0:
                let folder = Int.random(in: 0..<4, using: &generator)
                let isExact = Bool.random(using: &generator)
                let name = "f\(folder)/\(Int.random(in: 0..<12, using: &generator))"
                _ = store.purgeNow(Self.matching("http://example.test/" + (isExact ? name : "f\(folder)/*")))
                expected = expected.filter { isExact ? $0.key != name : !$0.key.hasPrefix("f\(folder)/") }
            case 1 where step % 7 == 0:
                store.shutdown()
                store = try fixture.open { $0.memory = .init(high: 24 << 10, low: 12 << 10) }
            case 1..<7:
                let name = "f\(Int.random(in: 0..<4, using: &generator))/\(Int.random(in: 0..<12, using: &generator))"
                let body = Sample.bytes(Int.random(in: 0..<3000, using: &generator), seed: UInt64(step))
                store.putSurely(Sample.response(name, body: body, date: 1_700_000_000 + Int64(step)))
                expected[name] = body
            default:
                let name = "f\(Int.random(in: 0..<4, using: &generator))/\(Int.random(in: 0..<12, using: &generator))"
                let found = store.find(Sample.key(name)).flatMap { store.wholeBody($0) }
                #expect(found == expected[name], "step \(step), \(name)")
            }
        }
        store.drain()
        for folder in 0..<4 {
            for number in 0..<12 {
                let name = "f\(folder)/\(number)"
                #expect(store.find(Sample.key(name)).flatMap { store.wholeBody($0) } == expected[name], "\(name)")
            }
        }
    }

    @Test("A purge is rejected if too many are active")
    func boundsPurges() {
        let marks = PurgeMarks()
        var taken = 0
        for _ in 0..<100 where marks.publish(.keys([[1]]), isSoft: false, at: Self.now, makeRow: { 5 }) != nil { taken += 1 }
        #expect(taken == PurgeMarks.activeLimit)
        for purge in marks.active { marks.retire(purge) }
        for _ in 0..<1000 {
            guard let purge = marks.publish(.keys([[1]]), isSoft: false, at: Self.now, makeRow: { 5 }) else { break }
            marks.retire(purge)
        }
        // So long ago that its number is forgotten.
        #expect(marks.left(of: Sample.response("x", body: []), since: 3) == nil)
        #expect(marks.mayCover(key: [9], since: 3))
        #expect(!marks.mayCover(key: [9], since: marks.latest - 1))
        #expect(marks.mayCover(key: [1], since: marks.latest - 1))
    }
}

/// A purge that was acknowledged.
final class PurgeUnderWay: Sendable {
    let inEffect = Answer<Void>()
    let end = Answer<Int?>()

    func take(_ progress: PurgeProgress) {
        switch progress {
        case .inEffect: inEffect.set(())
        case .done(let count): end.set(count)
        case .interrupted: end.set(nil)
        }
    }

    func done() -> Int? { end.wait() }
}

extension ResponseStore {
    /// Returns with the acknowledgment.
    func purgeNow(_ request: PurgeRequest, isSoft: Bool = false) -> PurgeUnderWay {
        let purge = PurgeUnderWay()
        precondition(self.purge(request, isSoft: isSoft, at: PurgeTests.now) { purge.take($0) })
        purge.inEffect.wait()
        return purge
    }
}

extension Sample {
    static func fresh(_ name: String, requested: Int64 = 1_700_000_000) -> StoredResponse {
        var facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: requested))
        facts.freshnessLifetime = DeltaSeconds(3600)
        facts.lifetimeSource = .maxAge
        return StoredResponse(
            key: key(name), nominatedFields: [], facts: facts, head: ResponseHead(), requestTime: Timestamp(seconds: requested),
            body: .bytes([7]), tags: ["t"])
    }
}
