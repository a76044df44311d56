import HTTPCaching
import HTTPMessage

/// A pending response's state, behind its lock.
///
///     phase:    appending → finished | aborted
///     storage:  storing → stored | abandoned
///
/// `storing` writes runs of chunks as they fill; memory keeps a window of them for readers, who otherwise read from the disk.
/// `abandoned` (the disk is full or too slow, the key was invalidated, the body is too long) writes nothing more: what was written
/// stays for readers until the end, and the slowest of them sets the pace, since memory is then all there is.
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
    /// What stands on the disk, from the body's start.
    var committed: UInt64 = 0
    /// Chunks that the writer has taken.
    var takenChunks = 0
    /// The file that it was written to was replaced.
    var isFileGone = false
    /// The writer has taken the last piece of work.
    var hasGivenLast = false
    /// The writer has been told, and has not come yet.
    var isQueued = false
    var readers: [Reader] = []
    var nextReader = 1
    var isPaused = false
    var lastProgress: Int64 = 0
    var appender: Wake?
    var trailers = Fields()
    var outcome: PendingOutcome?
    var waitingForOutcome: [@Sendable (PendingOutcome) -> Void] = []
    /// Why it is not stored, where that is known.
    private(set) var unstored: UnstoredReason?
    /// A body that came whole may stand in memory even where the disk could not take it.
    var mayKeepInMemory = true
    /// How far the fetch may be ahead of its fastest reader, where that is less than the window.
    var lead = Int.max
    /// Another fetch brings the rest from some place on.
    private(set) var isOverlapped = false
    /// More has come than was announced.
    var isTooLong = false

    /// `lead` for parts.
    static let partLead = 256 << 10

    /// Something was written, be it in a transaction that is not committed yet.
    var mayHaveRow: Bool { takenChunks > 0 && !isFileGone }

    var memoryStart: UInt64 { UInt64(firstChunk) * UInt64(Chunk.length) }
    var fastest: UInt64? { readers.map(\.position).max() }
    var slowest: UInt64? { readers.map(\.position).min() }

    /// The whole body is in memory.
    var isWhole: Bool { firstChunk == 0 }

    /// Drops what nobody needs in memory, down to the window, or altogether where all pending responses together have too much.
    mutating func trim(window: Int, isPressed: Bool) {
        var dropped = 0
        while dropped < chunks.count, mayDrop(chunks[dropped], number: firstChunk + dropped) {
            // A fetch that waits for room gets more of it than the next piece needs.
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

    /// Whether to read on from the origin server.
    func mayProceed(window: Int, isPressed: Bool) -> Bool {
        if bytesInMemory >= window { return false }
        if let fastest, length > fastest, length - fastest >= UInt64(min(window, lead)) { return false }
        return !isPressed || bytesInMemory < 2 * Chunk.length
    }

    /// The same with some distance, so that a paused fetch does not go on for one piece at a time.
    func mayResume(window: Int, isPressed: Bool) -> Bool {
        mayProceed(window: window, isPressed: isPressed) && bytesInMemory < window - window / 8 && !awaitsReaders(window: window)
    }

    /// A paused fetch goes on no sooner than one of its readers has come nearer.
    func awaitsReaders(window: Int) -> Bool { fastest.map { length > $0 + UInt64(min(window, lead) / 2) } ?? false }

    mutating func noteOverlap() {
        isOverlapped = true
        lead = PendingState.partLead
    }

    /// Whole chunks that the writer has not taken.
    var untakenChunks: Int {
        let whole = firstChunk + chunks.count - (chunks.last.map { $0.count == Chunk.length ? 0 : 1 } ?? 0)
        return whole - takenChunks
    }

    /// What the writer has yet to take.
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

    /// The first reason is the cause of those that follow.
    mutating func noteUnstored(_ reason: UnstoredReason) { if unstored == nil { unstored = reason } }

    mutating func abandon(because reason: UnstoredReason) {
        noteUnstored(reason)
        guard storage == .storing else { return }
        storage = .abandoned
        // Work that the writer had taken and could not do comes back in another form.
        hasGivenLast = false
    }

    /// Why it has ended without being stored; `nil` where it is stored.
    func reasonOfEnd(_ outcome: PendingOutcome) -> UnstoredReason? {
        if case .stored = outcome { return nil }
        if let unstored { return unstored }
        if phase == .aborted { return .bodyIncomplete }
        // The writer has found a newer one in its place; or memory alone was to keep it, which takes no longer body.
        return storage == .storing ? .superseded : .bodyTooLong
    }

    /// - Returns: Whether the writer has to be told.
    mutating func note() -> Bool {
        if isQueued { return false }
        isQueued = true
        return true
    }

    /// The same, where there is a run for it.
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
