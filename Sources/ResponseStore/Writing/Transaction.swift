import HTTPCaching

/// What must be reported when the writer's transaction has been committed or has failed.
struct Transaction {
    /// Changes queued by memory, except deletions.
    var settled: [KeyHash] = []
    /// Keys that memory noted for responses in the queue.
    var unwritten: [KeyHash] = []
    /// Keys of rows that become visible with this commit and that memory has not noted yet.
    var expected: [KeyHash] = []
    /// Live rows that this transaction deletes.
    var gone: [KeyHash] = []
    /// Rows to remove from memory too.
    var dropped: [(row: StoredRowID, hash: KeyHash)] = []
    /// Rows whose bodies are too long for memory, once they are written.
    var long: [(row: StoredRowID, hash: KeyHash)] = []
    var runs: [(PendingResponse, PendingRun)] = []
    var ended: [(PendingResponse, StoredResponse?, isPart: Bool)] = []
    /// Pending responses that are written in this transaction.
    var pendingResponses: [PendingResponse] = []
    var lookUps: [LookUpJob] = []
    /// Deletions that must not be lost with a failed transaction.
    var mustHappen: [WriterOperation] = []
    var dropping: [DroppedBody] = []
    /// Purges that take effect with this commit.
    var purges: [(PurgeScan, isDone: Bool)] = []
    /// Changes to partial responses.
    var partials: [PartialChange] = []
    var storedCount = 0
    var partialCount = 0
    /// Responses that are not stored because a newer one is stored instead.
    var supersededCount = 0
    /// The number of body bytes written.
    var byteCount = 0
    var operationCount = 0
    /// The cost of the transaction, in the queue's unit.
    var work: Int { byteCount + operationCount * WriterOperation.fixedWork }
}

/// A body whose row is `dropped`, or an extent that is no longer needed. Its chunks are deleted in slices.
struct DroppedBody {
    /// The row of the response; 0 for an extent that no longer belongs to a response.
    var row: StoredRowID
    var body: Int64
    var next = 0
    var count: Int
    /// Whether this is an extent, which is deleted with its chunks. Its response was deleted, or has another extent for the range.
    var isExtent = false

    /// Whether the body, or the response that the extent belongs to, is being delivered.
    func isHeld(in holds: BodyHolds) -> Bool { holds.contains(body) || (isExtent && holds.contains(-row)) }
}
