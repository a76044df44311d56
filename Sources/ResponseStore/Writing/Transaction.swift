import HTTPCaching

/// What has to be told to others when the writer's transaction has been committed, or has failed.
struct Transaction {
    /// Changes queued by memory, deletions apart.
    var settled: [KeyHash] = []
    /// Keys that memory noted for responses in the queue.
    var unwritten: [KeyHash] = []
    /// Keys of rows that can be found with this commit, which memory has not noted yet.
    var expected: [KeyHash] = []
    /// Live rows that this transaction deletes.
    var gone: [KeyHash] = []
    /// Rows that are to be forgotten by memory too.
    var dropped: [(row: StoredRowID, hash: KeyHash)] = []
    /// Rows whose bodies are too long for memory, once they are written.
    var long: [(row: StoredRowID, hash: KeyHash)] = []
    var runs: [(PendingResponse, PendingRun)] = []
    var ended: [(PendingResponse, StoredResponse?, isPart: Bool)] = []
    /// Pending responses whose writing is at stake.
    var pendingResponses: [PendingResponse] = []
    var lookUps: [LookUpJob] = []
    /// Deletions that must not be lost with a failed transaction.
    var mustHappen: [WriterOperation] = []
    var dropping: [DroppedBody] = []
    /// Purges that are in effect with this commit.
    var purges: [(PurgeScan, isDone: Bool)] = []
    /// What has become of responses that are stored in part.
    var partials: [PartialChange] = []
    var storedCount = 0
    var partialCount = 0
    /// Responses that a newer one keeps out.
    var supersededCount = 0
    /// Bytes of bodies written.
    var byteCount = 0
    var operationCount = 0
    /// What it cost, as the queue counts it.
    var work: Int { byteCount + operationCount * WriterOperation.fixedWork }
}

/// A body whose row is `dropped`, or whose extent is no longer needed, and whose chunks are deleted in slices.
struct DroppedBody {
    /// 0 for an extent that no response has any more.
    var row: StoredRowID
    var body: Int64
    var next = 0
    var count: Int
    /// An extent is deleted with its chunks. Its response was deleted, or has another extent in its place.
    var isExtent = false

    /// Whether it, or the response of which it is an extent, is being delivered.
    func isHeld(in holds: BodyHolds) -> Bool { holds.contains(body) || (isExtent && holds.contains(-row)) }
}
