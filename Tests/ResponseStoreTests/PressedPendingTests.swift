import EventLoop
import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("Pending bodies while others fill the memory")
struct PressedPendingTests {
    /// A core without threads: the writer runs when the test calls it.
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

    /// The bodies of other responses, which use all the memory.
    private func makeOthers() -> BodyChunk { BodyChunk(capacity: 2 << 20, budget: core.pendingBudget) }

    private func appendUntilPause(_ pending: PendingResponse) -> UInt64 {
        while pending.append(piece.span) == .proceed {}
        return pending.length
    }

    private let piece = Sample.bytes(Chunk.length, seed: 1)

    /// Whether a paused fetch has been told to continue.
    private final class Waking: Sendable {
        private let value = Guarded(false)

        init(_ pending: PendingResponse) { pending.whenReady { [self] in value.withLock { $0 = true } } }

        var isAwake: Bool { value.withLock { $0 } }
    }

    @Test("A paused body continues if the others freed memory before the writer ran", arguments: [true, false])
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

    @Test(
        "A body that was paused for its reader, and then for other bodies, is written, so that it continues",
        arguments: [true, false])
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

    @Test("A body that is not stored continues once the others have freed memory, even if its slowest reader does not advance")
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

    @Test("If the writer does not run, a paused body with little in memory is no longer stored")
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
