import HTTPCaching
import HTTPMessage

/// The state of a pending response, protected by its lock.
///
///     phase:    appending → finished | aborted
///     storage:  storing → stored | abandoned
///
/// `storing` writes runs of chunks as they fill. Memory keeps a window of them for readers; slower readers read from disk. `abandoned`
/// (the disk is full or too slow, the key was invalidated, the body is too long) writes nothing more. What was written stays for
/// readers until the end. Since the rest is in memory only, the slowest reader then sets the pace.
struct PendingState: Sendable {
    enum Phase { case appending, finished, aborted }
    enum Storage { case storing, stored, abandoned }

    typealias Wake = @Sendable () -> Void

    struct Reader: Sendable {
        var id: Int
        var position: UInt64
        var wake: Wake?
    }

    var phase = Phase.appending
    var storage = Storage.storing
    var chunks: [BodyChunk] = []
    /// The number of the first chunk in memory.
    var firstChunk = 0
    var bytesInMemory = 0
    var length: UInt64 = 0
    /// The number of bytes on disk, from the body's start.
    var committed: UInt64 = 0
    /// The number of chunks that the writer has taken.
    var takenChunks = 0
    /// Whether the file to which the body was written has been replaced.
    var isFileGone = false
    /// Whether the writer has taken the last piece of work.
    var hasGivenLast = false
    /// Whether the writer was notified and has not yet reacted.
    var isQueued = false
    var readers: [Reader] = []
    var nextReader = 1
    var isPaused = false
    var lastProgress: Int64 = 0
    var appender: Wake?
    var trailers = Fields()
    var outcome: PendingOutcome?
    var waitingForOutcome: [@Sendable (PendingOutcome) -> Void] = []
    /// Why the response is not stored, if known.
    private(set) var unstored: UnstoredReason?
    /// Whether the body, if complete, may be kept in memory even if the disk could not take it.
    var mayKeepInMemory = true
    /// How far the fetch may be ahead of its fastest reader, in bytes, if less than the window.
    var lead = Int.max
    /// Whether another fetch transfers the rest from some position on.
    private(set) var isOverlapped = false
    /// Whether more bytes arrived than were declared.
    var isTooLong = false

    /// The value of `lead` for parts, in bytes.
    static let partLead = 256 << 10

    /// Whether something was written, possibly in a transaction that is not committed yet.
    var mayHaveRow: Bool { takenChunks > 0 && !isFileGone }

    var memoryStart: UInt64 { UInt64(firstChunk) * UInt64(Chunk.length) }
    var fastest: UInt64? { readers.map(\.position).max() }
    var slowest: UInt64? { readers.map(\.position).min() }

    /// Whether the whole body is in memory.
    var isWhole: Bool { firstChunk == 0 }

    /// Drops chunks that are not needed in memory, down to the window; or drops all such chunks if the pending responses together use
    /// too much memory.
    mutating func trim(window: Int, isPressed: Bool) {
        var dropped = 0
        while dropped < chunks.count, mayDrop(chunks[dropped], number: firstChunk + dropped) {
            // If the fetch is paused, more chunks are dropped than the next piece needs, so that the fetch does not pause again at once.
            let isBeyondWindow = bytesInMemory >= (isPaused ? window - window / 8 : window)
            guard isBeyondWindow || isPressed else { break }
            bytesInMemory -= chunks[dropped].capacity
            dropped += 1
        }
        if dropped == 0 { return }
        chunks.removeFirst(dropped)
        firstChunk += dropped
    }

    private func mayDrop(_ chunk: BodyChunk, number: Int) -> Bool {
        guard chunk.count == Chunk.length else { return false }
        let end = UInt64(number + 1) * UInt64(Chunk.length)
        if end <= committed { return true }
        return storage == .abandoned && end <= slowest ?? .max
    }

    /// Whether to continue reading from the origin server.
    func mayProceed(window: Int, isPressed: Bool) -> Bool {
        if bytesInMemory >= window { return false }
        if let fastest, length > fastest, length - fastest >= UInt64(min(window, lead)) { return false }
        return !isPressed || bytesInMemory < 2 * Chunk.length
    }

    /// Like `mayProceed`, but with a margin, so that a paused fetch does not resume for one piece at a time.
    func mayResume(window: Int, isPressed: Bool) -> Bool {
        mayProceed(window: window, isPressed: isPressed) && bytesInMemory < window - window / 8 && !awaitsReaders(window: window)
    }

    /// Whether a paused fetch must wait until one of its readers has come closer.
    func awaitsReaders(window: Int) -> Bool { fastest.map { length > $0 + UInt64(min(window, lead) / 2) } ?? false }

    mutating func noteOverlap() {
        isOverlapped = true
        lead = PendingState.partLead
    }

    /// The number of full chunks that the writer has not taken.
    var untakenChunks: Int {
        let whole = firstChunk + chunks.count - (chunks.last.map { $0.count == Chunk.length ? 0 : 1 } ?? 0)
        return whole - takenChunks
    }

    /// The number of bytes that the writer has still to take.
    var unwrittenBytes: Int { storage == .storing ? max(0, Int(length) - takenChunks * Chunk.length) : 0 }

    mutating func takeReaderWakes(where isDue: (Reader) -> Bool, into wakes: inout [Wake]) {
        for index in readers.indices where readers[index].wake != nil && isDue(readers[index]) {
            if let wake = readers[index].wake { wakes.append(wake) }
            readers[index].wake = nil
        }
    }

    mutating func takeAppender(window: Int, isPressed: Bool, into wakes: inout [Wake]) {
        guard isPaused, phase != .appending || mayResume(window: window, isPressed: isPressed) else { return }
        isPaused = false
        if let wake = appender { wakes.append(wake) }
        appender = nil
    }

    // MARK: The writer's part

    /// Only the first reason is kept: the first reason is the cause of later ones.
    mutating func noteUnstored(_ reason: UnstoredReason) { if unstored == nil { unstored = reason } }

    mutating func abandon(because reason: UnstoredReason) {
        noteUnstored(reason)
        guard storage == .storing else { return }
        storage = .abandoned
        // The writer may have taken work that it could not do. Such work is offered to it again in another form.
        hasGivenLast = false
    }

    /// Why the pending response ended without being stored; `nil` if it is stored.
    func reasonOfEnd(_ outcome: PendingOutcome) -> UnstoredReason? {
        if case .stored = outcome { return nil }
        if let unstored { return unstored }
        if phase == .aborted { return .bodyIncomplete }
        // Either the writer found that a newer response is stored, or only memory could keep the response, and its body is too long
        // for that.
        return storage == .storing ? .superseded : .bodyTooLong
    }

    /// - Returns: whether the writer must be notified.
    mutating func note() -> Bool {
        if isQueued { return false }
        isQueued = true
        return true
    }

    /// Like `note`, but only if there is a run for the writer.
    /// - Returns: whether the writer must be notified.
    mutating func noteRun(isPressed: Bool) -> Bool {
        let count = untakenChunks
        guard storage == .storing, count >= Chunk.run || (isPressed && count > 0) || phase != .appending else { return false }
        return note()
    }

    mutating func takeRun(count: Int) -> PendingRun {
        let first = takenChunks
        let chunks = Array(chunks[first - firstChunk..<first - firstChunk + count])
        takenChunks += count
        let end = UInt64(first) * UInt64(Chunk.length) + UInt64(chunks.reduce(0) { $0 + $1.count })
        return PendingRun(firstChunk: first, chunks: chunks, end: end, isFirst: first == 0)
    }
}
