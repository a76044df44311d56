import EventLoop

/// Why a response that was to be stored is not in the store.
package enum UnstoredReason: Sendable, CaseIterable {
    /// The writer's queue is full.
    case queueFull
    /// At the pace of its latest transactions, the writer would need too long for what waits.
    case writerBehind
    /// No transaction has ended for too long.
    case writerStalled
    /// The write-ahead log, and what the queue will add to it, would be longer than its limit.
    case logFull
    case diskFull
    /// The bodies that are being received take all memory that there is for them.
    case bodiesFull
    /// Only memory may keep it, and memory has no room.
    case memoryFull
    /// The writer took nothing of a body that waited for it, for too long.
    case bodyStalled
    /// The body turned out longer than may be stored.
    case bodyTooLong
    /// The body broke off, and the rest cannot be requested.
    case bodyIncomplete
    /// It was purged or invalidated after its request had been sent.
    case invalidated
    /// A newer response is stored in its place, or the same bytes are.
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

    /// Whether the store refused it before anything was written: `StoreStatistics.refusedBusy`.
    var isBusy: Bool {
        switch self {
        case .queueFull, .writerBehind, .writerStalled, .logFull, .diskFull, .bodiesFull: true
        default: false
        }
    }
}

/// How many responses were not stored, by the reason. Counted by any thread.
final class UnstoredCounts: Sendable {
    private let counts = Guarded<[UnstoredReason: Int]>([:])

    func note(_ reason: UnstoredReason, count: Int = 1) {
        if count > 0 { counts.withLock { $0[reason, default: 0] += count } }
    }

    /// Those that are not 0.
    var all: [UnstoredReason: Int] { counts.withLock { $0 } }
}
