/// The state protected by one of the memory tier's locks.
struct MemoryShard: Sendable {
    var table = MemoryTable()
    /// The keys of rows that may be on disk, including rows waiting to be written: one copy per row.
    var keys = KeyTable()
    /// For a backing store: keys whose responses in the file may be out of date.
    private(set) var hidden = KeyTable()
    /// Counts every change, so that a lookup on disk can detect a change that happened meanwhile.
    var changes: UInt64 = 0
    /// The number of changes waiting to be written, by key hash. Several keys may share a counter.
    private var waiting: [UInt16] = []

    /// The number of invalidations, by key hash. Several keys may share a counter.
    private var invalidations: [UInt32] = []

    private static let waitingCount = 1024
    private static let invalidationCount = 256

    /// - Returns: `false` if there is no space for another key.
    mutating func hide(_ key: UInt64, limit: Int) -> Bool {
        if hidden.contains(key) { return true }
        guard hidden.count < limit else { return false }
        hidden.insert(key)
        return true
    }

    mutating func addWaiting(_ hash: UInt64) {
        if waiting.isEmpty { waiting = Array(repeating: 0, count: MemoryShard.waitingCount) }
        let index = MemoryShard.waitingIndex(hash)
        // The counter stops at its maximum instead of wrapping: lookups are then slower, but stay correct.
        if waiting[index] != .max { waiting[index] += 1 }
    }

    mutating func removeWaiting(_ hash: UInt64) {
        let index = MemoryShard.waitingIndex(hash)
        if waiting[index] != .max { waiting[index] -= 1 }
    }

    func isWaiting(_ hash: UInt64) -> Bool { !waiting.isEmpty && waiting[MemoryShard.waitingIndex(hash)] != 0 }

    mutating func countInvalidation(_ hash: UInt64) {
        if invalidations.isEmpty { invalidations = Array(repeating: 0, count: MemoryShard.invalidationCount) }
        invalidations[MemoryShard.invalidationIndex(hash)] &+= 1
    }

    func invalidations(_ hash: UInt64) -> UInt32 {
        invalidations.isEmpty ? 0 : invalidations[MemoryShard.invalidationIndex(hash)]
    }

    private static func invalidationIndex(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash >> 40) & (invalidationCount - 1)
    }

    private static func waitingIndex(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 40) & (waitingCount - 1) }
}
