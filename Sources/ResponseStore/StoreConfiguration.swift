/// Where a store is and how large it may become.
package struct StoreConfiguration: Sendable {
    /// Eviction begins above `high` and ends at `low`, in bytes.
    package struct Marks: Sendable, Equatable {
        package var high: Int
        package var low: Int

        package init(high: Int, low: Int) {
            self.high = high
            self.low = min(low, high)
        }
    }

    /// Who writes the file.
    package enum Access: Sendable {
        /// This process alone, which takes the store's lock.
        case owned
        /// Another process, perhaps: here the file is only read, behind a memory tier that alone keeps what is new (docs/decisions/0015).
        /// It has to be there, and of this version.
        case readOnlyBackingStore
    }

    /// A file's path, or `:memory:`, which keeps nothing on the disk.
    package var path: String
    package var access = Access.owned
    package var memory = Marks(high: 100 << 20, low: 60 << 20)
    package var disk = Marks(high: 2 << 30, low: 3 << 29)
    /// The longest body that stands in memory.
    package var memoryBodyLimit = 4 << 20
    /// Threads that read the file: two, or four when the store is larger than memory.
    package var readerCount = 2
    package var limits = StoreLimits()
    /// `.kept` for a store that is worked on by hand: no full disk and no damage costs it what it holds.
    package var role = StoreFile.Role.cache
    /// Hears what the log should say. Called on the store's threads.
    package var report: @Sendable (StoreNotice) -> Void = { _ in }

    package init(path: String) { self.path = path }

    package var isInMemory: Bool { path == ":memory:" }

    /// Whether a file is written: then it is this process's.
    var writesFile: Bool { !isInMemory && access == .owned }
    /// Whether one is read that is another's.
    var readsBackingStore: Bool { !isInMemory && access == .readOnlyBackingStore }
}

/// The store's bounds that are not settings of their own.
package struct StoreLimits: Sendable {
    /// A body up to this length stands in its response's row.
    static let inlineBodyLength = 16 << 10
    /// What all chains that responses came by may take in the file, and those of responses in memory there: some 8,000 of 4 KiB. What comes
    /// by another one is kept without.
    static let chainOctets = 32 << 20

    /// What may wait for the writer before `put` and `beginPending` answer that the store is busy.
    package var queuedBytes = 64 << 20
    package var queuedOperations = 65_536
    /// For how long the writer may have work, by its pace, and how long one transaction may take before nothing more is accepted:
    /// both together leave room in the second after which a response survives a kill.
    package var queuedMilliseconds = 400
    package var stalledMilliseconds = 500
    /// Look-ups and reads that may wait for the readers.
    package var queuedReads = 16_384
    /// What one fetch may be ahead of its fastest reader and of the writer.
    package var window = 4 << 20
    /// What all pending responses together may keep in memory.
    package var pendingBytes = 128 << 20
    /// A pending response that wants to go on and may not for so long is no longer stored.
    package var stallMilliseconds = 10_000
    /// Kept beside the store for the day when the disk is full.
    package var reservedSpaceBytes = 8 << 20
    /// The log's length at which it is written back; at which bodies on their way and evictions wait for that; and which accepted responses
    /// may make it reach (`StoreWriter+Log`).
    package var checkpointBytes = 16 << 20
    package var logHoldBytes = 64 << 20
    package var logLimitBytes = 128 << 20
    /// How often a transaction that finds the log above its limit tries to have it emptied, with a wait of 100 ms at least for other readers
    /// of the file, before it fails.
    package var logAttempts = 10
    /// Of a backing store: of about so many keys what stands there may be out of date. With more nothing of the file is used any longer.
    package var hiddenKeys = 1 << 20
    /// How long the writer gathers operations for one transaction.
    package var gatherMilliseconds = 50

    package init() {}
}

/// What the store has to tell people.
package enum StoreNotice: Sendable, Equatable {
    /// The file was damaged; it has another name now, and the store is empty.
    case movedAside(to: String, reason: String)
    /// The file was of an older version; the store is empty.
    case emptied(version: Int32)
    /// The disk is full: responses are served and not stored. At most once a minute.
    case diskFull(String)
    /// Writing failed otherwise; the responses concerned were served and not stored. At most once a minute.
    case writeFailed(String)
    /// A response or a piece of a body was not what had been stored; it was deleted. At most once a minute.
    case damagedEntry(String)
    /// The totals were not the sum of the rows; they are now, having been counted anew. At most once a minute.
    case recounted(entries: Int64, bytes: Int64)
    /// A file that is read behind memory is not used any more.
    case fileLeft(reason: String)
}
