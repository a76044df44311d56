import Synchronization

/// Counts for metrics and tests, at the time of the call.
package struct StoreStatistics: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
    package var memoryEntries = 0
    package var memoryBytes = 0
    /// The size of the in-memory index of responses in bytes, not included in `memoryBytes`.
    package var indexBytes = 0
    /// The length of the write-ahead log in bytes.
    package var logBytes = 0
    package var queuedOperations = 0
    package var queuedBytes = 0
    package var stored = 0
    package var evicted = 0
    package var memoryEvicted = 0
    /// Responses rejected before anything was written: the sum of the counts in `unstored` for the reasons whose `isBusy` is `true`.
    package var refusedBusy = 0
    /// The number of operations in failed transactions.
    package var notStored = 0
    /// Responses that should have been stored but were not, by reason; only reasons that occurred.
    package var unstored: [UnstoredReason: Int] = [:]
    package var damagedEntries = 0
    package var damagedFiles = 0
    package var pendingResponses = 0
    package var partials = 0
    /// Whether the set of stored keys is complete, so that misses need no disk read.
    package var knowsKeys = false
}

/// The counters behind the statistics. Any thread may write them.
final class StoreCounters: Sendable {
    let entries = Atomic<Int>(0)
    let bytes = Atomic<Int>(0)
    let stored = Atomic<Int>(0)
    let evicted = Atomic<Int>(0)
    let memoryEvicted = Atomic<Int>(0)
    let notStored = Atomic<Int>(0)
    let damagedEntries = Atomic<Int>(0)
    let damagedFiles = Atomic<Int>(0)
    let pendingResponses = Atomic<Int>(0)
    let partials = Atomic<Int>(0)
    let knowsKeys = Atomic<Bool>(false)
}
