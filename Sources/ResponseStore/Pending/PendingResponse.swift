import EventLoop
import HTTPCaching
import HTTPMessage

/// A response whose body is arriving: one fetch appends to it, the store writes it, and any number of clients on any loop read it.
///
/// It ends with exactly one call of `finish` or `abort`. This file has the operations of the fetch; those of readers and the writer are
/// in separate files.
package final class PendingResponse: Sendable {
    package let plan: PendingPlan
    package let row: StoredRowID
    let keyHash: KeyHash
    let core: StoreCore
    /// The epoch when its fetch began.
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
        // A client that requests parts requests the next part separately: data read ahead would be transferred twice.
        if plan.part != nil { state.lead = PendingState.partLead }
        state.lastProgress = Clock.monotonicMilliseconds()
        self.state = Guarded(state)
    }

    /// The number of bytes kept in memory for readers. At least two runs of chunks, so that one run can arrive while the other is
    /// written; the whole body if only memory keeps it.
    let window: Int

    // MARK: The fetch

    /// Appends the next bytes of the body, copying them.
    /// - Returns: whether to continue; the bytes are appended even after `pause`.
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

    /// Calls back once when the fetch may continue after `pause`; at once if it may already continue.
    package func whenReady(_ reply: Reply<FlowControl>) { whenReady { reply.send(.proceed) } }

    func whenReady(_ wake: @escaping PendingState.Wake) {
        let isReady = state.withLock { state in
            if !state.isPaused { return true }
            state.appender = wake
            return false
        }
        if isReady { wake() }
    }

    /// Ends the body, which is complete.
    /// - Returns: `false` if its length differs from the declared one: nothing is stored then, and readers get a failure.
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

    /// Stores a short body that arrived before anything was written, like one passed to `ResponseStore.put`.
    /// - Returns: `false` for any other body; nothing has happened then.
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

    /// Ends an interrupted body. The received part is kept as a partial response if the rest can be requested with a strong validator.
    package func abort() { end { $0.phase = .aborted } }

    /// Continues without the store: readers get the whole body, and nothing is stored.
    package func stopStoring(because reason: UnstoredReason = .writeFailed) { endStoring(because: reason) { $0.note() } }

    /// Stops keeping the body, even in memory.
    package func stopKeeping(because reason: UnstoredReason = .invalidated) {
        state.withLock { state in
            state.mayKeepInMemory = false
            state.noteUnstored(reason)
        }
        stopStoring(because: reason)
    }

    /// Calls back when the response can be found in the store, or will certainly not be stored.
    package func whenStored(_ reply: Reply<PendingOutcome>) { whenStored { reply.send($0) } }

    func whenStored(_ body: @escaping @Sendable (PendingOutcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.waitingForOutcome.append(body) }
            return state.outcome
        }
        if let outcome { body(outcome) }
    }

    /// The number of bytes received so far.
    package var length: UInt64 { state.withLock { $0.length } }

    /// The number of bytes that are in memory.
    package var bytesInMemory: Int { state.withLock { $0.bytesInMemory } }

    /// Whether another fetch transfers the rest of the body from some position on. At that position, a reader may switch to the other
    /// fetch, and the rest of this transfer is not needed.
    package var isOverlapped: Bool { state.withLock { $0.isOverlapped } }

    /// Notes that another fetch has begun, which transfers the rest of the body.
    func noteOverlap(by other: PendingPlan) {
        guard let otherStart = other.part?.start else { return }
        let start = plan.part?.start ?? 0
        state.withLock { state in
            let isAhead = otherStart > start + state.length && otherStart < plan.length.map { start + $0 } ?? .max
            if isAhead, state.phase == .appending { state.noteOverlap() }
        }
    }

    /// Whether more bytes have arrived than may be kept.
    package var isTooLongToKeep: Bool {
        length > min(plan.keptLength ?? .max, core.greatestBodyLength(of: plan.response))
    }

    /// The number of bytes that the writer has not taken.
    var unwrittenBytes: Int { state.withLock { $0.unwrittenBytes } }

    var isAppending: Bool { state.withLock { $0.phase == .appending && $0.storage == .storing } }

    /// Whether the writer has done all its work, and nothing is kept.
    var isDiscarded: Bool { state.withLock { $0.storage == .abandoned && $0.hasGivenLast } }

    /// Whether the body has ended, and will be available as a partial response when it is written.
    var endsInPart: Bool {
        state.withLock { $0.phase != .appending && $0.storage == .storing && (plan.part != nil || $0.phase == .aborted) }
    }

    package var isStoring: Bool { state.withLock { $0.storage != .abandoned } }

    /// Whether the response will be stored when it is complete, at least in memory.
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
            // Bytes beyond the declared length are not delivered, and nothing of the body is stored.
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

    /// The capacity of a chunk. The last chunk of a body of known length is only as large as needed.
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
