import HTTPCaching

/// What the writer is asked to do, in the order in which memory saw it.
enum WriterOperation: Sendable {
    case store(StoredResponse, KeyHash)
    case freshen(StoredResponse, KeyHash)
    case remove(StoredResponse, KeyHash)
    /// Memory alone keeps this one, which has no content here: what it takes the place of goes.
    case displace(by: StoredResponse, KeyHash)
    case invalidate(key: [UInt8], KeyHash)
    case pending(PendingResponse)
    case purge(PurgeWork)
    /// Rows that were used.
    case accessed([StoredRowID], at: Int64)
    /// A row or one of its chunks is not what was stored.
    case dropDamaged(StoredRowID, RowDamage)
    /// A statement has found the file damaged.
    case fileIsDamaged(generation: Int, reason: String)
    /// Lets the file grow no further than this, as a full disk would. For tests.
    case limitPages(Int)
    /// A look-up that has to see everything before it.
    case lookUp(LookUpJob)

    /// What each costs the writer beside its bytes, in bytes that could be written instead.
    static let fixedWork = 2560

    /// What it costs the writer.
    var work: Int {
        switch self {
        case .pending(let pending): pending.unwrittenBytes + WriterOperation.fixedWork
        default: byteCount + WriterOperation.fixedWork
        }
    }

    /// What it counts for in the queue.
    var byteCount: Int {
        switch self {
        case .store(let response, _): Int(response.body.length) + response.preparedHead.count + 512
        default: 256
        }
    }
}

/// What a reader has found of a row that it could not give out.
enum RowDamage: Sendable {
    /// The row itself, or a body that stands with it, is not what was stored.
    case row
    /// Nothing good stands in the chunks of this body.
    case body(Int64)
    /// No extent of the body held this place.
    case hole(at: UInt64)
}
