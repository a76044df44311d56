import EventLoop
import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("Bodies on their way while others fill the memory")
struct PressedFillingTests {
    /// What no thread serves: the writer comes when the test calls it.
    private let core: StoreCore

    init() {
        var configuration = StoreConfiguration(path: "/nowhere/larder.db")
        configuration.limits.fillingBytes = 1 << 20
        core = StoreCore(configuration, secret: [UInt8](repeating: 7, count: KeyHasher.secretLength), nextRow: 1)
    }

    private func begin(isStoring: Bool = true, isPart: Bool = false) -> Filling {
        let response = Sample.response("pressed", body: [], etag: true)
        let plan = FillingPlan(response: response, length: nil, part: isPart ? (start: 0, whole: 8 << 20) : nil)
        let hash = core.memory.hasher.hash(response.key)
        return Filling(
            plan, row: 1, keyHash: hash, core: core, isStoring: isStoring, since: core.memory.moment(hash))
    }

    /// The bodies of others, which take all the memory there is.
    private func makeOthers() -> BodyChunk { BodyChunk(capacity: 2 << 20, budget: core.fillingBudget) }

    private func appendUntilPause(_ filling: Filling) -> UInt64 {
        while filling.append(piece.span) == .proceed {}
        return filling.length
    }

    private let piece = Sample.bytes(Chunk.length, seed: 1)

    /// Whether a fetch that paused has been told to go on.
    private final class Waking: Sendable {
        private let value = Guarded(false)

        init(_ filling: Filling) { filling.whenReady { [self] in value.withLock { $0 = true } } }

        var isAwake: Bool { value.withLock { $0 } }
    }

    @Test("A body that paused goes on where the others made room before the writer came", arguments: [true, false])
    func goesOnWithoutCommit(hasReader: Bool) {
        let filling = begin()
        let reader = hasReader ? filling.attach() : nil
        var others: BodyChunk? = makeOthers()
        let length = appendUntilPause(filling)
        _ = reader?.read(at: length)
        let waking = Waking(filling)
        #expect(!waking.isAwake)
        withExtendedLifetime(others) {}
        others = nil
        if case .run = filling.takeWork() { Issue.record("a run without need") }
        #expect(waking.isAwake)
    }

    @Test("A body that paused for its reader, and then for the others, is written so that it goes on", arguments: [true, false])
    func goesOnAfterReader(othersMakeRoom: Bool) throws {
        let filling = begin(isPart: true)
        let reader = try #require(filling.attach())
        let length = appendUntilPause(filling)
        #expect(core.queue.count.operations == 0)
        let waking = Waking(filling)
        var others: BodyChunk? = makeOthers()
        _ = reader.read(at: length)
        #expect(!waking.isAwake)
        #expect(core.queue.count.operations == 1)
        if othersMakeRoom {
            withExtendedLifetime(others) {}
            others = nil
        }
        if case .run(let run) = filling.takeWork() { filling.didCommit(run) }
        #expect(waking.isAwake)
        withExtendedLifetime(others) {}
    }

    @Test("A body that is not stored goes on once the others have made room, though its slowest reader does not move")
    func goesOnUnstored() throws {
        let filling = begin(isStoring: false)
        let slow = try #require(filling.attach())
        let fast = try #require(filling.attach())
        var others: BodyChunk? = makeOthers()
        let length = appendUntilPause(filling)
        _ = fast.read(at: length)
        let waking = Waking(filling)
        withExtendedLifetime(others) {}
        others = nil
        filling.lookAfter(now: Clock.monotonicMilliseconds())
        #expect(waking.isAwake)
        withExtendedLifetime(slow) {}
    }

    @Test("A writer that does not come ends the storing of a body that paused with little in memory")
    func endsStoring() {
        let filling = begin()
        let others = makeOthers()
        _ = appendUntilPause(filling)
        let waking = Waking(filling)
        filling.lookAfter(now: Clock.monotonicMilliseconds() + 60_000)
        #expect(!filling.isStoring)
        #expect(waking.isAwake)
        withExtendedLifetime(others) {}
    }
}
