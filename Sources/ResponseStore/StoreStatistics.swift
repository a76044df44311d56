import Synchronization

/// Counts for metrics and tests, as of the moment of asking.
package struct StoreStatistics: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
    package var memoryEntries = 0
    package var memoryBytes = 0
    /// What the index of responses occupies in memory, beside `memoryBytes`.
    package var indexBytes = 0
    /// The length of the write-ahead log.
    package var logBytes = 0
    package var queuedOperations = 0
    package var queuedBytes = 0
    package var stored = 0
    package var evicted = 0
    package var memoryEvicted = 0
    /// Refused before anything was written: the sum of some of `unstored`.
    package var refusedBusy = 0
    /// Operations of transactions that failed.
    package var notStored = 0
    /// Responses that were to be stored and were not, by the reason; those reasons that occurred.
    package var unstored: [UnstoredReason: Int] = [:]
    package var damagedEntries = 0
    package var damagedFiles = 0
    package var pendingResponses = 0
    package var partials = 0
    /// Whether the set of stored keys is whole, so that misses need no read.
    package var knowsKeys = false
}

/// The counters behind the statistics, written by any thread.
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
