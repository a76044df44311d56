import Foundation
import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import ResponseStore

@Suite("Storing and finding responses")
struct ResponseStoreTests {
    @Test("A lookup copies its key into memory, whatever the capacity of the caller's key")
    func trimsKeys() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        store.putSurely(Sample.response("k", body: [1]))
        store.shutdown()
        store = try fixture.open()
        var key = Sample.key("k")
        key.reserveCapacity(10_000)
        guard case .found = store.lookUpNow(key), case .found(let variants) = store.memoryAnswer(key) else {
            Issue.record("not found")
            return
        }
        #expect(variants.key == key && variants.key.capacity < 100)
    }

    @Test(
        "A response is found as it was stored, in memory and in the file",
        arguments: [0, 1, 1024, 16 << 10, 16 << 10 + 1, 300_000])
    func roundTrip(length: Int) throws {
        let fixture = StoreFixture()
        let body = Sample.bytes(length, seed: 1)
        var store = try fixture.open()
        let original = Sample.response("a", body: body)
        guard case .accepted(let placed) = store.put(original) else {
            Issue.record("busy")
            return
        }
        #expect(placed.row > 0)
        let inMemory = try #require(store.find(original.key))
        #expect(store.wholeBody(inMemory) == body)
        store.shutdown()

        store = try fixture.open()
        let found = try #require(store.find(original.key))
        #expect(store.wholeBody(found) == body)
        #expect(found.facts == original.facts)
        #expect(found.preparedHead == original.preparedHead)
        #expect(found.requestTime == original.requestTime)
        #expect(found.row == placed.row)
        // Promoted: the second time memory has it.
        guard case .found = store.memoryAnswer(original.key) else {
            Issue.record("not promoted")
            return
        }
        #expect(store.statistics.entries == 1)
        store.shutdown()
    }

    @Test("Variants exist side by side; a new one replaces its own variant; one without Vary is a separate variant")
    func variants() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        _ = store.put(Sample.response("v", body: [1], nominated: "a", date: 1_700_000_001))
        _ = store.put(Sample.response("v", body: [2], nominated: "b", date: 1_700_000_002))
        _ = store.put(Sample.response("v", body: [3], nominated: "a", date: 1_700_000_003))
        store.drain()
        #expect(store.statistics.entries == 2)
        guard case .found(let variants) = store.lookUpNow(Sample.key("v")) else {
            Issue.record("not found")
            return
        }
        #expect(variants.isComplete)
        #expect(variants.responses.map { store.wholeBody($0) } == [[3], [2]])
        _ = store.put(Sample.response("v", body: [4], date: 1_700_000_004))
        store.drain()
        _ = store.put(Sample.response("v", body: [5], date: 1_700_000_005))
        store.drain()
        #expect(store.statistics.entries == 3)
        guard case .found(let all) = store.lookUpNow(Sample.key("v")) else {
            Issue.record("not found")
            return
        }
        #expect(all.responses.map { store.wholeBody($0) } == [[5], [3], [2]])
    }

    @Test("A key keeps at most 32 variants")
    func boundsVariants() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for number in 0..<50 { store.putSurely(Sample.response("v", body: [UInt8(number)], nominated: "\(number)")) }
        store.drain()
        #expect(store.statistics.entries == 32)
        guard case .found(let variants) = store.lookUpNow(Sample.key("v")) else {
            Issue.record("not found")
            return
        }
        #expect(variants.responses.count == 32)
    }

    @Test("A freshened response keeps its body and has its new head, in memory and in the file")
    func freshens() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        let body = Sample.bytes(200_000, seed: 3)
        guard case .accepted(let old) = store.put(Sample.response("f", body: body)) else {
            Issue.record("busy")
            return
        }
        let new = Sample.response("f", body: body, date: 1_700_009_999, field: "fresh").placed(body: .bytes(body), row: old.row)
        store.freshen(old, as: new)
        #expect(store.find(new.key)?.facts == new.facts)
        store.shutdown()
        store = try fixture.open()
        let found = try #require(store.find(new.key))
        #expect(found.facts == new.facts)
        #expect(found.preparedHead == new.preparedHead)
        #expect(store.wholeBody(found) == body)
    }

    @Test(
        "A body longer than the limit for memory leaves memory once it is written, also beside other variants",
        arguments: ["", "en"])
    func leavesLongBodiesToTheDisk(nominated: String) throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.memoryBodyLimit = 100_000 }
        let (long, short) = (Sample.bytes(100_001, seed: 1), Sample.bytes(100_000, seed: 2))
        if !nominated.isEmpty { _ = store.put(Sample.response("a", body: [1], nominated: "de")) }
        _ = store.put(Sample.response("a", body: long, nominated: nominated))
        _ = store.put(Sample.response("b", body: short))
        store.drain()
        #expect(store.statistics.memoryBytes > short.count && store.statistics.memoryBytes < short.count + 50_000)
        guard case .found(let variants) = store.memoryAnswer(Sample.key("a")) else {
            Issue.record("memory has nothing of it")
            return
        }
        #expect(variants.responses.count == (nominated.isEmpty ? 1 : 2))
        #expect(variants.responses.contains { $0.isOnDisk && store.wholeBody($0) == long })
        #expect(store.find(Sample.key("b"))?.isOnDisk == false)
    }

    @Test("An invalidated or removed response is gone at once and stays gone")
    func invalidates() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for name in ["a", "b", "c"] { _ = store.put(Sample.response(name, body: [1, 2, 3])) }
        store.drain()
        store.invalidate([Sample.key("a")])
        #expect(store.find(Sample.key("a")) == nil)
        store.remove(try #require(store.find(Sample.key("b"))))
        #expect(store.find(Sample.key("b")) == nil)
        #expect(store.find(Sample.key("c")) != nil)
        store.shutdown()
        store = try fixture.open()
        #expect(store.find(Sample.key("a")) == nil)
        #expect(store.find(Sample.key("b")) == nil)
        #expect(store.find(Sample.key("c")) != nil)
        #expect(store.statistics.entries == 1)
    }

    @Test("A response that only memory may keep permanently replaces the one on disk", arguments: [true, false])
    func displacesWhatTheDiskHas(isWritten: Bool) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for (key, nominated) in [("a", ""), ("a", "en"), ("b", "")] {
            _ = store.put(Sample.response(key, body: [1], nominated: nominated))
        }
        if isWritten { store.drain() }
        _ = store.put(Sample.response("a", body: [2], date: 1_700_009_999, flags: .noStore))
        store.drain()
        #expect(store.statistics.entries == 2)
        store.shutdown()
        store = try fixture.open()
        #expect(store.find(Sample.key("a"))?.nominatedFields == Array("en".utf8))
        #expect(store.find(Sample.key("b")) != nil)
    }

    @Test("A response that only memory may keep never reaches the file (T45)")
    func keepsNoStoreOffTheDisk() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let secret = Array("do-not-write-this-down".utf8)
        var facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 1_700_000_000))
        facts.flags.insert(.noStore)
        let response = StoredResponse(
            key: Sample.key("s"), nominatedFields: [], facts: facts, head: ResponseHead(),
            requestTime: Timestamp(seconds: 1_700_000_000), body: .bytes(secret))
        _ = store.put(response)
        let pending = try #require(
            store.beginSurely(PendingPlan(response: response.placed(body: .bytes(secret), row: 0), length: nil)))
        _ = pending.append(secret.span)
        pending.finish()
        store.drain()
        #expect(store.find(response.key) != nil)
        store.shutdown()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder) {
            let data = try Data(contentsOf: URL(filePath: fixture.folder + "/" + name))
            #expect(data.range(of: Data(secret)) == nil, "\(name)")
        }
    }

    @Test("A store in memory writes nothing to disk")
    func inMemoryOnly() throws {
        let fixture = StoreFixture()
        let store = try ResponseStore(StoreConfiguration(path: ":memory:"))
        _ = store.put(Sample.response("m", body: [9]))
        #expect(store.find(Sample.key("m")).flatMap { store.wholeBody($0) } == [9])
        guard case .absent = store.memoryAnswer(Sample.key("other")) else {
            Issue.record("a store in memory knows all its keys")
            return
        }
        let body = Sample.bytes(1 << 20, seed: 5)
        let pending = try #require(store.beginSurely(PendingPlan(response: Sample.response("large", body: []), length: nil)))
        _ = pending.append(body.span)
        pending.finish()
        let answer = Answer<PendingOutcome>()
        pending.whenStored { answer.set($0) }
        _ = answer.wait()
        #expect(store.find(Sample.key("large")).flatMap { store.wholeBody($0) } == body)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    @Test("Memory is evicted down to its low mark, and the file keeps the evicted responses")
    func evictsMemory() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.memory = .init(high: 1 << 20, low: 512 << 10) }
        for number in 0..<1000 { store.putSurely(Sample.response("e\(number)", body: Sample.bytes(4096, seed: UInt64(number)))) }
        store.drain()
        #expect(store.statistics.memoryBytes <= 5 << 18)
        #expect(store.statistics.entries == 1000)
        for number in stride(from: 0, to: 1000, by: 37) {
            let found = try #require(store.find(Sample.key("e\(number)")))
            #expect(store.wholeBody(found) == Sample.bytes(4096, seed: UInt64(number)))
        }
    }

    @Test("The file is evicted from its high mark to its low mark, oldest first")
    func evictsDisk() throws {
        let fixture = StoreFixture()
        let store = try fixture.open {
            $0.memory = .init(high: 64 << 10, low: 32 << 10)
            $0.disk = .init(high: 4 << 20, low: 2 << 20)
        }
        for number in 0..<1500 {
            store.putSurely(Sample.response("e\(number)", body: Sample.bytes(4096, seed: UInt64(number))))
        }
        // Queued responses are not counted yet.
        try eventually {
            store.drain()
            return store.statistics.bytes <= 4 << 20
        }
        let statistics = store.statistics
        #expect(statistics.evicted > 0)
        #expect(store.find(Sample.key("e0")) == nil)
        #expect(store.find(Sample.key("e1499")) != nil)
    }

    @Test("A new store reports missing keys as absent without a read, also during concurrent puts")
    func knowsAbsentKeys() async throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for number in 0..<5000 { store.putSurely(Sample.response("k\(number)", body: [1])) }
        store.shutdown()
        store = try fixture.open { $0.memory = .init(high: 256 << 10, low: 128 << 10) }
        let shared = store
        // Puts race with building the set of keys; a stored key is never absent.
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for number in 0..<500 {
                        let name = "n\(lane)-\(number)"
                        if case .busy = shared.put(Sample.response(name, body: [2])) { continue }
                        if case .absent = shared.memoryAnswer(Sample.key(name)) { Issue.record("\(name) is absent") }
                    }
                }
            }
        }
        try store.learnKeys()
        #expect(store.statistics.knowsKeys)
        for number in 0..<5000 {
            if case .absent = store.memoryAnswer(Sample.key("k\(number)")) { Issue.record("k\(number) is absent") }
        }
        var absent = 0
        for number in 0..<1000 { if case .absent = store.memoryAnswer(Sample.key("x\(number)")) { absent += 1 } }
        #expect(absent == 1000)
        store.invalidate((0..<5000).map { Sample.key("k\($0)") })
        store.drain()
        for number in 0..<5000 {
            guard case .absent = store.memoryAnswer(Sample.key("k\(number)")) else {
                Issue.record("k\(number) is not absent")
                return
            }
        }
    }
}
