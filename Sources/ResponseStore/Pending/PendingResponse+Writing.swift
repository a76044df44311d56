import HTTPCaching
import HTTPMessage

/// Operations for the store's writer, on its thread.
extension PendingResponse {
    /// The next work for the writer, or `nil`.
    func takeWork() -> PendingWork? {
        var wakes: [PendingState.Wake] = []
        defer { for wake in wakes { wake() } }
        let isPressed = core.pendingBudget.isExceeded
        return state.withLock { state in
            state.isQueued = false
            switch (state.storage, state.phase) {
            case (.stored, _): return nil
            case (.abandoned, .appending): return nil
            case (.abandoned, .finished) where mayKeepInMemory(state):
                state.mayKeepInMemory = false
                return .keepInMemory(state.chunks, trailers: state.trailers)
            case (.abandoned, _):
                guard !state.hasGivenLast, state.readers.isEmpty || !state.mayHaveRow else { return nil }
                state.hasGivenLast = true
                return .discard
            case (.storing, .appending):
                let count = state.untakenChunks
                guard count >= Chunk.run || (isPressed && count > 0) else {
                    // The memory whose lack caused the pause may be free by now, and no commit will wake the fetch.
                    state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
                    return nil
                }
                return .run(state.takeRun(count: min(count, Chunk.run)))
            case (.storing, .finished), (.storing, .aborted):
                return state.hasGivenLast ? nil : takeLast(&state)
            }
        }
    }

    /// Notes that a run of chunks was committed.
    func didCommit(_ run: PendingRun) {
        var wakes: [PendingState.Wake] = []
        let isPressed = core.pendingBudget.isExceeded
        let needsWriter = state.withLock { state in
            state.committed = run.end
            state.lastProgress = Clock.monotonicMilliseconds()
            state.trim(window: window, isPressed: isPressed)
            state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
            return state.noteRun(isPressed: isPressed)
        }
        if needsWriter { core.queue.add(.pending(self), urgent: true) }
        for wake in wakes { wake() }
    }

    /// Like `stopStoring`, but on the writer's thread, which then takes the remaining work itself.
    func giveUpStoring() { endStoring(because: .writeFailed) { _ in false } }

    /// Stops writing. A fetch that waited for the writer continues at its readers' pace, because a reader may never call again.
    /// - Parameter note: called under the lock; returns whether the writer must be notified.
    func endStoring(because reason: UnstoredReason, _ note: (inout PendingState) -> Bool) {
        var wakes: [PendingState.Wake] = []
        let isPressed = core.pendingBudget.isExceeded
        let needsWriter = state.withLock { state in
            guard state.storage == .storing else { return false }
            state.abandon(because: reason)
            state.trim(window: window, isPressed: isPressed)
            state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
            return note(&state)
        }
        if needsWriter { core.queue.add(.pending(self), urgent: true) }
        for wake in wakes { wake() }
    }

    /// Notes that the file was replaced: no part of this body is on disk now.
    func fileIsGone() {
        state.withLock { state in
            state.committed = 0
            state.isFileGone = true
        }
        stopStoring()
    }

    /// Ends a pending response that no file can store: keeps it in memory if possible.
    func endUnstored(_ work: PendingWork) {
        if case .keepInMemory(let chunks, let trailers) = work { keepInMemory(chunks, trailers: trailers) }
        didEnd(.notStored)
        core.pendingResponses.remove(self)
    }

    func keepInMemory(_ chunks: [BodyChunk], trailers: Fields) {
        let response = response(body: .bytes(chunks.joinedBytes), trailers: trailers)
        _ = core.keepInMemory(response, keyHash, since: since)
        core.pendingResponses.remove(self)
        didEnd(.stored(response))
    }

    /// - Parameter isCounted: whether the reason for not storing the response is already counted, or a part of the response is stored.
    func didEnd(_ outcome: PendingOutcome, isCounted: Bool = false) {
        let (waiting, reason) = state.withLock { state -> ([@Sendable (PendingOutcome) -> Void], UnstoredReason?) in
            let reason = state.reasonOfEnd(outcome)
            if case .stored = outcome { state.storage = .stored }
            let isFirst = state.outcome == nil
            if isFirst { state.outcome = outcome }
            let waiting = state.waitingForOutcome
            state.waitingForOutcome = []
            return isFirst ? (waiting, isCounted ? nil : reason) : ([], nil)
        }
        if let reason { core.unstored.note(reason) }
        for body in waiting { body(outcome) }
    }

    /// Called regularly: continues a fetch that was paused because other bodies used all memory, and stops storing a body that has
    /// waited for the writer too long.
    func lookAfter(now: Int64) {
        var wakes: [PendingState.Wake] = []
        let isPressed = core.pendingBudget.isExceeded
        let isStalled = state.withLock { state in
            guard state.isPaused, state.phase == .appending else { return false }
            state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
            return state.isPaused && state.storage == .storing && !state.awaitsReaders(window: window)
                && state.committed < state.length && now - state.lastProgress > core.configuration.limits.stallMilliseconds
        }
        for wake in wakes { wake() }
        if isStalled { stopStoring(because: .bodyStalled) }
    }

    // MARK: Under the lock

    private func mayKeepInMemory(_ state: PendingState) -> Bool {
        state.mayKeepInMemory && plan.part == nil && state.isWhole && state.length <= UInt64(core.configuration.memoryBodyLimit)
    }

    private func takeLast(_ state: inout PendingState) -> PendingWork {
        let left = state.firstChunk + state.chunks.count - state.takenChunks
        if left > Chunk.run { return .run(state.takeRun(count: Chunk.run)) }
        let whole = state.isWhole ? state.chunks : nil
        let run = state.takeRun(count: left)
        state.hasGivenLast = true
        if state.phase == .finished, plan.part == nil {
            return .complete(run, length: state.length, whole: whole, trailers: state.trailers)
        }
        // A part or an interrupted body is kept only if it can be joined with the rest. A body longer than declared is not kept: the
        // origin may have mixed up two bodies.
        let isWorthKeeping = plan.hasStrongValidator && plan.wholeLength != nil && state.length > 0 && !state.isTooLong
        return isWorthKeeping ? .keepPartial(run, length: state.length) : .discard
    }
}
