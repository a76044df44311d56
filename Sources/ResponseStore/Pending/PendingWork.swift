import HTTPMessage

/// Chunks that are written in one transaction.
struct PendingRun: Sendable {
    var firstChunk: Int
    var chunks: [BodyChunk]
    /// Where the body ends with this run.
    var end: UInt64
    var isFirst: Bool
}

/// What the writer has to do for a pending response.
enum PendingWork: Sendable {
    case run(PendingRun)
    /// The last run; `whole` are all chunks where memory still has them.
    case complete(PendingRun, length: UInt64, whole: [BodyChunk]?, trailers: Fields)
    case keepPartial(PendingRun, length: UInt64)
    /// Not written any more, but small enough for memory.
    case keepInMemory([BodyChunk], trailers: Fields)
    case discard
}
