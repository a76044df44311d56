import EventLoop
import Foundation
import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import ResponseStore

@Suite("A file of another process, read below the memory tier")
struct ReadOnlyBackingStoreTests {
    private static func behind(
        _ fixture: StoreFixture, _ adjust: (inout StoreConfiguration) -> Void = { _ in }
    ) throws -> ResponseStore {
        try fixture.open {
            $0.access = .readOnlyBackingStore
            adjust(&$0)
        }
    }

    /// In chunks on disk, longer than the limit for memory in these tests.
    private static let largeBody = Sample.bytes(700_000, seed: 3)

    private static func fillLarge(_ store: ResponseStore, _ name: String, _ body: [UInt8] = largeBody) throws {
        let plan = PendingPlan(response: Sample.response(name, body: []), length: UInt64(body.count))
        let pending = try #require(store.beginSurely(plan))
        PendingResponseTests.fill(pending, body, pieceLength: 100_000)
        pending.finish()
        _ = store.outcome(of: pending)
        store.drain()
    }

    private static func files(_ fixture: StoreFixture) -> [Data?] {
        ["", "-wal"].map { FileManager.default.contents(atPath: fixture.path + $0) }
    }

    @Test("Responses in the file are served, small and large, and so are those that its owner stores later")
    func servesFile() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        owner.putSurely(Sample.response("small", body: [1, 2, 3]))
        owner.putSurely(Sample.response("chunks", body: Sample.bytes(300_000, seed: 2)))
        try Self.fillLarge(owner, "large")
        let store = try Self.behind(fixture) { $0.memoryBodyLimit = 400_000 }
        #expect(store.find(Sample.key("small")).flatMap { store.wholeBody($0) } == [1, 2, 3])
        #expect(store.find(Sample.key("chunks")).flatMap { store.wholeBody($0) } == Sample.bytes(300_000, seed: 2))
        let large = try #require(store.find(Sample.key("large")))
        #expect(large.isOnDisk && store.wholeBody(large) == Self.largeBody)
        #expect(store.find(Sample.key("later")) == nil)
        owner.putSurely(Sample.response("later", body: [4]))
        owner.drain()
        #expect(store.find(Sample.key("later")).flatMap { store.wholeBody($0) } == [4])
        // Found before, it needs no read of the file.
        if case .found = store.memoryAnswer(Sample.key("small")) {} else { Issue.record("it stands in memory") }
        #expect(store.memoryAnswer(Sample.key("large")).isUnknown)
        store.shutdown()
        owner.shutdown()
    }

    @Test("New responses are in memory only, and the file and its log are not written")
    func keepsNewInMemory() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        owner.putSurely(Sample.response("old", body: [1]))
        owner.drain()
        let before = Self.files(fixture)
        let store = try Self.behind(fixture)
        store.putSurely(Sample.response("new", body: [2]))
        store.putSurely(Sample.response("old", body: [3], date: 1_700_000_100))
        try Self.fillLarge(store, "large")
        for name in ["new", "old", "large"] { #expect(store.find(Sample.key(name))?.isOnDisk == false, "\(name)") }
        #expect(store.find(Sample.key("old")).flatMap { store.wholeBody($0) } == [3])
        store.invalidate([Sample.key("new")])
        store.shutdown()
        #expect(Self.files(fixture) == before)
        #expect(owner.find(Sample.key("old")).flatMap { owner.wholeBody($0) } == [1])
        #expect(owner.lookUpNow(Sample.key("new")).isAbsent)
        owner.shutdown()
        let again = try fixture.open()
        #expect(again.lookUpNow(Sample.key("large")).isAbsent)
        #expect(fixture.seenNotices.isEmpty)
    }

    @Test("No lock is taken: a process that opens the store as its owner succeeds, or learns which process has it")
    func takesNoLock() throws {
        let fixture = StoreFixture()
        #expect(throws: StoreError.self) { try Self.behind(fixture) }
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
        let first = try fixture.open()
        first.putSurely(Sample.response("x", body: [1]))
        first.drain()
        #expect(throws: StoreError(.lockedByProcess(getpid()), path: "", message: "")) { _ = try fixture.open() }
        let store = try Self.behind(fixture)
        let other = try Self.behind(fixture)
        first.shutdown()
        let second = try fixture.open()
        for reader in [store, other] { #expect(reader.find(Sample.key("x")) != nil) }
        second.shutdown()
    }

    @Test("Responses fetched, invalidated or removed here hide those in the file, even after memory has evicted them")
    func hidesWhatIsOutOfDate() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        let names = ["fetched", "invalidated", "removed", "kept"]
        for name in names { owner.putSurely(Sample.response(name, body: [1])) }
        owner.drain()
        // Memory has no space for anything.
        let store = try Self.behind(fixture) { $0.memory = .init(high: 0, low: 0) }
        for name in names { #expect(store.find(Sample.key(name)) != nil) }
        store.putSurely(Sample.response("fetched", body: [2], date: 1_700_000_100))
        store.invalidate([Sample.key("invalidated")])
        store.remove(try #require(store.find(Sample.key("removed"))))
        for name in names.dropLast() {
            #expect(store.memoryAnswer(Sample.key(name)).isAbsent && store.lookUpNow(Sample.key(name)).isAbsent, "\(name)")
        }
        #expect(store.find(Sample.key("kept")).flatMap { store.wholeBody($0) } == [1])
    }

    @Test("A lookup that is in progress when the key changes returns the new response")
    func looksAgain() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        for number in 0..<200 { owner.putSurely(Sample.response("x\(number)", body: [1])) }
        owner.drain()
        let store = try Self.behind(fixture)
        for number in 0..<200 {
            let key = Sample.key("x\(number)")
            let answer = Answer<LookUpResult>()
            store.lookUp(key) { answer.set($0) }
            store.putSurely(Sample.response("x\(number)", body: [2], date: 1_700_000_100))
            _ = answer.wait()
            #expect(store.find(key).flatMap { store.wholeBody($0) } == [2])
        }
    }

    @Test("A 304 freshens a response in the file: memory then has the head, and the body is available as long as its row")
    func freshens() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        owner.putSurely(Sample.response("small", body: [1]))
        try Self.fillLarge(owner, "large")
        let store = try Self.behind(fixture) { $0.memoryBodyLimit = 400_000 }
        for name in ["small", "large"] {
            let content = name == "small" ? [1] : Self.largeBody
            for date: Int64 in [1_700_000_500, 1_700_000_600] {
                let old = try #require(store.find(Sample.key(name)))
                let fresh = Sample.response(name, body: content, date: date, field: "fresh")
                store.freshen(old, as: fresh.placed(body: old.body, row: old.row))
                let found = try #require(store.find(Sample.key(name)))
                #expect(found.responseTime == Timestamp(seconds: date), "\(name)")
                #expect(store.wholeBody(found) == content)
            }
        }
        owner.remove(try #require(owner.find(Sample.key("large"))))
        owner.drain()
        #expect(store.find(Sample.key("large")) == nil)
    }

    @Test("Variants of which only some fit into memory are freshened separately, and those in the file are no longer used")
    func freshensVariants() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        let bodies = ["a": Sample.bytes(300_000, seed: 5), "b": Sample.bytes(300_000, seed: 6)]
        for (name, body) in bodies { owner.putSurely(Sample.response("x", body: body, nominated: name)) }
        owner.drain()
        let store = try Self.behind(fixture) { $0.memoryBodyLimit = 400_000 }
        guard case .found(let variants) = store.lookUpNow(Sample.key("x")) else {
            Issue.record("they stand in the file")
            return
        }
        #expect(variants.responses.count { $0.isOnDisk } == 1 && variants.responses.count == 2)
        for old in variants.responses {
            let name = String(decoding: old.nominatedFields, as: UTF8.self)
            let fresh = Sample.response("x", body: bodies[name] ?? [], nominated: name, date: 1_700_000_500)
            store.freshen(old, as: fresh.placed(body: old.body, row: old.row))
        }
        guard case .found(let freshened) = store.lookUpNow(Sample.key("x")) else {
            Issue.record("they are stored")
            return
        }
        #expect(freshened.responses.count == 2)
        for found in freshened.responses {
            #expect(found.responseTime == Timestamp(seconds: 1_700_000_500))
            #expect(store.wholeBody(found) == bodies[String(decoding: found.nominatedFields, as: UTF8.self)])
        }
    }

    @Test("A response that was freshened and evicted from memory, or removed, does not return from the file in its old form")
    func forgetsFreshened() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        for name in ["let go", "removed", "invalidated"] { try Self.fillLarge(owner, name) }
        let store = try Self.behind(fixture) { $0.memoryBodyLimit = 400_000 }
        let roomless = try Self.behind(fixture) { $0.memory = .init(high: 0, low: 0) }
        func freshen(_ name: String, in store: ResponseStore, since: StoreEpoch? = nil) throws {
            let old = try #require(store.find(Sample.key(name)))
            let fresh = Sample.response(name, body: Self.largeBody, date: 1_700_000_500)
            if name == "removed" { store.remove(old) }
            if name == "invalidated" { store.invalidate([Sample.key(name)]) }
            store.freshen(old, as: fresh.placed(body: old.body, row: old.row), since: since)
            #expect(store.find(Sample.key(name)) == nil, "\(name)")
        }
        try freshen("let go", in: roomless)
        try freshen("removed", in: store)
        try freshen("invalidated", in: store, since: store.moment(of: Sample.key("invalidated")))
    }

    @Test("A body whose row was deleted or reused is not read, however the rows are numbered")
    func knowsBodiesAgain() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        try Self.fillLarge(owner, "large")
        let store = try Self.behind(fixture) { $0.memoryBodyLimit = 400_000 }
        guard case .onDisk(let body)? = store.find(Sample.key("large"))?.body else {
            Issue.record("it stands in the file")
            return
        }
        #expect(store.readNow(body, at: 0).isGood && store.readNow(body, at: 131_072).isGood)
        owner.remove(try #require(owner.find(Sample.key("large"))))
        owner.drain()
        // The next response gets the freed row id, once the owner has been restarted.
        owner.shutdown()
        let next = try fixture.open { $0.memoryBodyLimit = 400_000 }
        try Self.fillLarge(next, "other", Sample.bytes(700_000, seed: 4))
        guard case .onDisk(let reused)? = next.find(Sample.key("other"))?.body else {
            Issue.record("it stands in the file")
            return
        }
        #expect(reused.id == body.id, "the test rests on it")
        #expect(next.readNow(reused, at: 131_072).isGood)
        #expect(!store.readNow(body, at: 131_072).isGood)
        #expect(store.find(Sample.key("large")) == nil)
        #expect(store.find(Sample.key("other")).flatMap { store.wholeBody($0) } == Sample.bytes(700_000, seed: 4))
    }

    @Test("A file that another one has replaced is abandoned: memory continues alone, which is reported once")
    func leavesOtherFile() throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        owner.putSurely(Sample.response("x", body: [1]))
        owner.drain()
        let store = try Self.behind(fixture)
        owner.shutdown()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.path + suffix) }
        let other = try fixture.open()
        other.putSurely(Sample.response("x", body: [2]))
        other.drain()
        #expect(store.find(Sample.key("x")) == nil && store.find(Sample.key("x")) == nil)
        store.putSurely(Sample.response("y", body: [3]))
        #expect(store.find(Sample.key("y")) != nil && store.memoryAnswer(Sample.key("x")).isAbsent)
        let left = fixture.seenNotices.filter { if case .fileLeft = $0 { true } else { false } }
        #expect(left.count == 1)
    }

    @Test("If too many keys are out of date, the file is no longer used", arguments: [63, 64 * 20])
    func boundsHidden(limit: Int) throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        owner.putSurely(Sample.response("kept", body: [1]))
        owner.drain()
        let store = try Self.behind(fixture) { $0.limits.hiddenKeys = limit }
        store.putSurely(Sample.response("one", body: [2]))
        let isOver = limit < 64
        #expect(store.memoryAnswer(Sample.key("kept")).isAbsent == isOver)
        #expect((store.find(Sample.key("kept")) == nil) == isOver)
        for number in 0..<(isOver ? 0 : 64 * 40) { store.invalidate([Sample.key("n\(number)")]) }
        #expect(store.memoryAnswer(Sample.key("never seen")).isAbsent)
    }

    @Test(
        "A response covered by a purge here is not served from the file; a purge that may match anything abandons the file",
        arguments: [true, false])
    func purges(byKey: Bool) throws {
        let fixture = StoreFixture()
        let owner = try fixture.open()
        for name in ["purged", "kept"] { owner.putSurely(Sample.response(name, body: [1])) }
        owner.drain()
        let store = try Self.behind(fixture)
        let done = Answer<Void>()
        let request: PurgeRequest = byKey ? .keys([Sample.key("purged")]) : .matching(StoreFilter())
        store.purge(request, at: PurgeTests.now) { if case .done = $0 { done.set(()) } }
        done.wait()
        #expect(store.find(Sample.key("purged")) == nil)
        #expect((store.find(Sample.key("kept")) == nil) == !byKey)
        #expect(owner.find(Sample.key("purged")) != nil)
    }

    @Test("A response that the owner has purged and not yet deleted is not served")
    func heedsOwnersPurges() throws {
        let fixture = StoreFixture()
        let owner = try fixture.openKnowing()
        owner.putSurely(Sample.response("x", body: [1]))
        owner.drain()
        let store = try Self.behind(fixture)
        let (held, released, done) = (Answer<Void>(), Answer<Void>(), Answer<Void>())
        owner.purge(.matching(StoreFilter()), at: PurgeTests.now) { progress in
            switch progress {
            case .inEffect:
                held.set(())
                released.wait()
            case .done, .interrupted: done.set(())
            }
        }
        held.wait()
        let isServed = store.find(Sample.key("x")) != nil
        released.set(())
        done.wait()
        #expect(!isServed)
    }

    @Test("While another process stores and evicts continuously, and after it is killed, the responses found are correct")
    func readsBesideOwner() throws {
        let fixture = StoreFixture()
        let owner = Process()
        owner.executableURL = Torture.program
        owner.arguments = ["churn", fixture.path]
        let pipe = Pipe()
        owner.standardOutput = pipe
        let listener = CrashTests.Listener()
        pipe.fileHandleForReading.readabilityHandler = { listener.take($0.availableData) }
        try owner.run()
        try eventually { listener.last >= 400 }
        let reader = Process()
        reader.executableURL = Torture.program
        reader.arguments = ["behind", fixture.path]
        let said = Pipe()
        reader.standardOutput = said
        let looks = CrashTests.Listener()
        said.fileHandleForReading.readabilityHandler = { looks.take($0.availableData) }
        try reader.run()
        // It has looked up often while the owner stores, and continues after the owner's end.
        try eventually { looks.last >= 300 }
        kill(owner.processIdentifier, SIGKILL)
        owner.waitUntilExit()
        pipe.fileHandleForReading.readabilityHandler = nil
        let before = looks.last
        try eventually { looks.last >= before + 100 }
        kill(reader.processIdentifier, SIGTERM)
        reader.waitUntilExit()
        said.fileHandleForReading.readabilityHandler = nil
        #expect(reader.terminationStatus == 0, "\(looks.text)")
        // The file is intact for the next process, and each of its bytes is the owner's.
        let (status, verified) = try Torture.run("verify", fixture.path, "-1")
        #expect(status == 0, "\(verified)")
    }
}

extension MemoryAnswer {
    fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }
    fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}

extension LookUpResult {
    fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}

extension BodyReadResult {
    var isGood: Bool { if case .bytes = self { true } else { false } }
}
