import EventLoop
import HTTPCaching
import HTTPMessage

/// A response whose body is coming: appended to by one fetch, written by the store, read by any number of clients on any loop.
///
/// Ends with exactly one call of `finish` or `abort`.
package final class Filling: Sendable {
    package let plan: FillingPlan
    package let row: StoredRowID
    let keyHash: KeyHash
    let core: StoreCore
    private let state: Guarded<FillingState>

    init(_ plan: FillingPlan, row: StoredRowID, keyHash: KeyHash, core: StoreCore, isStoring: Bool) {
        self.plan = plan
        self.row = row
        self.keyHash = keyHash
        self.core = core
        var state = FillingState()
        if !isStoring { state.storage = .abandoned }
        state.lastProgress = Clock.monotonicMilliseconds()
        self.state = Guarded(state)
    }

    /// Two runs at least: one being written while the next one comes.
    private var window: Int { max(core.configuration.limits.window, 2 * Chunk.run * Chunk.length) }

    // MARK: The one who fetches

    /// Takes in the next bytes of the body. Copies them.
    /// - Returns: Whether to go on; after `pause` the bytes are in all the same.
    package func append(_ bytes: Span<UInt8>) -> FlowControl {
        var wakes: [FillingState.Wake] = []
        let isPressed = core.fillingBudget.isExceeded
        let (flow, needsWriter) = state.withLock { state in
            guard state.phase == .appending, !bytes.isEmpty else { return (FlowControl.proceed, false) }
            copy(bytes, into: &state)
            if state.length > core.bodyLimit { abandon(&state) }
            if let limit = plan.keptLength, state.length > limit {
                state.mayKeepInMemory = false
                abandon(&state)
            }
            state.trim(window: window, isPressed: isPressed)
            let length = state.length
            state.takeReaderWakes(where: { $0.position < length }, into: &wakes)
            let needsWriter = noteRun(&state, isPressed: isPressed)
            if state.mayProceed(window: window, isPressed: isPressed) { return (.proceed, needsWriter) }
            if !state.isPaused {
                state.isPaused = true
                state.lastProgress = Clock.monotonicMilliseconds()
            }
            return (.pause, needsWriter)
        }
        if needsWriter { core.queue.add(.filling(self), urgent: true) }
        for wake in wakes { wake() }
        return flow
    }

    /// Answers once when the fetch may go on after `pause`: at once where it may already.
    package func whenReady(_ reply: Reply<FlowControl>) { whenReady { reply.send(.proceed) } }

    func whenReady(_ wake: @escaping FillingState.Wake) {
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
        var wakes: [FillingState.Wake] = []
        let body = state.withLock { state -> [UInt8]? in
            guard state.phase == .appending, state.storage == .storing, state.takenChunks == 0, state.chunks.count <= 1,
                state.length <= UInt64(Filling.smallLength), !state.isTooLong, plan.length ?? state.length == state.length
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
        let result = core.put(response(body: .bytes(body), trailers: trailers))
        core.fillings.remove(self)
        for wake in wakes { wake() }
        if case .accepted(let response) = result { didEnd(.stored(response)) } else { didEnd(.notStored) }
        return true
    }

    private static let smallLength = 64 << 10

    /// The response as it is stored, with its body and trailers.
    func response(body: StoredBody, trailers: Fields) -> StoredResponse {
        let plan = plan.response
        return StoredResponse(
            key: plan.key, nominatedFields: plan.nominatedFields, facts: plan.facts, head: plan.head,
            requestTime: plan.requestTime, body: body, trailers: trailers, row: row)
    }

    /// The body broke off. What came is kept as a partial response where the rest can be asked for by a strong validator.
    package func abort() { end { $0.phase = .aborted } }

    /// Goes on without the store: readers are served to the end, and nothing is kept.
    package func stopStoring() {
        let needsWriter = state.withLock { state in
            guard state.storage == .storing else { return false }
            abandon(&state)
            return note(&state)
        }
        if needsWriter { core.queue.add(.filling(self), urgent: true) }
    }

    /// Its key was invalidated while it came: it is not kept in memory either.
    func invalidate() {
        state.withLock { $0.mayKeepInMemory = false }
        stopStoring()
    }

    /// Answers when the response can be found in the store, or certainly never will be.
    package func whenStored(_ reply: Reply<FillingOutcome>) { whenStored { reply.send($0) } }

    func whenStored(_ body: @escaping @Sendable (FillingOutcome) -> Void) {
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

    /// More has come than is to be kept.
    package var isTooLongToKeep: Bool {
        guard let limit = plan.keptLength else { return false }
        return length > limit
    }

    package var isStoring: Bool { state.withLock { $0.storage != .abandoned } }

    // MARK: Those who read

    /// A new reader, from the body's start.
    /// - Returns: `nil` where the start is neither in memory nor on the disk any more, or the body broke off: fetch it yourself.
    package func attach() -> FillingReader? {
        let id = state.withLock { state -> Int? in
            if state.phase == .aborted { return nil }
            if state.storage == .abandoned, state.memoryStart > state.committed { return nil }
            let id = state.nextReader
            state.nextReader += 1
            state.readers.append(FillingState.Reader(id: id, position: 0))
            return id
        }
        return id.map { FillingReader(self, id: $0) }
    }

    /// How many read it now.
    package var readerCount: Int { state.withLock { $0.readers.count } }

    func read(at position: UInt64, reader: Int) -> FillingRead {
        var wakes: [FillingState.Wake] = []
        let isPressed = core.fillingBudget.isExceeded
        let read = state.withLock { state -> FillingRead in
            if let index = state.readers.firstIndex(where: { $0.id == reader }) { state.readers[index].position = position }
            if state.isPaused || state.storage == .abandoned { state.trim(window: window, isPressed: isPressed) }
            state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
            return Filling.read(at: position, of: state, row: row)
        }
        for wake in wakes { wake() }
        return read
    }

    private static func read(at position: UInt64, of state: FillingState, row: StoredRowID) -> FillingRead {
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

    func wait(at position: UInt64, reader: Int, _ wake: @escaping FillingState.Wake) {
        let isDue = state.withLock { state in
            if position < state.length || state.phase != .appending { return true }
            guard let index = state.readers.firstIndex(where: { $0.id == reader }) else { return true }
            state.readers[index].wake = wake
            return false
        }
        if isDue { wake() }
    }

    func detach(reader: Int) {
        var wakes: [FillingState.Wake] = []
        let isPressed = core.fillingBudget.isExceeded
        let needsWriter = state.withLock { state in
            state.readers.removeAll { $0.id == reader }
            if state.isPaused || state.storage == .abandoned { state.trim(window: window, isPressed: isPressed) }
            state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
            // What was kept on the disk for lagging readers may go now.
            let mayDiscard = state.storage == .abandoned && state.phase != .appending && state.readers.isEmpty
            return mayDiscard && !state.hasGivenLast && note(&state)
        }
        if needsWriter { core.queue.add(.filling(self), urgent: false) }
        for wake in wakes { wake() }
    }

    // MARK: The writer

    /// The next thing for the writer to do, or `nil`.
    func takeWork() -> FillingWork? {
        let isPressed = core.fillingBudget.isExceeded
        return state.withLock { state in
            state.isQueued = false
            switch (state.storage, state.phase) {
            case (.stored, _): return nil
            case (.abandoned, .appending): return nil
            case (.abandoned, .finished) where mayKeepInMemory(state):
                state.mayKeepInMemory = false
                return .keepInMemory(state.chunks, trailers: state.trailers)
            case (.abandoned, _):
                guard !state.hasGivenLast, state.readers.isEmpty || !state.hasRow else { return nil }
                state.hasGivenLast = true
                return .discard(hasRow: state.hasRow)
            case (.storing, .appending):
                let count = state.untakenChunks
                guard count >= Chunk.run || (isPressed && count > 0) else { return nil }
                return .run(takeRun(&state, count: min(count, Chunk.run)))
            case (.storing, .finished), (.storing, .aborted):
                return state.hasGivenLast ? nil : takeLast(&state)
            }
        }
    }

    /// A run has been committed.
    func didCommit(_ run: FillingRun) {
        var wakes: [FillingState.Wake] = []
        let isPressed = core.fillingBudget.isExceeded
        let needsWriter = state.withLock { state in
            state.hasRow = true
            state.committed = run.end
            state.lastProgress = Clock.monotonicMilliseconds()
            state.trim(window: window, isPressed: isPressed)
            state.takeAppender(window: window, isPressed: isPressed, into: &wakes)
            return noteRun(&state, isPressed: isPressed)
        }
        if needsWriter { core.queue.add(.filling(self), urgent: true) }
        for wake in wakes { wake() }
    }

    /// As `stopStoring`, on the writer's thread, which then takes the work that is left itself.
    func giveUpStoring() { state.withLock { abandon(&$0) } }

    /// The file was replaced: nothing of this body stands on the disk any more.
    func fileIsGone() {
        state.withLock { state in
            state.committed = 0
            state.hasRow = false
        }
        stopStoring()
    }

    /// Does for a filling what can be done without a file.
    func endUnstored(_ work: FillingWork) {
        if case .keepInMemory(let chunks, let trailers) = work { keepInMemory(chunks, trailers: trailers) }
        didEnd(.notStored)
        core.fillings.remove(self)
    }

    func keepInMemory(_ chunks: [BodyChunk], trailers: Fields) {
        let response = response(body: .bytes(chunks.joinedBytes), trailers: trailers)
        core.memory.promote(response, keyHash)
        didEnd(.stored(response))
    }

    func didEnd(_ outcome: FillingOutcome) {
        let waiting = state.withLock { state in
            if case .stored = outcome { state.storage = .stored }
            let isFirst = state.outcome == nil
            if isFirst { state.outcome = outcome }
            let waiting = state.waitingForOutcome
            state.waitingForOutcome = []
            return isFirst ? waiting : []
        }
        for body in waiting { body(outcome) }
    }

    /// Ends the storing of a filling that wants to go on and may not for too long, because of the writer.
    func abandonIfStalled(now: Int64) {
        let isStalled = state.withLock { state in
            state.isPaused && state.storage == .storing && state.phase == .appending && state.bytesInMemory >= window / 2
                && state.committed < state.length && now - state.lastProgress > core.configuration.limits.stallMilliseconds
                && (state.fastest.map { state.length - $0 < UInt64(window) } ?? true)
        }
        if isStalled { stopStoring() }
    }

    // MARK: Under the lock

    private func copy(_ bytes: Span<UInt8>, into state: inout FillingState) {
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
                let chunk = BodyChunk(capacity: chunkCapacity(number), budget: core.fillingBudget)
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

    private func mayKeepInMemory(_ state: FillingState) -> Bool {
        state.mayKeepInMemory && state.isWhole && state.length <= UInt64(core.configuration.memoryBodyLimit)
    }

    private func abandon(_ state: inout FillingState) {
        guard state.storage == .storing else { return }
        state.storage = .abandoned
        // Work that the writer had taken and could not do comes back in another form.
        state.hasGivenLast = false
    }

    private func note(_ state: inout FillingState) -> Bool {
        if state.isQueued { return false }
        state.isQueued = true
        return true
    }

    private func noteRun(_ state: inout FillingState, isPressed: Bool) -> Bool {
        let count = state.untakenChunks
        guard state.storage == .storing, count >= Chunk.run || (isPressed && count > 0) || state.phase != .appending else {
            return false
        }
        return note(&state)
    }

    private func end(_ change: (inout FillingState) -> Void) {
        var wakes: [FillingState.Wake] = []
        state.withLock { state in
            guard state.phase == .appending else { return }
            change(&state)
            state.takeReaderWakes(where: { _ in true }, into: &wakes)
            state.takeAppender(window: window, isPressed: false, into: &wakes)
            state.isQueued = true
        }
        core.queue.add(.filling(self), urgent: false)
        for wake in wakes { wake() }
    }

    private func takeRun(_ state: inout FillingState, count: Int) -> FillingRun {
        let first = state.takenChunks
        let chunks = Array(state.chunks[first - state.firstChunk..<first - state.firstChunk + count])
        state.takenChunks += count
        let end = UInt64(first) * UInt64(Chunk.length) + UInt64(chunks.reduce(0) { $0 + $1.count })
        return FillingRun(firstChunk: first, chunks: chunks, end: end, isFirst: first == 0)
    }

    private func takeLast(_ state: inout FillingState) -> FillingWork {
        let left = state.firstChunk + state.chunks.count - state.takenChunks
        if left > Chunk.run { return .run(takeRun(&state, count: Chunk.run)) }
        let whole = state.isWhole ? state.chunks : nil
        let run = takeRun(&state, count: left)
        state.hasGivenLast = true
        if state.phase == .finished { return .complete(run, length: state.length, whole: whole, trailers: state.trailers) }
        // An origin that sends more than it announced may have mixed up two bodies.
        let isWorthKeeping = plan.hasStrongValidator && state.length > 0 && !state.isTooLong
        return isWorthKeeping ? .keepPartial(run, length: state.length) : .discard(hasRow: state.hasRow || run.firstChunk > 0)
    }
}

/// Chunks that are written in one transaction.
struct FillingRun: Sendable {
    var firstChunk: Int
    var chunks: [BodyChunk]
    /// Where the body ends with this run.
    var end: UInt64
    var isFirst: Bool
}

/// What the writer has to do for a filling.
enum FillingWork: Sendable {
    case run(FillingRun)
    /// The last run; `whole` are all chunks where memory still has them.
    case complete(FillingRun, length: UInt64, whole: [BodyChunk]?, trailers: Fields)
    case keepPartial(FillingRun, length: UInt64)
    /// Not written any more, but small enough for memory.
    case keepInMemory([BodyChunk], trailers: Fields)
    case discard(hasRow: Bool)
}
