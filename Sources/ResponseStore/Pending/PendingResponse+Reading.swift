import HTTPCaching

/// Operations for readers of a pending body, on any loop.
extension PendingResponse {
    /// A new reader, from the body's start.
    /// - Returns: `nil` if the start is no longer in memory or on disk, or the body was interrupted. The caller must then
    ///   send a separate request.
    package func attach() -> PendingReader? {
        let id = state.withLock { state -> Int? in
            if state.phase == .aborted { return nil }
            if state.storage == .abandoned, state.memoryStart > state.committed { return nil }
            let id = state.nextReader
            state.nextReader += 1
            state.readers.append(PendingState.Reader(id: id, position: 0))
            return id
        }
        return id.map { PendingReader(self, id: $0) }
    }

    /// The number of current readers.
    package var readerCount: Int { state.withLock { $0.readers.count } }

    func read(at position: UInt64, reader: Int) -> PendingRead {
        var wakes: [PendingState.Wake] = []
        let isPressed = core.pendingBudget.isExceeded
        let (read, needsWriter) = state.withLock { state in
            if let index = state.readers.firstIndex(where: { $0.id == reader }) { state.readers[index].position = position }
            let needsWriter = readersMoved(&state, isPressed: isPressed, into: &wakes)
            return (PendingResponse.read(at: position, of: state, row: row), needsWriter)
        }
        if needsWriter { core.queue.add(.pending(self), urgent: true) }
        for wake in wakes { wake() }
        return read
    }

    private static func read(at position: UInt64, of state: PendingState, row: StoredRowID) -> PendingRead {
        if position >= state.length {
            switch state.phase {
            case .appending: return .wait
            case .finished: return position == state.length ? .end(trailers: state.trailers) : .failed
            case .aborted: return .failed
            }
        }
        if position < state.memoryStart {
            return position < state.committed ? .onDisk(BodyReference(id: row, length: state.committed)) : .failed
        }
        let offset = Int(position - state.memoryStart)
        let chunk = state.chunks[offset / Chunk.length]
        return .bytes(chunk, offset % Chunk.length..<chunk.count)
    }

    func wait(at position: UInt64, reader: Int, _ wake: @escaping PendingState.Wake) {
        let isDue = state.withLock { state in
            if position < state.length || state.phase != .appending { return true }
            guard let index = state.readers.firstIndex(where: { $0.id == reader }) else { return true }
            state.readers[index].wake = wake
            return false
        }
        if isDue { wake() }
    }

    /// Called under the lock when readers have advanced or left. A fetch that waited for its readers continues, or waits for the writer
    /// from now on.
    /// - Returns: whether the writer must be notified.
    private func readersMoved(_ state: inout PendingState, isPressed: Bool, into wakes: inout [PendingState.Wake]) -> Bool {
        if state.isPaused || state.storage == .abandoned { state.trim(window: window, isPressed: isPressed) }
        state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
        return state.isPaused && state.phase == .appending && state.noteRun(isPressed: isPressed)
    }

    func detach(reader: Int) {
        var wakes: [PendingState.Wake] = []
        let isPressed = core.pendingBudget.isExceeded
        let needsWriter = state.withLock { state in
            state.readers.removeAll { $0.id == reader }
            if readersMoved(&state, isPressed: isPressed, into: &wakes) { return true }
            // The data kept on disk for slow readers can be deleted now.
            let mayDiscard = state.storage == .abandoned && state.phase != .appending && state.readers.isEmpty
            return mayDiscard && !state.hasGivenLast && state.note()
        }
        if needsWriter { core.queue.add(.pending(self), urgent: false) }
        for wake in wakes { wake() }
    }
}
