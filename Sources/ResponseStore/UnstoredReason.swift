import EventLoop

/// Why a response that should have been stored is not in the store.
package enum UnstoredReason: Sendable, CaseIterable {
    /// The writer's queue is full.
    case queueFull
    /// At the pace of its latest transactions, the writer would need too long for the queued work.
    case writerBehind
    /// No transaction has completed for too long.
    case writerStalled
    /// The write-ahead log, with what the queue will add to it, would exceed its limit.
    case logFull
    case diskFull
    /// The bodies being received use all memory reserved for them.
    case bodiesFull
    /// The response may be kept in memory only, and memory is full.
    case memoryFull
    /// The body waited too long for the writer.
    case bodyStalled
    /// The body turned out longer than the limit.
    case bodyTooLong
    /// The body was interrupted, and the rest cannot be requested.
    case bodyIncomplete
    /// The response was purged or invalidated after its request was sent.
    case invalidated
    /// A newer response, or one with the same bytes, is stored instead.
    case superseded
    /// A transaction failed, or no file is open.
    case writeFailed

    package var word: StaticString {
        switch self {
        case .queueFull: "queue_full"
        case .writerBehind: "writer_behind"
        case .writerStalled: "writer_stalled"
        case .logFull: "log_full"
        case .diskFull: "disk_full"
        case .bodiesFull: "bodies_full"
        case .memoryFull: "memory_full"
        case .bodyStalled: "body_stalled"
        case .bodyTooLong: "body_too_long"
        case .bodyIncomplete: "body_incomplete"
        case .invalidated: "invalidated"
        case .superseded: "superseded"
        case .writeFailed: "write_failed"
        }
    }

    /// Whether the store rejected the response before anything was written: `StoreStatistics.refusedBusy`.
    var isBusy: Bool {
        switch self {
        case .queueFull, .writerBehind, .writerStalled, .logFull, .diskFull, .bodiesFull: true
        default: false
        }
    }
}

/// The number of responses that were not stored, by reason. Any thread may count.
final class UnstoredCounts: Sendable {
    private let counts = Guarded<[UnstoredReason: Int]>([:])

    func note(_ reason: UnstoredReason, count: Int = 1) {
        if count > 0 { counts.withLock { $0[reason, default: 0] += count } }
    }

    /// The counts that are not 0.
    var all: [UnstoredReason: Int] { counts.withLock { $0 } }
}
