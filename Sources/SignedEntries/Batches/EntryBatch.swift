/// Collects entries until they are signed together: 256 of them, or those of 50 ms. Time is an argument.
package struct EntryBatch: Sendable {
    private var entries: [PreparedEntry] = []
    /// When the batch must be signed, on the caller's monotonic clock in milliseconds; `nil` while it is empty.
    package private(set) var dueTime: Int64?

    package init() {}

    package var count: Int { entries.count }

    /// - Parameter now: the caller's monotonic clock in milliseconds.
    package mutating func append(_ entry: PreparedEntry, at now: Int64) {
        precondition(entries.count < EntryLimits.batch, "a batch is taken when it is full")
        entries.append(entry)
        if dueTime == nil { dueTime = now &+ EntryLimits.batchDelay }
    }

    package func isDue(at now: Int64) -> Bool {
        guard let dueTime else { return false }
        return entries.count == EntryLimits.batch || now >= dueTime
    }

    /// Empties the batch.
    package mutating func take() -> [PreparedEntry] {
        defer { self = EntryBatch() }
        return entries
    }
}
