import HTTPMessage

/// Chunks to write in one transaction.
struct PendingRun: Sendable {
    var firstChunk: Int
    var chunks: [BodyChunk]
    /// The length of the body including this run.
    var end: UInt64
    var isFirst: Bool
}

/// The writer's work for a pending response.
enum PendingWork: Sendable {
    case run(PendingRun)
    /// The last run; `whole` contains all chunks if memory still has them.
    case complete(PendingRun, length: UInt64, whole: [BodyChunk]?, trailers: Fields)
    case keepPartial(PendingRun, length: UInt64)
    /// The body is no longer written to disk, but is short enough for memory.
    case keepInMemory([BodyChunk], trailers: Fields)
    case discard
}
