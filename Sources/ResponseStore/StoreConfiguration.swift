/// The location and limits of a store.
package struct StoreConfiguration: Sendable {
    /// Limits in bytes: eviction begins above `high` and stops at `low`.
    package struct Marks: Sendable, Equatable {
        package var high: Int
        package var low: Int

        package init(high: Int, low: Int) {
            self.high = high
            self.low = min(low, high)
        }
    }

    /// Which process writes the file.
    package enum Access: Sendable {
        /// Only this process writes the file, and takes the store's lock.
        case owned
        /// Another process may write the file. This store only reads the file, and keeps new responses in memory only
        /// (docs/decisions/0015). The file must exist and be of this version.
        case readOnlyBackingStore
    }

    /// A file's path, or `:memory:`, which stores nothing on disk.
    package var path: String
    package var access = Access.owned
    package var memory = Marks(high: 100 << 20, low: 60 << 20)
    package var disk = Marks(high: 2 << 30, low: 3 << 29)
    /// The maximum length of a body in memory, in bytes.
    package var memoryBodyLimit = 4 << 20
    /// The number of threads that read the file: two, or four if the store is larger than memory.
    package var readerCount = 2
    package var limits = StoreLimits()
    /// The role of the file. In the role `.kept`, for manual work on a store, neither a full disk nor damage causes content to be deleted.
    package var role = StoreFile.Role.cache
    /// Gets notices for the log. Called on the store's threads.
    package var report: @Sendable (StoreNotice) -> Void = { _ in }

    package init(path: String) { self.path = path }

    package var isInMemory: Bool { path == ":memory:" }

    /// Whether this store writes a file, which then belongs to this process.
    var writesFile: Bool { !isInMemory && access == .owned }
    /// Whether this store reads a file of another process.
    var readsBackingStore: Bool { !isInMemory && access == .readOnlyBackingStore }
}

/// Limits of the store that have no settings.
package struct StoreLimits: Sendable {
    /// Bodies up to this length, in bytes, are stored in their response's row.
    static let inlineBodyLength = 16 << 10
    /// The maximum total size in bytes of the certificate chains in the file, and of the chains of responses in memory. It allows
    /// about 8,000 chains of 4 KiB in each. Further responses are stored without their chains.
    static let chainOctets = 32 << 20

    /// How much may be queued for the writer before `put` and `beginPending` report that the store is busy.
    package var queuedBytes = 64 << 20
    package var queuedOperations = 65_536
    /// The queue accepts nothing more if the queued work would take longer than `queuedMilliseconds` at the writer's current
    /// pace. The same applies if no transaction has completed for `stalledMilliseconds`. A stored response must survive a kill
    /// after one second, so both times together must be clearly less than a second.
    package var queuedMilliseconds = 400
    package var stalledMilliseconds = 500
    /// The maximum number of lookups and reads queued for the readers.
    package var queuedReads = 16_384
    /// The maximum number of bytes by which a fetch may be ahead of its fastest reader and of the writer.
    package var window = 4 << 20
    /// The maximum number of bytes that all pending responses together keep in memory.
    package var pendingBytes = 128 << 20
    /// A pending response that has been blocked by the writer for this long is no longer stored.
    package var stallMilliseconds = 10_000
    /// The size of the file that reserves space for the case of a full disk.
    package var reservedSpaceBytes = 8 << 20
    /// Limits of the write-ahead log's length (`StoreWriter+Log`). Above `checkpointBytes` the log is written back into the file. Above
    /// `logHoldBytes` bodies being stored and evictions wait for that. The queue accepts a response only while the log, with what the queue
    /// will add to it, stays below `logLimitBytes`.
    package var checkpointBytes = 16 << 20
    package var logHoldBytes = 64 << 20
    package var logLimitBytes = 128 << 20
    /// The number of times that a transaction tries to restart a log above its limit, before the transaction fails. Each attempt waits at
    /// least 100 ms for other readers of the file.
    package var logAttempts = 10
    /// For a backing store: the approximate number of keys that may be out of date in the file. Above it, the file is no longer used.
    package var hiddenKeys = 1 << 20
    /// How long the writer collects operations for one transaction.
    package var gatherMilliseconds = 50

    package init() {}
}

/// Events that the store reports to users.
package enum StoreNotice: Sendable, Equatable {
    /// The file was damaged; it was renamed, and the store is empty.
    case movedAside(to: String, reason: String)
    /// An older version wrote the file; the store is empty.
    case emptied(version: Int32)
    /// The disk is full: responses are served but not stored. Reported at most once a minute.
    case diskFull(String)
    /// Writing failed for another reason; the affected responses were served but not stored. Reported at most once a minute.
    case writeFailed(String)
    /// A response or a piece of a body was corrupt and was deleted. Reported at most once a minute.
    case damagedEntry(String)
    /// The totals were not the sum of the rows and were computed again. Reported at most once a minute.
    case recounted(entries: Int64, bytes: Int64)
    /// A read-only file behind memory is no longer used.
    case fileLeft(reason: String)
}
