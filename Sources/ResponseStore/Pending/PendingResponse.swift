import EventLoop
import HTTPCaching
import HTTPMessage

/// A response whose body is coming: appended to by one fetch, written by the store, read by any number of clients on any loop.
///
/// Ends with exactly one call of `finish` or `abort`. Here is what the one who fetches does; readers and the writer have files of their own.
package final class PendingResponse: Sendable {
    package let plan: PendingPlan
    package let row: StoredRowID
    let keyHash: KeyHash
    let core: StoreCore
    /// When its fetch began.
    let since: StoreEpoch
    let state: Guarded<PendingState>

    init(_ plan: PendingPlan, row: StoredRowID, keyHash: KeyHash, core: StoreCore, isStoring: Bool, since: StoreEpoch) {
        self.plan = plan
        self.row = row
        self.keyHash = keyHash
        self.core = core
        self.since = since
        let least = max(core.configuration.limits.window, 2 * Chunk.run * Chunk.length)
        let inMemory = core.configuration.memoryBodyLimit
        let isForMemory = !isStoring && plan.part == nil && plan.length ?? 0 <= UInt64(inMemory)
        window = isForMemory ? max(least, inMemory + Chunk.length) : least
        var state = PendingState()
        if !isStoring { state.storage = .abandoned }
        // Who asks for parts asks for the next one elsewhere: what is ahead would come twice.
        if plan.part != nil { state.lead = PendingState.partLead }
        state.lastProgress = Clock.monotonicMilliseconds()
        self.state = Guarded(state)
    }

    /// What it keeps in memory for readers. Two runs at least: one being written while the next one comes; all of it where memory alone keeps it.
    let window: Int

    // MARK: The one who fetches

    /// Takes in the next bytes of the body. Copies them.
    /// - Returns: Whether to go on; after `pause` the bytes are in all the same.
    package func append(_ bytes: Span<UInt8>) -> FlowControl {
        var wakes: [PendingState.Wake] = []
        let isPressed = core.pendingBudget.isExceeded
        let (flow, needsWriter) = state.withLock { state in
            guard state.phase == .appending, !bytes.isEmpty else { return (FlowControl.proceed, false) }
            copy(bytes, into: &state)
            if state.length > core.bodyLimit { state.abandon(because: .bodyTooLong) }
            if let limit = plan.keptLength, state.length > limit {
                state.mayKeepInMemory = false
                state.abandon(because: .bodyTooLong)
            }
            state.trim(window: window, isPressed: isPressed)
            let length = state.length
            state.takeReaderWakes(where: { $0.position < length }, into: &wakes)
            let needsWriter = state.noteRun(isPressed: isPressed)
            if state.mayProceed(window: window, isPressed: isPressed) { return (.proceed, needsWriter) }
            if !state.isPaused {
                state.isPaused = true
                state.lastProgress = Clock.monotonicMilliseconds()
            }
            return (.pause, needsWriter)
        }
        if needsWriter { core.queue.add(.pending(self), urgent: true) }
        for wake in wakes { wake() }
        return flow
    }

    /// Answers once when the fetch may go on after `pause`: at once where it may already.
    package func whenReady(_ reply: Reply<FlowControl>) { whenReady { reply.send(.proceed) } }

    func whenReady(_ wake: @escaping PendingState.Wake) {
        let isReady = state.withLock { state in
            if !state.isPaused { return true }
            state.appender = wake
            return false
        }
        if isReady { wake() }
    }

    /// The body has come to its end.
    /// - Returns: `false` where its length is not the announced one: nothing is stored then, and readers are told of a failure.
    @discardableResult
    package func finish(trailers: Fields = Fields()) -> Bool {
        if finishSmall(trailers: trailers) { return true }
        var isComplete = true
        end { state in
            if state.isTooLong || plan.length ?? state.length != state.length {
                isComplete = false
                state.phase = .aborted
            } else {
                state.phase = .finished
                state.trailers = trailers
            }
        }
        return isComplete
    }

    /// A body that came whole before anything was written goes the way of `ResponseStore.put`.
    private func finishSmall(trailers: Fields) -> Bool {
        var wakes: [PendingState.Wake] = []
        let body = state.withLock { state -> [UInt8]? in
            guard plan.part == nil, state.phase == .appending, state.storage == .storing, state.takenChunks == 0,
                state.chunks.count <= 1,
                state.length <= UInt64(PendingResponse.smallLength), !state.isTooLong, plan.length ?? state.length == state.length
            else { return nil }
            let body = state.chunks.first.map { chunk in chunk.withBytes(0..<chunk.count) { [UInt8]($0) } } ?? []
            state.phase = .finished
            state.storage = .stored
            state.trailers = trailers
            state.takeReaderWakes(where: { _ in true }, into: &wakes)
            state.takeAppender(window: window, isPressed: false, into: &wakes)
            return body
        }
        guard let body else { return false }
        let result = core.put(response(body: .bytes(body), trailers: trailers), isPromised: true, since: since)
        core.pendingResponses.remove(self)
        for wake in wakes { wake() }
        if case .accepted(let response) = result { didEnd(.stored(response)) } else { didEnd(.notStored, isCounted: true) }
        return true
    }

    private static let smallLength = 64 << 10

    /// The response as it is stored, with its body and trailers.
    func response(body: StoredBody, trailers: Fields) -> StoredResponse {
        let plan = plan.response
        return StoredResponse(
            key: plan.key, nominatedFields: plan.nominatedFields, facts: plan.facts, head: plan.head,
            requestTime: plan.requestTime, body: body, trailers: StoredHead.held(trailers), tags: plan.tags,
            chain: plan.chain, row: row,
            variantLimit: plan.variantLimit)
    }

    /// The body broke off. What came is kept as a partial response where the rest can be asked for by a strong validator.
    package func abort() { end { $0.phase = .aborted } }

    /// Goes on without the store: readers are served to the end, and nothing is kept.
    package func stopStoring(because reason: UnstoredReason = .writeFailed) { endStoring(because: reason) { $0.note() } }

    /// What comes may not be kept any more, in memory neither.
    package func stopKeeping(because reason: UnstoredReason = .invalidated) {
        state.withLock { state in
            state.mayKeepInMemory = false
            state.noteUnstored(reason)
        }
        stopStoring(because: reason)
    }

    /// Answers when the response can be found in the store, or certainly never will be.
    package func whenStored(_ reply: Reply<PendingOutcome>) { whenStored { reply.send($0) } }

    func whenStored(_ body: @escaping @Sendable (PendingOutcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.waitingForOutcome.append(body) }
            return state.outcome
        }
        if let outcome { body(outcome) }
    }

    /// What has come so far.
    package var length: UInt64 { state.withLock { $0.length } }

    /// What of it stands in memory.
    package var bytesInMemory: Int { state.withLock { $0.bytesInMemory } }

    /// Another fetch brings the rest of it from some place on: whoever reads this one may leave it there, and nobody else needs that rest of it.
    package var isOverlapped: Bool { state.withLock { $0.isOverlapped } }

    /// The other has begun.
    func noteOverlap(by other: PendingPlan) {
        guard let otherStart = other.part?.start else { return }
        let start = plan.part?.start ?? 0
        state.withLock { state in
            let isAhead = otherStart > start + state.length && otherStart < plan.length.map { start + $0 } ?? .max
            if isAhead, state.phase == .appending { state.noteOverlap() }
        }
    }

    /// More has come than is to be kept.
    package var isTooLongToKeep: Bool {
        length > min(plan.keptLength ?? .max, core.greatestBodyLength(of: plan.response))
    }

    /// Of that, what the writer has not taken.
    var unwrittenBytes: Int { state.withLock { $0.unwrittenBytes } }

    var isAppending: Bool { state.withLock { $0.phase == .appending && $0.storage == .storing } }

    /// The writer has taken all there was to do, and nothing of it is kept.
    var isDiscarded: Bool { state.withLock { $0.storage == .abandoned && $0.hasGivenLast } }

    /// All has come that will, and once it is written it can be found as a part.
    var endsInPart: Bool {
        state.withLock { $0.phase != .appending && $0.storage == .storing && (plan.part != nil || $0.phase == .aborted) }
    }

    package var isStoring: Bool { state.withLock { $0.storage != .abandoned } }

    /// When it has come whole it is stored, be it in memory alone.
    package var isToBeKept: Bool {
        let limit = UInt64(core.configuration.memoryBodyLimit)
        return state.withLock { state in
            if state.storage != .abandoned { return true }
            return state.mayKeepInMemory && state.isWhole && plan.part == nil && plan.length.map { $0 <= limit } != false
        }
    }

    // MARK: Under the lock

    private func copy(_ bytes: Span<UInt8>, into state: inout PendingState) {
        var offset = 0
        var count = bytes.count
        if let length = plan.length, UInt64(count) > length - state.length {
            // Nobody is given what comes beyond the announced end, and nothing of it is stored.
            state.isTooLong = true
            count = Int(length - state.length)
        }
        while offset < count {
            if state.chunks.last?.isFull ?? true {
                let number = state.firstChunk + state.chunks.count
                let chunk = BodyChunk(capacity: chunkCapacity(number), budget: core.pendingBudget)
                state.chunks.append(chunk)
                state.bytesInMemory += chunk.capacity
            }
            offset += state.chunks[state.chunks.count - 1].append(bytes, in: offset..<count)
        }
        state.length += UInt64(count)
    }

    /// The last chunk of a body of known length need not be larger than that.
    private func chunkCapacity(_ number: Int) -> Int {
        guard let length = plan.length else { return Chunk.length }
        let start = UInt64(number) * UInt64(Chunk.length)
        return length > start ? Int(min(length - start, UInt64(Chunk.length))) : Chunk.length
    }

    private func end(_ change: (inout PendingState) -> Void) {
        var wakes: [PendingState.Wake] = []
        state.withLock { state in
            guard state.phase == .appending else { return }
            change(&state)
            state.takeReaderWakes(where: { _ in true }, into: &wakes)
            state.takeAppender(window: window, isPressed: false, into: &wakes)
            state.isQueued = true
        }
        core.queue.add(.pending(self), urgent: false)
        for wake in wakes { wake() }
    }
}
