import EventLoop
import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("Bodies on their way while others fill the memory")
struct PressedPendingTests {
    /// What no thread serves: the writer comes when the test calls it.
    private let core: StoreCore

    init() {
        var configuration = StoreConfiguration(path: "/nowhere/larder.db")
        configuration.limits.pendingBytes = 1 << 20
        core = StoreCore(configuration, secret: [UInt8](repeating: 7, count: KeyHasher.secretLength), nextRow: 1)
    }

    private func begin(isStoring: Bool = true, isPart: Bool = false) -> PendingResponse {
        let response = Sample.response("pressed", body: [], etag: true)
        let plan = PendingPlan(response: response, length: nil, part: isPart ? (start: 0, whole: 8 << 20) : nil)
        let hash = core.memory.hasher.hash(response.key)
        return PendingResponse(
            plan, row: 1, keyHash: hash, core: core, isStoring: isStoring, since: core.memory.moment(hash))
    }

    /// The bodies of others, which take all the memory there is.
    private func makeOthers() -> BodyChunk { BodyChunk(capacity: 2 << 20, budget: core.pendingBudget) }

    private func appendUntilPause(_ pending: PendingResponse) -> UInt64 {
        while pending.append(piece.span) == .proceed {}
        return pending.length
    }

    private let piece = Sample.bytes(Chunk.length, seed: 1)

    /// Whether a fetch that paused has been told to go on.
    private final class Waking: Sendable {
        private let value = Guarded(false)

        init(_ pending: PendingResponse) { pending.whenReady { [self] in value.withLock { $0 = true } } }

        var isAwake: Bool { value.withLock { $0 } }
    }

    @Test("A body that paused goes on where the others made room before the writer came", arguments: [true, false])
    func goesOnWithoutCommit(hasReader: Bool) {
        let pending = begin()
        let reader = hasReader ? pending.attach() : nil
        var others: BodyChunk? = makeOthers()
        let length = appendUntilPause(pending)
        _ = reader?.read(at: length)
        let waking = Waking(pending)
        #expect(!waking.isAwake)
        withExtendedLifetime(others) {}
        others = nil
        if case .run = pending.takeWork() { Issue.record("a run without need") }
        #expect(waking.isAwake)
    }

    @Test("A body that paused for its reader, and then for the others, is written so that it goes on", arguments: [true, false])
    func goesOnAfterReader(othersMakeRoom: Bool) throws {
        let pending = begin(isPart: true)
        let reader = try #require(pending.attach())
        let length = appendUntilPause(pending)
        #expect(core.queue.count.operations == 0)
        let waking = Waking(pending)
        var others: BodyChunk? = makeOthers()
        _ = reader.read(at: length)
        #expect(!waking.isAwake)
        #expect(core.queue.count.operations == 1)
        if othersMakeRoom {
            withExtendedLifetime(others) {}
            others = nil
        }
        if case .run(let run) = pending.takeWork() { pending.didCommit(run) }
        #expect(waking.isAwake)
        withExtendedLifetime(others) {}
    }

    @Test("A body that is not stored goes on once the others have made room, though its slowest reader does not move")
    func goesOnUnstored() throws {
        let pending = begin(isStoring: false)
        let slow = try #require(pending.attach())
        let fast = try #require(pending.attach())
        var others: BodyChunk? = makeOthers()
        let length = appendUntilPause(pending)
        _ = fast.read(at: length)
        let waking = Waking(pending)
        withExtendedLifetime(others) {}
        others = nil
        pending.lookAfter(now: Clock.monotonicMilliseconds())
        #expect(waking.isAwake)
        withExtendedLifetime(slow) {}
    }

    @Test("A writer that does not come ends the storing of a body that paused with little in memory")
    func endsStoring() {
        let pending = begin()
        let others = makeOthers()
        _ = appendUntilPause(pending)
        let waking = Waking(pending)
        pending.lookAfter(now: Clock.monotonicMilliseconds() + 60_000)
        #expect(!pending.isStoring)
        #expect(waking.isAwake)
        withExtendedLifetime(others) {}
    }
}
