/// What stands behind one of the memory tier's locks.
struct MemoryShard: Sendable {
    var table = MemoryTable()
    /// One copy for each row that may be on the disk, waiting to be written included.
    var keys = KeyTable()
    /// Of a backing store: the keys of which what stands there may be out of date.
    private(set) var hidden = KeyTable()
    /// Counts every change, so that a look-up on the disk can tell whether one came between.
    var changes: UInt64 = 0
    /// How many changes to keys with this hash (or one that falls together with it) wait to be written.
    private var waiting: [UInt16] = []

    /// How often keys were invalidated, counted in the place that the key's hash gives.
    private var invalidations: [UInt32] = []

    private static let waitingCount = 1024
    private static let invalidationCount = 256

    /// - Returns: `false` where there is no room for one more.
    mutating func hide(_ key: UInt64, limit: Int) -> Bool {
        if hidden.contains(key) { return true }
        guard hidden.count < limit else { return false }
        hidden.insert(key)
        return true
    }

    mutating func addWaiting(_ hash: UInt64) {
        if waiting.isEmpty { waiting = Array(repeating: 0, count: MemoryShard.waitingCount) }
        let index = MemoryShard.waitingIndex(hash)
        // Stuck at the top rather than wrapped: look-ups then take the long way, and stay right.
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
