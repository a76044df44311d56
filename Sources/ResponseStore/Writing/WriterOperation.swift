import HTTPCaching

/// The writer's operations, in the order in which memory saw them.
enum WriterOperation: Sendable {
    case store(StoredResponse, KeyHash)
    case freshen(StoredResponse, KeyHash)
    case remove(StoredResponse, KeyHash)
    /// Memory alone keeps this response, which has no content here: deletes the response that it replaces.
    case displace(by: StoredResponse, KeyHash)
    case invalidate(key: [UInt8], KeyHash)
    case pending(PendingResponse)
    case purge(PurgeWork)
    /// Rows that were used.
    case accessed([StoredRowID], at: Int64)
    /// A row or one of its chunks is corrupt.
    case dropDamaged(StoredRowID, RowDamage)
    /// A statement found the file damaged.
    case fileIsDamaged(generation: Int, reason: String)
    /// Limits the size of the file, like a full disk. For tests.
    case limitPages(Int)
    /// A lookup that must see all operations before it.
    case lookUp(LookUpJob)

    /// The cost of each operation besides its bytes, as a number of bytes that could be written instead.
    static let fixedWork = 2560

    /// The cost for the writer.
    var work: Int {
        switch self {
        case .pending(let pending): pending.unwrittenBytes + WriterOperation.fixedWork
        default: byteCount + WriterOperation.fixedWork
        }
    }

    /// The size in the queue.
    var byteCount: Int {
        switch self {
        case .store(let response, _): Int(response.body.length) + response.preparedHead.count + 512
        default: 256
        }
    }
}

/// The damage that a reader found in a row.
enum RowDamage: Sendable {
    /// The row itself, or its inline body, is corrupt.
    case row
    /// A chunk of this body is missing or corrupt.
    case body(Int64)
    /// No extent of the body has this offset.
    case hole(at: UInt64)
}
